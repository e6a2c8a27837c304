/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/*
 * AP2 in integers, for the kernel's BPF and for the host alike: the same arithmetic as crates/cc/src/ap2, which names sources and
 * reasons; a test compares the two sample by sample. Windows are in segments with 16 binary digits of fraction, times in
 * microseconds where nothing else is said.
 */
#ifndef FOURHOP_AP2_H
#define FOURHOP_AP2_H

#include "fourhop_pace.h"

#define FH_ONE (1ULL << 16)
#define FH_MOST (FH_ONE << 20)
#define FH_FIRST_WINDOW 4
#define FH_TARGET_HOP 20000
#define FH_TARGET_MOST 50000
#define FH_RATE_OF_ONE 10000000
#define FH_OWN_MOST (6 * FH_ONE)
#define FH_OWN_SINGLE (FH_ONE * 9 / 10)
#define FH_BURST 30
#define FH_GAIN_BURSTS 200
#define FH_GAIN_SINGLE 120
#define FH_STARTUP_GROWTH 30
#define FH_MARK_LEAVES 80
#define FH_LOSS_SHARE 8
/* The path: nanoseconds, microseconds, bit/s, and what is assumed of a path of which nothing is known. */
#define FH_LEAST_OVER (10ULL * 1000000000)
#define FH_RATE_OVER 1000000
#define FH_SLOW 12000000
#define FH_LINK 65000000
#define FH_LINK_MOST (1ULL << 36)
#define FH_HOPS 4
/* The largest rate: 2^20 segments a second with 16 digits of fraction. */
#define FH_BANDWIDTH_MOST (1ULL << 36)

/* What an acknowledgement tells (crates/cc/src/rate.rs). */
struct fh_delivered {
	fh_u64 now;             /* ns */
	fh_u64 total;           /* segments delivered so far */
	fh_u64 prior;           /* the same as the newest of these segments left */
	fh_u64 rtt;             /* its round trip in ns; 0: not known */
	fh_u32 acked;           /* delivered by this acknowledgement */
	fh_u32 in_flight;       /* as that segment had left */
	fh_u32 has_data;        /* is anything delivered, so that `prior` counts? */
	fh_u32 cwnd_limited;    /* did the window limit what was in flight? */
};

struct fh_ap2 {
	fh_u64 link;            /* bit/s of the first link */
	fh_u64 newest;          /* round trip */
	fh_u64 smoothed;        /* its mean, weight 1/8 */
	fh_u64 rate;            /* segments a second, with 16 digits of fraction */
	fh_u64 lost;            /* since the round began */
	fh_u64 sum;             /* of the round's samples */
	fh_u64 samples;
	fh_u64 round_at;        /* ns */
	fh_u64 round_delivered;
	fh_u64 least[2];
	fh_u64 least_at;        /* ns */
	fh_u64 paired;          /* share of acknowledgements that are for two segments and more */
	fh_u64 window;
	fh_u64 goal;            /* where the window grows to, as segments arrive */
	fh_u64 interval;        /* what follows: ns between segments; 0: not paced yet */
	fh_u32 cwnd;            /* segments that may be in flight */
	fh_u32 burst;           /* segments that leave together */
	fh_u32 hops;
	fh_u32 slow_start;
};

static inline fh_u64 fh_min(fh_u64 a, fh_u64 b)
{
	return a < b ? a : b;
}

static inline fh_u64 fh_max(fh_u64 a, fh_u64 b)
{
	return a > b ? a : b;
}

static inline fh_u64 fh_since(fh_u64 now, fh_u64 then)
{
	return now > then ? now - then : 0;
}

static inline fh_u64 fh_micros(fh_u64 nanos)
{
	return fh_max(fh_min(nanos, FH_MAX_SAMPLE) / 1000, 1);
}

static inline fh_u32 fh_whole(fh_u64 fixed)
{
	return (fixed + FH_ONE / 2) / FH_ONE;
}

static inline fh_u64 fh_least(const struct fh_ap2 *ap2)
{
	return fh_min(ap2->least[0], ap2->least[1]);
}

static inline int fh_has_aggregates(const struct fh_ap2 *ap2)
{
	return ap2->link >= FH_SLOW;
}

