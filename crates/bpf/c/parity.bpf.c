/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/* The arithmetic under the kernel's own compiler, for tests: round trips or events in, results out. */
#include "connection.h"
#include "event.h"

#define FH_BATCH 1024

struct fh_exchange {
	struct fh_pace pace;
	struct fh_params params;
	struct fh_path path;
	fh_u64 mss;
	fh_u64 count;
	fh_u64 round_trips[FH_BATCH];
	fh_u64 intervals[FH_BATCH];
	fh_u64 rates[FH_BATCH];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, fh_u32);
	__type(value, struct fh_exchange);
} fh_exchanges SEC(".maps");

static long one(fh_u32 n, void *at)
{
	struct fh_exchange *exchange = *(struct fh_exchange **)at;
	fh_u64 interval;

	n %= FH_BATCH;
	interval = fh_sample(&exchange->pace, &exchange->params, &exchange->path, exchange->mss, exchange->round_trips[n]);
	exchange->intervals[n] = interval;
	exchange->rates[n] = fh_rate(interval, exchange->mss);
	return 0;
}

SEC("syscall")
int fh_parity(void *ctx)
{
	fh_u32 key = 0;
	struct fh_exchange *exchange = bpf_map_lookup_elem(&fh_exchanges, &key);

	if (!exchange)
		return 1;
	bpf_loop(exchange->count < FH_BATCH ? exchange->count : FH_BATCH, one, &exchange, 0);
	return 0;
}

struct fh_ap2_exchange {
	struct fh_ap2 ap2;
	fh_u64 count;
	struct fh_event events[FH_BATCH];
	struct fh_ap2 after[FH_BATCH];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, fh_u32);
	__type(value, struct fh_ap2_exchange);
} fh_ap2_exchanges SEC(".maps");

static long one_event(fh_u32 n, void *at)
{
	struct fh_ap2_exchange *exchange = *(struct fh_ap2_exchange **)at;

	n %= FH_BATCH;
	fh_ap2_event(&exchange->ap2, &exchange->events[n]);
	exchange->after[n] = exchange->ap2;
	return 0;
}

SEC("syscall")
int fh_parity_ap2(void *ctx)
{
	fh_u32 key = 0;
	struct fh_ap2_exchange *exchange = bpf_map_lookup_elem(&fh_ap2_exchanges, &key);

	if (!exchange)
		return 1;
	bpf_loop(exchange->count < FH_BATCH ? exchange->count : FH_BATCH, one_event, &exchange, 0);
	return 0;
}
