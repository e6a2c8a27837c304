/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/*
 * Congestion controls that pace segments: AP2 (ap2.h), TCP-AP and RBP on the kernel's NewReno, and TCP-AP on its CUBIC.
 *
 * Except in AP2, the kernel controls window, recovery and retransmissions, and each acknowledgement sets
 * SO_MAX_PACING_RATE, which limits the kernel's pacing whatever its own rate for the window is. Two more programs add
 * what other layers know to a connection's state: the hop count from the time to live of received packets, and the wired
 * part of the round trip from a gateway's option.
 */
#include "connection.h"

#define SOL_SOCKET 1
#define SO_MAX_PACING_RATE 47
#define AF_INET 2
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define PROTOCOL_TCP 6
/* TCP_CONG_NON_RESTRICTED: anybody may use it. Without it, a refused sysctl in a namespace pins the map for good. */
#define FH_FLAGS 1

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, struct fh_key);
	__type(value, struct fh_destination);
} fh_destinations SEC(".maps");

KFUNC fh_u32 tcp_reno_ssthresh(struct sock *sk);
KFUNC void tcp_reno_cong_avoid(struct sock *sk, fh_u32 ack, fh_u32 acked);
KFUNC fh_u32 tcp_reno_undo_cwnd(struct sock *sk);
KFUNC void cubictcp_init(struct sock *sk) __attribute__((weak));
KFUNC fh_u32 cubictcp_recalc_ssthresh(struct sock *sk) __attribute__((weak));
KFUNC void cubictcp_cong_avoid(struct sock *sk, fh_u32 ack, fh_u32 acked) __attribute__((weak));
KFUNC void cubictcp_state(struct sock *sk, fh_u8 state) __attribute__((weak));
KFUNC void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __attribute__((weak));
KFUNC void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __attribute__((weak));

static struct fh_destination *destination(fh_u32 a, fh_u32 b, fh_u32 c, fh_u32 d)
{
	struct fh_key key = { .bits = 128, .address = { a, b, c, d } };

	return bpf_map_lookup_elem(&fh_destinations, &key);
}

static inline fh_u32 mapped(void)
{
	return __builtin_bswap32(0xffff);
}

static inline struct fh_connection *connection(struct sock *sk)
{
	return bpf_sk_storage_get(&fh_connections, sk, 0, 0);
}

/* Paces at the interval's rate or at what the application asked for, whichever is lower. */
static void pace(struct sock *sk, struct fh_connection *conn)
{
	fh_u64 present = sk->sk_max_pacing_rate, rate;
	fh_u32 value;

	/* Another program has set the rate since. */
	if (present != conn->set_rate)
		conn->application_rate = present;
	if (!conn->interval)
		return;
	rate = fh_rate(conn->interval, ((struct tcp_sock *)sk)->mss_cache);
	if (rate > conn->application_rate)
		rate = conn->application_rate;
	if (rate == present)
		return;
	value = rate;
	if (!bpf_setsockopt(sk, SOL_SOCKET, SO_MAX_PACING_RATE, &value, sizeof(value)))
		conn->set_rate = rate;
}

static __attribute__((noinline)) struct fh_connection *begin(struct sock *sk, fh_u32 algorithm)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct fh_destination *to;
	struct fh_connection *conn;

	if (sk->__sk_common.skc_family == AF_INET)
		to = destination(0, 0, mapped(), sk->__sk_common.skc_daddr);
	else
		to = destination(sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[0],
				 sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[1],
				 sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[2],
				 sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[3]);
	if (!to)
		return 0;
	conn = bpf_sk_storage_get(&fh_connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!conn)
		return 0;
	conn->to = *to;
	conn->algorithm = algorithm;
	conn->burst = 1;
	conn->set_rate = sk->sk_max_pacing_rate;
	conn->application_rate = conn->set_rate;
	/* The kernel does not pace a connection's first ten segments, so fewer may leave at once. */
	if (!tcp->data_segs_out && to->initial_window && to->initial_window < tcp->snd_cwnd)
		tcp->snd_cwnd = to->initial_window;
	return conn;
}

static __attribute__((noinline)) void begin_adaptive(struct sock *sk, fh_u32 algorithm)
{
	struct fh_connection *conn = begin(sk, algorithm);

	if (conn && conn->to.params.first_interval) {
		conn->interval = conn->to.params.first_interval;
		pace(sk, conn);
	}
}