static inline int fh_delays_acks(const struct fh_ap2 *ap2)
{
	return ap2->paired >= FH_ONE / 4;
}

static inline fh_u64 fh_own(const struct fh_ap2 *ap2)
{
	if (fh_has_aggregates(ap2))
		return fh_max(fh_min(ap2->link * FH_ONE / FH_RATE_OF_ONE, FH_OWN_MOST), FH_ONE);
	return fh_delays_acks(ap2) ? FH_OWN_SINGLE + FH_ONE : FH_OWN_SINGLE;
}

static inline fh_u64 fh_target(const struct fh_ap2 *ap2)
{
	return fh_has_aggregates(ap2) ? fh_min(FH_TARGET_HOP * (fh_u64)ap2->hops, FH_TARGET_MOST) : 0;
}

static inline void fh_shrink(struct fh_ap2 *ap2, fh_u64 window)
{
	ap2->window = fh_max(window, FH_ONE);
	ap2->goal = ap2->window;
}

static inline void fh_apply(struct fh_ap2 *ap2)
{
	fh_u32 burst = 1;

	ap2->cwnd = fh_max(fh_whole(ap2->window), 1);
	if (fh_has_aggregates(ap2))
		burst = fh_whole(ap2->window * FH_BURST / 100);
	else if (fh_delays_acks(ap2))
		burst = 2;
	ap2->burst = fh_max(fh_min(burst, ap2->cwnd), 1);
	if (ap2->smoothed)
		ap2->interval = fh_max(ap2->smoothed * 1000 * FH_ONE / fh_max(ap2->window, FH_ONE) * 100 /
				       (fh_has_aggregates(ap2) ? FH_GAIN_BURSTS : FH_GAIN_SINGLE), 1);
}

/* News of the path; zero: not known. */
FH_SMALL void fh_ap2_learn(struct fh_ap2 *ap2, fh_u64 link, fh_u32 hops)
{
	ap2->link = link ? fh_min(link, FH_LINK_MOST) : FH_LINK;
	ap2->hops = hops ? fh_min(hops, FH_MAX_HOPS) : FH_HOPS;
}

/* A connection begins with a window of `cwnd` segments; `srtt` in ns, 0: not known. */
FH_FUNCTION int fh_ap2_begin(struct fh_ap2 *ap2, fh_u64 now, fh_u64 srtt, fh_u32 cwnd)
{
	if (!ap2)
		return 0;
	fh_ap2_learn(ap2, 0, 0);
	ap2->slow_start = 1;
	ap2->paired = FH_ONE / 2;
	ap2->least[0] = FH_NONE;
	ap2->least[1] = FH_NONE;
	ap2->round_at = now;
	ap2->least_at = now;
	fh_shrink(ap2, fh_min(cwnd, FH_FIRST_WINDOW) * FH_ONE);
	if (srtt) {
		ap2->smoothed = fh_micros(srtt);
		ap2->least[1] = ap2->smoothed;
	}
	fh_apply(ap2);
	return 0;
}

static inline void fh_note_round_trip(struct fh_ap2 *ap2, fh_u64 now, fh_u64 rtt, fh_u64 segments)
{
	ap2->newest = rtt;
	if (ap2->samples < 1ULL << 37) {
		ap2->sum += rtt * segments;
		ap2->samples += segments;
	}
	ap2->smoothed = ap2->smoothed ? (7 * ap2->smoothed + rtt) / 8 : rtt;
	if (fh_since(now, ap2->least_at) > FH_LEAST_OVER) {
		ap2->least[0] = ap2->least[1];
		ap2->least[1] = FH_NONE;
		ap2->least_at = now;
	}
	ap2->least[1] = fh_min(ap2->least[1], rtt);
}

/* So many segments in so many ns. */
static inline fh_u64 fh_bandwidth(fh_u64 segments, fh_u64 nanos)
{
	return fh_min((fh_min(segments, 1 << 17) << 16) * 1000000000 / fh_max(nanos, 1), FH_BANDWIDTH_MOST);
}

/* The same, moved by `part` of `whole` towards another. */
static inline fh_u64 fh_towards(fh_u64 from, fh_u64 to, fh_u64 part, fh_u64 whole)
{
	return to > from ? from + (to - from) * part / whole : from - (from - to) * part / whole;
}

