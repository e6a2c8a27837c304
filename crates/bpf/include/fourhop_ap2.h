/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/*
 * AP2 in integers, for BPF in the kernel and for the host: the same arithmetic as crates/cc/src/ap2, which gives sources
 * and reasons; a test compares the two sample by sample. Windows are in segments with 16 fractional bits, times in
 * microseconds unless noted otherwise.
 */
#ifndef FOURHOP_AP2_H
#define FOURHOP_AP2_H

#include "fourhop_pace.h"

#define FH_ONE (1ULL << 16)
#define FH_MOST (FH_ONE << 20)
#define FH_FIRST_WINDOW 10
#define FH_FIRST_SINGLE 4
#define FH_TARGET_HOP 10000
#define FH_TARGET_MOST 50000
#define FH_TARGET_GAPS 2
#define FH_RATE_OF_ONE 10000000
#define FH_OWN_MOST (4 * FH_ONE)
#define FH_OWN_MOST_WIRED (6 * FH_ONE)
#define FH_OWN_SINGLE (FH_ONE * 9 / 10)
#define FH_BURST 30
#define FH_GAIN_BURSTS 400
#define FH_GAIN_WIRED 200
#define FH_GAIN_SINGLE 120
#define FH_STARTUP_GROWTH 30
#define FH_MARK_LEAVES 80
#define FH_LOSS_SHARE 8
#define FH_MANY_LEAVE 87
#define FH_TIMEOUT_LEAVES 50
#define FH_LOSSY (2ULL * 1000000000)
#define FH_DRAIN 75
#define FH_DRAIN_BESIDE 4
#define FH_PATH_HOP 10000
#define FH_CARRIES 3
#define FH_SHARE_AIR 4
#define FH_SEGMENT_BITS 12000
#define FH_QUEUE_SINGLE 100000
#define FH_SHORT 40
#define FH_GROWTH_OVER 2000000
#define FH_GROWTH_BESIDE 32
#define FH_REGAIN 8
/* Drains: nanoseconds, shares and rounds. */
#define FH_OLD (10ULL * 1000000000)
#define FH_NEAR 4
#define FH_DRAIN_ROUNDS 2
#define FH_DRAIN_UNMEASURED 2
#define FH_PATIENCE 6
/* Others that fill the queue: rounds, nanoseconds, microseconds, per cent. */
#define FH_DOUBTS 8
#define FH_LASTS 1000000000ULL
#define FH_SENDERS 4
#define FH_SENDERS_WIRED 8
#define FH_QUEUE_MOST 60000
#define FH_QUEUE_MOST_WIRED 100000
#define FH_QUEUE_LOSSY 15000
#define FH_LOSSY_ROUNDS 100
#define FH_KEEPS 50
#define FH_LOSS_LEAVES 70
#define FH_CUT_LEAVES 80
#define FH_NEAR_OTHERS (20ULL * 1000000000)
/* The queue's room: marks, marks of a round, per cent, nanoseconds. */
#define FH_ROOM_OFTEN 16
#define FH_ROOM_LOSS 4
#define FH_ROOM_KEEPS 75
#define FH_ROOM_LASTS (10ULL * 1000000000)
/* Trials of a larger window: nanoseconds, shares, rounds, binary digits. */
#define FH_HOLDS (10ULL * 1000000000)
#define FH_CLOSE 8
#define FH_TRIAL_TIMES 2
#define FH_TRIAL_ROUNDS 3
#define FH_TRIAL_LASTS 500000000ULL
#define FH_TRIAL_DIGITS 12
/* The path: nanoseconds, microseconds, segments and nanoseconds of a train, bit/s, and defaults for a path of which
 * nothing is known. */
#define FH_MOST_OVER (10ULL * 1000000000)
#define FH_RATE_OVER 1000000
#define FH_TRAIN 6
#define FH_COMPRESSED 50000
#define FH_SLOWEST 6500000
#define FH_SINGLE_OFDM 9000000
#define FH_SINGLE_B 11000000
#define FH_LINK 65000000
#define FH_LINK_MOST (1ULL << 36)
#define FH_HOPS 4
/* Gaps between acknowledgements: microseconds. */
#define FH_GAP_MOST 50000
#define FH_GAPS_OVER 1000000
/* Receivers that delay acknowledgements: microseconds; acknowledgements. */
#define FH_LATE 30000
#define FH_NEEDED 1
#define FH_NEEDED_MOST 8
#define FH_KNOWN 4
#define FH_KNOWN_MOST 1024
#define FH_SOON 4
#define FH_UNHEARD 32
/* The largest rate: 2^20 segments per second with 16 fractional bits. */
#define FH_BANDWIDTH_MOST (1ULL << 36)