/* TCP-AP: each round trip gives a new interval. */
static __attribute__((noinline)) void take_sample(struct sock *sk, fh_s32 rtt_us)
{
	struct fh_connection *conn = connection(sk);
	fh_u64 interval;

	if (!conn)
		return;
	if (rtt_us > 0) {
		conn->samples++;
		interval = fh_sample(&conn->pace, &conn->to.params, &conn->to.path, ((struct tcp_sock *)sk)->mss_cache,
				     (fh_u64)(fh_u32)rtt_us * 1000);
		if (interval)
			conn->interval = interval;
	}
	pace(sk, conn);
}

/* RBP: the interval from the current round trip and window. */
static __attribute__((noinline)) void divide(struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct fh_connection *conn = connection(sk);

	if (!conn || !tcp->srtt_us)
		return;
	conn->samples++;
	/* The kernel stores eight times the round trip in us. */
	conn->pace.rtt = (fh_u64)tcp->srtt_us * 125;
	conn->interval = fh_rbp_interval(conn->pace.rtt, tcp->snd_cwnd, conn->to.params.pacing_v);
	pace(sk, conn);
}

SEC("struct_ops")
void fh_init_ap(fh_u64 *ctx)
{
	begin_adaptive((struct sock *)ctx[0], FH_TCP_AP);
}

SEC("struct_ops")
void fh_acked_ap(fh_u64 *ctx)
{
	take_sample((struct sock *)ctx[0], ((const struct ack_sample *)ctx[1])->rtt_us);
}

SEC("struct_ops")
void fh_grow(fh_u64 *ctx)
{
	tcp_reno_cong_avoid((struct sock *)ctx[0], ctx[1], ctx[2]);
}

SEC("struct_ops")
fh_u32 fh_ssthresh(fh_u64 *ctx)
{
	return tcp_reno_ssthresh((struct sock *)ctx[0]);
}

SEC("struct_ops")
fh_u32 fh_undo(fh_u64 *ctx)
{
	return tcp_reno_undo_cwnd((struct sock *)ctx[0]);
}

/* One segment at a time: more would leave back to back. */
SEC("struct_ops")
fh_u32 fh_segments(fh_u64 *ctx)
{
	return 1;
}

/* The connection ends or switches to another congestion control. */
SEC("struct_ops")
void fh_release(fh_u64 *ctx)
{
	bpf_sk_storage_delete(&fh_connections, (struct sock *)ctx[0]);
}

SEC("struct_ops")
void fh_init_rbp(fh_u64 *ctx)
{
	begin((struct sock *)ctx[0], FH_RBP);
}

SEC("struct_ops")
void fh_acked_rbp(fh_u64 *ctx)
{
	divide((struct sock *)ctx[0]);
}

SEC("struct_ops")
void fh_grow_rbp(fh_u64 *ctx)
{
	tcp_reno_cong_avoid((struct sock *)ctx[0], ctx[1], ctx[2]);
	divide((struct sock *)ctx[0]);
}

SEC("struct_ops")
void fh_init_cubic(fh_u64 *ctx)
{
	cubictcp_init((struct sock *)ctx[0]);
	begin_adaptive((struct sock *)ctx[0], FH_AP_CUBIC);
}

SEC("struct_ops")
void fh_acked_cubic(fh_u64 *ctx)
{
	cubictcp_acked((struct sock *)ctx[0], (const struct ack_sample *)ctx[1]);
	take_sample((struct sock *)ctx[0], ((const struct ack_sample *)ctx[1])->rtt_us);
}

SEC("struct_ops")
void fh_grow_cubic(fh_u64 *ctx)
{
	cubictcp_cong_avoid((struct sock *)ctx[0], ctx[1], ctx[2]);
}

SEC("struct_ops")
fh_u32 fh_ssthresh_cub(fh_u64 *ctx)
{
	return cubictcp_recalc_ssthresh((struct sock *)ctx[0]);
}

SEC("struct_ops")
void fh_state_cubic(fh_u64 *ctx)
{
	cubictcp_state((struct sock *)ctx[0], ctx[1]);
}