/* A round trip is over, of which the mean was `mean`. */
static inline void fh_end_round(struct fh_ap2 *ap2, fh_u64 mean, int lost)
{
	fh_u64 pipe = ap2->window * fh_min(fh_least(ap2), mean) / fh_max(mean, 1);
	fh_u64 next = pipe + fh_own(ap2) + ap2->rate * fh_target(ap2) / 1000000;

	if (ap2->slow_start && next * 100 >= ap2->window * (100 + FH_STARTUP_GROWTH) && !lost) {
		ap2->goal = fh_min(2 * ap2->window, FH_MOST);
		return;
	}
	ap2->slow_start = 0;
	if (lost)
		next = fh_min(next, ap2->window - ap2->window / FH_LOSS_SHARE);
	if (next < ap2->window)
		fh_shrink(ap2, next);
	else
		ap2->goal = fh_min(ap2->window + (next - ap2->window) / 2, FH_MOST);
}

/* What an acknowledgement tells of the path, and the round that it ends. */
static inline void fh_take(struct fh_ap2 *ap2, const struct fh_delivered *ack)
{
	fh_u64 took, delivered, mean, lost, rate, time;
	int measured;

	if (ack->acked)
		ap2->paired = (7 * ap2->paired + (ack->acked > 1 ? FH_ONE : 0)) / 8;
	if (ack->rtt)
		fh_note_round_trip(ap2, ack->now, fh_micros(ack->rtt), fh_max(fh_min(ack->acked, 1 << 10), 1));
	if (!ack->has_data || ack->prior < ap2->round_delivered)
		return;
	took = fh_since(ack->now, ap2->round_at);
	delivered = fh_since(ack->total, ap2->round_delivered);
	mean = ap2->sum / fh_max(ap2->samples, 1);
	lost = ap2->lost;
	measured = ap2->samples && took;
	ap2->round_at = ack->now;
	ap2->round_delivered = ack->total;
	ap2->sum = 0;
	ap2->samples = 0;
	ap2->lost = 0;
	if (!measured)
		return;
	rate = fh_bandwidth(delivered, took);
	time = fh_micros(took);
	if (!ap2->rate)
		ap2->rate = rate;
	else if (ap2->slow_start)
		ap2->rate = fh_towards(ap2->rate, rate, 1, 2);
	else
		ap2->rate = fh_towards(ap2->rate, rate, time, time + FH_RATE_OVER);
	fh_end_round(ap2, mean, lost * FH_LOSS_SHARE > delivered);
}

/* An acknowledgement. */
FH_FUNCTION int fh_ap2_ack(struct fh_ap2 *ap2, const struct fh_delivered *ack)
{
	if (!ap2 || !ack)
		return 0;
	fh_take(ap2, ack);
	if (ack->cwnd_limited || ack->in_flight * FH_ONE >= ap2->window / 4 * 3)
		ap2->window = fh_max(fh_min(ap2->goal, ap2->window + ack->acked * FH_ONE), ap2->window);
	fh_apply(ap2);
	return 0;
}

/* Segments are marked as lost. */
FH_SMALL void fh_ap2_lost(struct fh_ap2 *ap2, fh_u32 segments)
{
	ap2->lost += segments;
}

/* The peer says that a queue has marked a segment (ECN). */
FH_FUNCTION int fh_ap2_mark(struct fh_ap2 *ap2)
{
	if (!ap2)
		return 0;
	ap2->slow_start = 0;
	fh_shrink(ap2, ap2->window * FH_MARK_LEAVES / 100);
	fh_apply(ap2);
	return 0;
}

/* The retransmission timer has run out. */
FH_FUNCTION int fh_ap2_timeout(struct fh_ap2 *ap2, fh_u32 in_flight)
{
	fh_u32 next = in_flight + 1 ? in_flight + 1 : in_flight;

	if (!ap2)
		return 0;
	ap2->slow_start = 0;
	fh_shrink(ap2, fh_max(ap2->window / 2, 2 * FH_ONE));
	ap2->cwnd = fh_min(next, fh_whole(ap2->window));
	ap2->burst = 1;
	return 0;
}

#endif