/* A rate sample (crates/cc/src/rate.rs). */
struct fh_delivered {
	fh_u64 now;             /* ns */
	fh_u64 total;           /* segments delivered so far */
	fh_u64 prior;           /* the same when the newest of these segments left */
	fh_u64 rtt;             /* that segment's round trip in ns; 0: not known */
	fh_u32 acked;           /* delivered by this acknowledgement */
	fh_u32 in_flight;       /* in flight once that segment had left */
	fh_u32 has_data;        /* whether anything was delivered, so that `prior` counts */
	fh_u32 cwnd_limited;    /* whether the window limited what was in flight */
	fh_u32 left;            /* still in flight */
	fh_u32 unused;
};

struct fh_ap2 {
	fh_u64 link;            /* bit/s of the first link */
	fh_u64 newest;          /* round trip */
	fh_u64 smoothed;        /* its mean, weight 1/8 */
	fh_u64 rate;            /* segments per second, with 16 fractional bits */
	fh_u64 lost;            /* since the round began */
	fh_u64 sum;             /* of the round's samples */
	fh_u64 samples;
	fh_u64 round_at;        /* ns */
	fh_u64 round_delivered;
	fh_u64 round_least;
	fh_u64 least;           /* the shortest round trip; FH_NONE before the first */
	fh_u64 seen;            /* ns, when a round trip was last near it */
	fh_u64 drained;         /* the shortest since a drain began */
	fh_u64 most[2];         /* the highest rates, of the last period and of this one */
	fh_u64 most_at;         /* ns */
	fh_u64 speed[2];        /* the highest rates of trains, like `most` */
	fh_u64 train_at;        /* ns, when the train under way began */
	fh_u64 doubted;         /* ns, since when rounds contradict `present` */
	fh_u64 changed;         /* ns, when others came or left; FH_NONE before the first */
	fh_u64 keeps;           /* the rate to keep up beside others */
	fh_u64 lost_at;         /* ns, when a round lost many */
	fh_u64 trial_window;    /* before the trial; 0: no trial */
	fh_u64 trial_rtt;
	fh_u64 trial_since;     /* ns, when the window had grown */
	fh_u64 trial_windows;   /* sums over the trial's rounds */
	fh_u64 trial_rtts;
	fh_u64 vain;            /* ns, when a trial was in vain; FH_NONE before the first */
	fh_u64 proven;          /* the shortest round trip then */
	fh_u64 room;            /* how long the queue can become */
	fh_u64 room_changed;    /* ns */
	fh_u64 paired;          /* share of acknowledgements that cover two or more segments */
	fh_u64 window;
	fh_u64 goal;            /* where the window grows to, as segments arrive */
	fh_u64 interval;        /* ns between segments; 0: not paced yet */
	fh_u64 acked_at;        /* ns, when the last acknowledgement arrived; FH_NONE before the first */
	fh_u64 gaps;            /* sum of the round's gaps between acknowledgements */
	fh_u64 squares;         /* and of their squares */
	fh_u64 gap;             /* their mean, weighted by length; FH_NONE before the first */
	fh_u32 cwnd;            /* segments that may be in flight */
	fh_u32 burst;           /* segments that leave together */
	fh_u32 hops;
	fh_u32 slow_start;
	fh_u32 rounds;          /* left of the drain */
	fh_u32 unmeasured;      /* rounds that measure nothing and do not count: how many more */
	fh_u32 renews;          /* whether the drain is to find the shortest round trip */
	fh_u32 kept;            /* such drains that did not find it */
	fh_u32 present;         /* whether others fill the queue */
	fh_u32 doubts;          /* consecutive rounds that contradict `present` */
	fh_u32 after_loss;      /* rounds that still count as after a loss */
	fh_u32 cut;             /* whether the last round cut the window */
	fh_u32 first;           /* whether the first window is in flight */
	fh_u32 is_radio;        /* whether the first link is known to be a radio */
	fh_u32 lossy;           /* whether a round that lost many still counts */
	fh_u32 asked;           /* late acknowledgements in doubt */
	fh_u32 needed;          /* how many begin a pair */
	fh_u32 longer;          /* whether the last round trip beyond doubt was late */
	fh_u32 known;           /* single segments for which the receiver is still known to wait */
	fh_u32 span;            /* the first value of `known` the last time */
	fh_u32 since;           /* single segments since then */
	fh_u32 trial_rounds;    /* with a larger window */
	fh_u32 overflows;       /* marks of rounds that lost segments for want of room */
	fh_u32 train;           /* segments of the train under way */
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

static inline int fh_has_aggregates(const struct fh_ap2 *ap2)
{
	return ap2->link >= FH_SLOWEST && ap2->link != FH_SINGLE_OFDM && ap2->link != FH_SINGLE_B;
}

/* Whether the receiver recently waited for a second segment, or that is yet to be found out. */
static inline int fh_waits(const struct fh_ap2 *ap2)
{
	return ap2->known || ap2->asked >= ap2->needed;
}

static inline int fh_delays_acks(const struct fh_ap2 *ap2)
{
	return ap2->paired >= FH_ONE / 4 || fh_waits(ap2);
}

static inline fh_u64 fh_own(const struct fh_ap2 *ap2)
{
	fh_u64 most = ap2->is_radio ? FH_OWN_MOST : FH_OWN_MOST_WIRED;

	if (fh_has_aggregates(ap2))
		return fh_max(fh_min(ap2->link * FH_ONE / FH_RATE_OF_ONE, most), FH_ONE);
	return fh_delays_acks(ap2) ? FH_OWN_SINGLE + FH_ONE : FH_OWN_SINGLE;
}

/* The longest target. */
static inline fh_u64 fh_target_most(const struct fh_ap2 *ap2)
{
	fh_u64 most = ap2->room;

	if (!ap2->is_radio)
		most = fh_min(most, ap2->gap == FH_NONE ? ap2->least : fh_max(ap2->least, FH_TARGET_GAPS * ap2->gap));
	return fh_has_aggregates(ap2) ? fh_min(FH_TARGET_HOP * ((fh_u64)ap2->hops + 1), most) : 0;
}

static inline fh_u64 fh_target(const struct fh_ap2 *ap2)
{
	fh_u64 most = fh_target_most(ap2);

	return ap2->is_radio && ap2->gap != FH_NONE ? fh_min(most, FH_TARGET_GAPS * ap2->gap) : most;
}

static inline void fh_shrink(struct fh_ap2 *ap2, fh_u64 window)
{
	ap2->window = fh_max(window, FH_ONE);
	ap2->goal = ap2->window;
}

/* The part of the window that the path holds without a queue, at this mean round trip. */
static inline fh_u64 fh_pipe(const struct fh_ap2 *ap2, fh_u64 rtt)
{
	return ap2->window * fh_min(ap2->least, rtt) / fh_max(rtt, 1);
}

static inline void fh_apply(struct fh_ap2 *ap2)
{
	int in_bursts = fh_has_aggregates(ap2) && !ap2->present && !ap2->lossy;
	int in_pairs = fh_has_aggregates(ap2) ? fh_waits(ap2) : fh_delays_acks(ap2);
	fh_u32 burst = 1;
	fh_u64 drained, gain = FH_GAIN_SINGLE;

	ap2->cwnd = fh_max(fh_whole(ap2->window), 1);
	if (ap2->rounds) {
		drained = fh_pipe(ap2, fh_max(ap2->smoothed, 1)) * FH_DRAIN / 100;
		if (ap2->present)
			drained = fh_min(drained, ap2->window / FH_DRAIN_BESIDE);
		ap2->cwnd = fh_max(fh_min(fh_whole(drained), ap2->cwnd), 1);
	}
	/* One segment would wait for the receiver's timer, and its round trip would be no sample of the path. */
	if (in_pairs)
		ap2->cwnd = fh_max(ap2->cwnd, 2);
	if (in_bursts && !ap2->slow_start)
		burst = fh_whole(ap2->window * FH_BURST / 100);
	else if (in_pairs && !fh_has_aggregates(ap2))
		burst = 2;
	ap2->burst = fh_max(fh_min(burst, ap2->cwnd), 1);
	if (in_bursts)
		gain = ap2->slow_start || ap2->is_radio ? FH_GAIN_BURSTS : FH_GAIN_WIRED;
	if (!ap2->smoothed)
		return;
	ap2->interval = ap2->smoothed * 1000 * FH_ONE / fh_max(ap2->window, FH_ONE) * 100 / gain;
	/* Linux does not space a connection's first ten segments, either. */
	if (!ap2->interval || (in_bursts && ap2->first))
		ap2->interval = 1;
}

/* Updates what is known of the path; zero: not known. */
FH_SMALL void fh_ap2_learn(struct fh_ap2 *ap2, fh_u64 link, fh_u32 hops)
{
	ap2->link = link ? fh_min(link, FH_LINK_MOST) : FH_LINK;
	ap2->is_radio = link != 0;
	ap2->hops = hops ? fh_min(hops, FH_MAX_HOPS) : FH_HOPS;
	if (ap2->first && !fh_has_aggregates(ap2)) {
		fh_shrink(ap2, fh_min(ap2->window, FH_FIRST_SINGLE * FH_ONE));
		fh_apply(ap2);
	}
}

/* Updates the shortest round trip. */
static inline void fh_note_least(struct fh_ap2 *ap2, fh_u64 now, fh_u64 rtt)
{
	if (ap2->least == FH_NONE || rtt <= ap2->least + ap2->least / FH_NEAR)
		ap2->seen = now;
	ap2->least = fh_min(ap2->least, rtt);
}

static inline void fh_doubt_anew(struct fh_ap2 *ap2, fh_u64 now)
{
	ap2->doubts = 0;
	ap2->doubted = now;
}

/* Begins a connection with a window of `cwnd` segments; `srtt` in ns, 0: not known. */
FH_FUNCTION int fh_ap2_begin(struct fh_ap2 *ap2, fh_u64 now, fh_u64 srtt, fh_u32 cwnd)
{
	if (!ap2)
		return 0;
	fh_ap2_learn(ap2, 0, 0);
	ap2->slow_start = 1;
	ap2->first = 1;
	ap2->paired = FH_ONE / 2;
	ap2->needed = FH_NEEDED;
	ap2->least = FH_NONE;
	ap2->changed = FH_NONE;
	ap2->vain = FH_NONE;
	ap2->drained = FH_NONE;
	ap2->round_least = FH_NONE;
	ap2->acked_at = FH_NONE;
	ap2->gap = FH_NONE;
	ap2->room = FH_TARGET_MOST;
	ap2->round_at = now;
	ap2->most_at = now;
	fh_shrink(ap2, fh_min(cwnd, FH_FIRST_WINDOW) * FH_ONE);
	if (srtt) {
		ap2->smoothed = fh_micros(srtt);
		fh_note_least(ap2, now, ap2->smoothed);
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
	ap2->round_least = fh_min(ap2->round_least, rtt);
	fh_note_least(ap2, now, rtt);
}

/* The rate of `segments` in `nanos`. */
static inline fh_u64 fh_bandwidth(fh_u64 segments, fh_u64 nanos)
{
	return fh_min((fh_min(segments, 1 << 17) << 16) * 1000000000 / fh_max(nanos, 1), FH_BANDWIDTH_MOST);
}

/* `from`, moved by `part` / `whole` of the way to `to`. */
static inline fh_u64 fh_towards(fh_u64 from, fh_u64 to, fh_u64 part, fh_u64 whole)
{
	return to > from ? from + (to - from) * part / whole : from - (from - to) * part / whole;
}

struct fh_round {
	fh_u64 mean;
	fh_u64 least;
	fh_u64 delivered;
	fh_u64 lost;
};

/* The round trip with this queue on top of the target. Behind a wire, a queue that overflows can be shorter than the
 * target. */
static inline fh_u64 fh_with_queue(const struct fh_ap2 *ap2, fh_u64 queue)
{
	return ap2->least + fh_target_most(ap2) / (ap2->after_loss && !ap2->is_radio ? 2 : 1) +
	       (fh_has_aggregates(ap2) ? 0 : FH_QUEUE_SINGLE) + queue;
}

/* The queue of that many senders of AP2 on a link of this rate. */
static inline fh_u64 fh_queue_of(const struct fh_ap2 *ap2, fh_u64 senders, fh_u64 link)
{
	fh_u64 theirs = senders * fh_own(ap2) * 1000000 / fh_max(link, 1);

	return fh_min(theirs, ap2->after_loss ? FH_QUEUE_LOSSY : ap2->is_radio ? FH_QUEUE_MOST : FH_QUEUE_MOST_WIRED);
}

static inline fh_u64 fh_most(const struct fh_ap2 *ap2)
{
	return fh_max(ap2->most[0], ap2->most[1]);
}

/* A longer round trip must be due to other senders' queue. */
static inline fh_u64 fh_bound(const struct fh_ap2 *ap2)
{
	return fh_with_queue(ap2, fh_queue_of(ap2, FH_SENDERS, fh_most(ap2)));
}

/* A longer round trip may be due to it: radios are no explanation, or the wire is faster than AP2 is. */
FH_FUNCTION fh_u64 fh_suspected(const struct fh_ap2 *ap2)
{
	fh_u64 hops, bound, sure, carried, theirs;

	if (!ap2)
		return 0;
	hops = ap2->hops;
	bound = fh_bound(ap2);
	sure = ap2->least;
	if (!ap2->is_radio || !fh_has_aggregates(ap2)) {
		carried = fh_max(fh_most(ap2), fh_max(ap2->speed[0], ap2->speed[1]));
		return fh_min(bound, fh_with_queue(ap2, fh_queue_of(ap2, FH_SENDERS_WIRED, carried)));
	}
	if (sure > ap2->proven + ap2->proven / FH_CLOSE)
		sure = fh_min(sure, FH_PATH_HOP * hops);
	carried = fh_max(ap2->link / fh_max(FH_CARRIES * fh_min(hops, FH_SHARE_AIR), 1), 1);
	theirs = FH_SENDERS * fh_own(ap2) * (FH_SEGMENT_BITS * 1000000ULL / carried) / FH_ONE;
	return fh_min(bound, sure + fh_target_most(ap2) + theirs);
}

static inline void fh_begin_trial(struct fh_ap2 *ap2, fh_u64 window, fh_u64 rtt)
{
	ap2->trial_window = window;
	ap2->trial_rtt = rtt;
	ap2->trial_since = 0;
	ap2->trial_windows = 0;
	ap2->trial_rtts = 0;
	ap2->trial_rounds = 0;
}

/* Ends a round beside others. If a trial was in vain, there are none, and the shortest round trip is the path's. */
FH_FUNCTION int fh_tries_in_vain(struct fh_ap2 *ap2, fh_u64 now, fh_u64 rtt)
{
	fh_u64 rounds, before, after;

	if (!ap2 || !ap2->trial_window)
		return 0;
	if (ap2->window < FH_TRIAL_TIMES * ap2->trial_window) {
		fh_begin_trial(ap2, ap2->trial_window, ap2->trial_rtt);
		return 0;
	}
	if (!ap2->trial_rounds) {
		ap2->trial_rounds = 1;
		ap2->trial_since = now;
		return 0;
	}
	rounds = ap2->trial_rounds;
	ap2->trial_rounds++;
	ap2->trial_windows += ap2->window >> FH_TRIAL_DIGITS;
	ap2->trial_rtts += rtt;
	if (rounds < FH_TRIAL_ROUNDS || fh_since(now, ap2->trial_since) < FH_TRIAL_LASTS)
		return 0;
	before = ap2->trial_window >> FH_TRIAL_DIGITS;
	after = ap2->trial_windows / rounds;
	ap2->trial_window = 0;
	if (ap2->trial_rtts / rounds * (3 * before + after) <= 4 * after * ap2->trial_rtt)
		return 0;
	ap2->present = 0;
	ap2->changed = FH_NONE;
	ap2->vain = now;
	ap2->proven = ap2->least;
	fh_doubt_anew(ap2, now);
	return 1;
}

static inline void fh_drain(struct fh_ap2 *ap2)
{
	ap2->rounds = FH_DRAIN_ROUNDS;
	ap2->unmeasured = FH_DRAIN_UNMEASURED;
	ap2->drained = FH_NONE;
}

/* Phase of a round: usual; within a drain; the end of a drain. */
enum { FH_USUAL, FH_DRAINING, FH_DRAINED };

/* Whether others are present, or were a while ago. */
static inline int fh_others_near(const struct fh_ap2 *ap2, fh_u64 now)
{
	return ap2->present || (ap2->changed != FH_NONE && fh_since(now, ap2->changed) < FH_NEAR_OTHERS);
}

static inline int fh_end_drain(struct fh_ap2 *ap2, fh_u64 now, fh_u64 least)
{
	if (!ap2->rounds) {
		if (fh_since(now, ap2->seen) <= FH_OLD)
			return FH_USUAL;
		ap2->renews = 1;
		fh_drain(ap2);
		return FH_DRAINING;
	}
	ap2->rounds--;
	ap2->drained = fh_min(ap2->drained, least);
	if (ap2->rounds)
		return FH_DRAINING;
	if (ap2->renews) {
		ap2->renews = 0;
		ap2->seen = now;
		if (fh_others_near(ap2, now) && ap2->drained > ap2->least + ap2->least / FH_NEAR && ap2->kept < FH_PATIENCE) {
			ap2->kept++;
		} else {
			ap2->least = ap2->drained;
			ap2->kept = 0;
		}
	}
	return FH_DRAINED;
}

/* Judges a round: its queue was always longer than AP2 senders leave it, or at times was not. If that is not sure, begins
 * a trial. */
static inline void fh_judge(struct fh_ap2 *ap2, fh_u64 now, fh_u32 long_queue, int sure, fh_u64 rtt)
{
	int held = !sure && ap2->vain != FH_NONE && fh_since(now, ap2->vain) < FH_HOLDS;

	if (long_queue == ap2->present || (held && long_queue)) {
		fh_doubt_anew(ap2, now);
		return;
	}
	ap2->doubts++;
	if (ap2->doubts >= FH_DOUBTS && fh_since(now, ap2->doubted) > FH_LASTS) {
		ap2->present = long_queue;
		ap2->changed = now;
		ap2->keeps = fh_min(fh_most(ap2) * FH_KEEPS / 100, FH_BANDWIDTH_MOST);
		ap2->cut = 0;
		fh_begin_trial(ap2, long_queue && !sure ? ap2->window : 0, rtt);
		fh_doubt_anew(ap2, now);
	}
}

/* The window that AP2 aims for at this mean round trip. */
static inline fh_u64 fh_next(const struct fh_ap2 *ap2, fh_u64 rtt)
{
	return fh_pipe(ap2, rtt) + fh_own(ap2) + ap2->rate * fh_target(ap2) / 1000000;
}

/* Ends a round with this queue. `lost`: it lost segments although the window is what AP2 aims for. Returns whether there
 * is less room than was known. */
static inline int fh_end_room(struct fh_ap2 *ap2, fh_u64 now, fh_u32 lost, fh_u64 queue)
{
	if (lost)
		ap2->overflows = fh_min(ap2->overflows + FH_ROOM_LOSS, FH_ROOM_OFTEN);
	else if (ap2->overflows)
		ap2->overflows--;
	if (ap2->overflows >= FH_ROOM_OFTEN && queue < ap2->room) {
		ap2->room = queue * FH_ROOM_KEEPS / 100;
		ap2->room_changed = now;
		ap2->overflows = 0;
		return 1;
	}
	if (fh_since(now, ap2->room_changed) > FH_ROOM_LASTS) {
		ap2->room = fh_min(ap2->room + ap2->room / 2 + 1, FH_TARGET_MOST);
		ap2->room_changed = now;
	}
	return 0;
}

/* The window follows `next`. */
static inline void fh_follow(struct fh_ap2 *ap2, fh_u64 now, fh_u64 next, int many)
{
	if (many) {
		next = fh_min(next, ap2->window * (ap2->lossy ? FH_LOSS_LEAVES : FH_MANY_LEAVE) / 100);
		ap2->lost_at = now;
	}
	ap2->lossy = !ap2->is_radio && (many || (ap2->lossy && fh_since(now, ap2->lost_at) < FH_LOSSY));
	if (next < ap2->window)
		fh_shrink(ap2, next);
	else
		ap2->goal = fh_min(ap2->window + fh_min((next - ap2->window) / 2, ap2->lossy ? FH_ONE : FH_MOST), FH_MOST);
}

/* The window while others fill the queue. */
static inline void fh_contend(struct fh_ap2 *ap2, const struct fh_round *round, fh_u64 next)
{
	fh_u64 floor = ap2->keeps * fh_min(round->mean, FH_MAX_SAMPLE / 1000) / 1000000, step;

	ap2->cut = round->lost && !ap2->cut;
	if (ap2->cut) {
		if (ap2->window < floor)
			ap2->keeps = fh_min(ap2->keeps * FH_LOSS_LEAVES / 100, FH_BANDWIDTH_MOST);
		fh_shrink(ap2, ap2->window * FH_CUT_LEAVES / 100);
		fh_drain(ap2);
		return;
	}
	step = FH_ONE + ap2->window / FH_GROWTH_BESIDE;
	step = fh_max(step, ap2->window * fh_min(round->mean, FH_GROWTH_OVER / 2) / FH_GROWTH_OVER);
	step = fh_max(step, fh_min(ap2->window / FH_REGAIN, fh_since(floor, ap2->window)));
	step = fh_max(step, fh_since(next, ap2->window) / 2);
	ap2->goal = fh_min(ap2->window + step, FH_MOST);
}

static inline void fh_end_round(struct fh_ap2 *ap2, fh_u64 now, const struct fh_round *round)
{
	fh_u64 next = fh_next(ap2, round->mean), bound, least;
	int many = round->lost * FH_LOSS_SHARE > round->delivered || (ap2->lossy && round->lost), overflows, phase;

	ap2->first = 0;
	if (ap2->slow_start && next * 100 >= ap2->window * (100 + FH_STARTUP_GROWTH) && !many) {
		ap2->goal = fh_min(2 * ap2->window, FH_MOST);
		return;
	}
	if (ap2->slow_start) {
		ap2->slow_start = 0;
		fh_doubt_anew(ap2, now);
	}
	overflows = round->lost && next * 10 >= ap2->window * 9 && !ap2->present;
	if (ap2->is_radio && fh_has_aggregates(ap2) &&
	    fh_end_room(ap2, now, overflows, fh_since(round->mean, ap2->least)))
		next = fh_next(ap2, round->mean);
	ap2->after_loss = round->lost ? FH_LOSSY_ROUNDS : ap2->after_loss ? ap2->after_loss - 1 : 0;
	bound = fh_suspected(ap2);
	phase = fh_end_drain(ap2, now, round->least);
	least = fh_min(ap2->least, bound);
	if (phase == FH_DRAINED && ap2->present && ap2->drained <= least + (bound - least) * FH_SHORT / 100) {
		ap2->present = 0;
		ap2->changed = now;
		fh_doubt_anew(ap2, now);
	} else {
		fh_judge(ap2, now, round->least > bound, round->least > fh_bound(ap2), round->mean);
	}
	if (phase == FH_DRAINING)
		return;
	if (ap2->present && !fh_tries_in_vain(ap2, now, round->mean))
		fh_contend(ap2, round, next);
	else
		fh_follow(ap2, now, next, many);
}

/* Takes a round trip beyond doubt; `news`: the receiver was not known to wait. */
static inline void fh_decide(struct fh_ap2 *ap2, int late, int news)
{
	if (ap2->asked && late) {
		ap2->needed = fh_min(2 * ap2->needed, FH_NEEDED_MOST);
	} else if (ap2->asked) {
		ap2->needed = FH_NEEDED;
		if (news) {
			ap2->span = ap2->since < FH_SOON ? 2 * ap2->span : 0;
			ap2->span = fh_max(fh_min(ap2->span, FH_KNOWN_MOST), FH_KNOWN);
			ap2->known = ap2->span;
		}
	}
	ap2->asked = 0;
	ap2->longer = late;
}

/* Takes an acknowledgement. Returns whether its round trip is the path's, without a wait by the receiver. */
static inline int fh_is_of_path(struct fh_ap2 *ap2, const struct fh_delivered *ack, fh_u64 rtt)
{
	int late = ap2->least != FH_NONE && rtt > ap2->least + FH_LATE, several = ack->acked > 1, waits;

	if (late && !several && !ack->left) {
		if (ap2->asked <= FH_UNHEARD)
			ap2->asked++;
		return ap2->longer || ap2->asked > FH_UNHEARD;
	}
	if (ack->acked) {
		waits = ap2->paired >= FH_ONE / 4 || ap2->known;
		ap2->paired = (7 * ap2->paired + (several ? FH_ONE : 0)) / 8;
		if (!several && ap2->known) {
			ap2->known--;
			ap2->since = 0;
		} else if (!several && ap2->since < FH_SOON) {
			ap2->since++;
		}
		if (several || ack->left)
			fh_decide(ap2, late, !waits);
	}
	return 1;
}

/* Counts the segments of a train: behind a wire, their spacing shows how fast the slowest link is. */
static inline void fh_note_train(struct fh_ap2 *ap2, fh_u64 now, fh_u32 acked)
{
	fh_u64 took = fh_since(now, ap2->train_at);

	ap2->train += acked;
	if (ap2->train < FH_TRAIN)
		return;
	if (took >= FH_COMPRESSED * (fh_u64)ap2->train)
		ap2->speed[1] = fh_max(ap2->speed[1], fh_bandwidth(ap2->train, took));
	ap2->train = 0;
	ap2->train_at = now;
}

/* Notes the gap before an acknowledgement. */
static inline void fh_note_gap(struct fh_ap2 *ap2, fh_u64 now)
{
	fh_u64 gap;

	if (ap2->acked_at != FH_NONE) {
		gap = fh_min(fh_micros(fh_since(now, ap2->acked_at)), FH_GAP_MOST);
		ap2->gaps += gap;
		ap2->squares += gap * gap;
	}
	ap2->acked_at = now;
}

/* Ends a round: its mean gap moves that of the last second. */
static inline void fh_end_gaps(struct fh_ap2 *ap2)
{
	fh_u64 newest, weight;

	if (!ap2->gaps)
		return;
	newest = ap2->squares / ap2->gaps;
	weight = fh_min(ap2->gaps, FH_GAPS_OVER);
	if (ap2->gap == FH_NONE)
		ap2->gap = newest;
	else
		ap2->gap = (ap2->gap * (FH_GAPS_OVER - weight) + newest * weight) / FH_GAPS_OVER;
	ap2->gaps = 0;
	ap2->squares = 0;
}

/* Updates the path's estimates from an acknowledgement, and ends the round if it is over. */
static inline void fh_take(struct fh_ap2 *ap2, const struct fh_delivered *ack)
{
	struct fh_round round;
	fh_u64 took, rate, time, rtt = ack->rtt ? fh_micros(ack->rtt) : 0;
	int measured;

	if (!ap2->is_radio)
		fh_note_train(ap2, ack->now, ack->acked);
	if (ack->acked)
		fh_note_gap(ap2, ack->now);
	if (fh_is_of_path(ap2, ack, rtt) && rtt)
		fh_note_round_trip(ap2, ack->now, rtt, fh_max(fh_min(ack->acked, 1 << 10), 1));
	if (!ack->has_data || ack->prior < ap2->round_delivered)
		return;
	took = fh_since(ack->now, ap2->round_at);
	round.mean = ap2->sum / fh_max(ap2->samples, 1);
	round.least = ap2->round_least;
	round.delivered = fh_since(ack->total, ap2->round_delivered);
	round.lost = ap2->lost;
	measured = ap2->samples && took;
	ap2->round_at = ack->now;
	ap2->round_delivered = ack->total;
	ap2->sum = 0;
	ap2->samples = 0;
	ap2->lost = 0;
	ap2->round_least = FH_NONE;
	if (!measured) {
		/* Everything was sent again, or the receiver waited. A drain goes on for some such rounds; the next one is not due
		 * at once. */
		if (ap2->rounds && ap2->unmeasured) {
			ap2->unmeasured--;
		} else if (ap2->rounds && !--ap2->rounds && ap2->renews) {
			ap2->renews = 0;
			ap2->seen = ack->now;
		}
		return;
	}
	fh_end_gaps(ap2);
	rate = fh_bandwidth(round.delivered, took);
	time = fh_micros(took);
	if (!ap2->rate)
		ap2->rate = rate;
	else if (ap2->slow_start)
		ap2->rate = fh_towards(ap2->rate, rate, 1, 2);
	else
		ap2->rate = fh_towards(ap2->rate, rate, time, time + FH_RATE_OVER);
	if (fh_since(ack->now, ap2->most_at) > FH_MOST_OVER) {
		ap2->most[0] = ap2->most[1];
		ap2->most[1] = 0;
		ap2->speed[0] = ap2->speed[1];
		ap2->speed[1] = 0;
		ap2->most_at = ack->now;
	}
	ap2->most[1] = fh_max(ap2->most[1], ap2->rate);
	fh_end_round(ap2, ack->now, &round);
}

/* Processes an acknowledgement. */
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

/* Counts segments marked as lost. */
FH_SMALL void fh_ap2_lost(struct fh_ap2 *ap2, fh_u32 segments)
{
	ap2->lost += segments;
}

/* The peer reports that a queue has marked a segment (ECN). */
FH_FUNCTION int fh_ap2_mark(struct fh_ap2 *ap2)
{
	if (!ap2)
		return 0;
	ap2->slow_start = 0;
	fh_shrink(ap2, ap2->window * FH_MARK_LEAVES / 100);
	fh_apply(ap2);
	return 0;
}

/* The retransmission timer has expired. */
FH_FUNCTION int fh_ap2_timeout(struct fh_ap2 *ap2, fh_u32 in_flight)
{
	fh_u32 next = in_flight + 1 ? in_flight + 1 : in_flight;

	if (!ap2)
		return 0;
	ap2->slow_start = 0;
	fh_shrink(ap2, fh_max(ap2->window * (ap2->is_radio ? FH_MANY_LEAVE : FH_TIMEOUT_LEAVES) / 100, 2 * FH_ONE));
	ap2->cwnd = fh_min(next, fh_whole(ap2->window));
	ap2->burst = 1;
	return 0;
}

/* Sending resumes after the application had nothing to send for a while. */
FH_SMALL void fh_ap2_restart(struct fh_ap2 *ap2, fh_u64 now)
{
	ap2->seen = now;
	fh_doubt_anew(ap2, now);
}

#endif