SEC("struct_ops")
void fh_event_cubic(fh_u64 *ctx)
{
	cubictcp_cwnd_event((struct sock *)ctx[0], ctx[1]);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops fh_tcp_ap = {
	.init = (void *)fh_init_ap,
	.release = (void *)fh_release,
	.ssthresh = (void *)fh_ssthresh,
	.cong_avoid = (void *)fh_grow,
	.pkts_acked = (void *)fh_acked_ap,
	.min_tso_segs = (void *)fh_segments,
	.undo_cwnd = (void *)fh_undo,
	.flags = FH_FLAGS,
	.name = "fh_tcp_ap",
};

SEC(".struct_ops.link")
struct tcp_congestion_ops fh_rbp = {
	.init = (void *)fh_init_rbp,
	.release = (void *)fh_release,
	.ssthresh = (void *)fh_ssthresh,
	.cong_avoid = (void *)fh_grow_rbp,
	.pkts_acked = (void *)fh_acked_rbp,
	.min_tso_segs = (void *)fh_segments,
	.undo_cwnd = (void *)fh_undo,
	.flags = FH_FLAGS,
	.name = "fh_rbp",
};

SEC(".struct_ops.link")
struct tcp_congestion_ops fh_ap_cubic = {
	.init = (void *)fh_init_cubic,
	.release = (void *)fh_release,
	.ssthresh = (void *)fh_ssthresh_cub,
	.cong_avoid = (void *)fh_grow_cubic,
	.set_state = (void *)fh_state_cubic,
	.cwnd_event = (void *)fh_event_cubic,
	.pkts_acked = (void *)fh_acked_cubic,
	.min_tso_segs = (void *)fh_segments,
	.undo_cwnd = (void *)fh_undo,
	.flags = FH_FLAGS,
	.name = "fh_ap_cubic",
};

#include "ap2.h"

/* Derives the hop count from the time to live of every packet to a socket of the cgroup, before TCP sees it. */
SEC("cgroup_skb/ingress")
int fh_ttl(struct __sk_buff *skb)
{
	struct fh_connection *conn;
	struct bpf_sock *sk = skb->sk;
	fh_u8 ttl, protocol;
	fh_u32 hops;

	if (!sk)
		return 1;
	sk = bpf_sk_fullsock(sk);
	if (!sk || sk->protocol != PROTOCOL_TCP)
		return 1;
	conn = bpf_sk_storage_get(&fh_connections, sk, 0, 0);
	if (!conn || !conn->to.hops_by_ttl)
		return 1;
	/* Time to live and hop limit: RFC 791 section 3.1, RFC 8200 section 3. */
	if (skb->protocol == __builtin_bswap16(ETHERTYPE_IPV4)) {
		if (bpf_skb_load_bytes(skb, 8, &ttl, 1) || bpf_skb_load_bytes(skb, 9, &protocol, 1))
			return 1;
		if (protocol != PROTOCOL_TCP)
			return 1;
	} else if (skb->protocol == __builtin_bswap16(ETHERTYPE_IPV6)) {
		if (bpf_skb_load_bytes(skb, 7, &ttl, 1))
			return 1;
	} else {
		return 1;
	}
	hops = fh_hops(ttl);
	conn->to.path.hops = hops > conn->to.wired_hops ? hops - conn->to.wired_hops : 1;
	return 1;
}

/* Reads the wired part of round trips from the options of connections to destinations behind a gateway. */
SEC("sockops")
int fh_options(struct bpf_sock_ops *ctx)
{
	fh_u8 option[FH_OPTION_LENGTH] = { FH_OPTION_KIND, 4, FH_OPTION_ID >> 8, FH_OPTION_ID & 0xff };
	struct fh_destination *to;
	struct fh_connection *conn;
	struct bpf_sock *sk;

	switch (ctx->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (ctx->family == AF_INET)
			to = destination(0, 0, mapped(), ctx->remote_ip4);
		else
			to = destination(ctx->remote_ip6[0], ctx->remote_ip6[1], ctx->remote_ip6[2], ctx->remote_ip6[3]);
		if (to && to->gateway)
			bpf_sock_ops_cb_flags_set(ctx,
						  ctx->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		sk = ctx->sk;
		if (!sk)
			break;
		conn = bpf_sk_storage_get(&fh_connections, sk, 0, 0);
		if (conn && bpf_load_hdr_opt(ctx, option, sizeof(option), 0) == FH_OPTION_LENGTH)
			conn->to.path.wired = (fh_u64)fh_wired_millis(option) * 1000000;
		break;
	}
	return 1;
}
