/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/*
 * Adaptive pacing (TCP-AP) and rate-based pacing (RBP) in integers, for BPF in the kernel and for the host.
 *
 * The same arithmetic as crates/cc/src/tcp_ap and crates/cc/src/rbp.rs, which name sources and equations; a test
 * compares the two sample by sample. Times are in nanoseconds. BPF, as clang 14 compiles it, has no signed division, no
 * 128-bit products and no unbounded loops; an unsigned division by zero gives zero there and is avoided here.
 *
 * The kernel verifies an FH_FUNCTION once, not at each call: it takes at most five arguments and checks its pointers.
 */
#ifndef FOURHOP_PACE_H
#define FOURHOP_PACE_H

typedef unsigned char fh_u8;
typedef unsigned short fh_u16;
typedef unsigned int fh_u32;
typedef unsigned long long fh_u64;
typedef int fh_s32;
typedef long long fh_s64;

#define FH_FUNCTION __attribute__((noinline))

/* Small functions are inlined in the kernel; on the host, tests call them. */
#ifdef __bpf__
#define FH_SMALL static inline
#else
#define FH_SMALL
#endif

/* Calls `step(n, at)` for n from 0 to `times` - 1. The kernel's own loop is verified once, whatever its length. */
#ifdef __bpf__
/* Helper number 181, since Linux 5.17 (include/uapi/linux/bpf.h). */
static long (*bpf_loop)(fh_u32 times, void *step, void *at, fh_u64 flags) = (void *)181;
#define FH_LOOP(times, step, at) bpf_loop(times, step, at, 0)
#else
#define FH_LOOP(times, step, at)                                                                                       \
	for (fh_u32 fh_n = 0; fh_n < (times); fh_n++)                                                                  \
	step(fh_n, at)
#endif

/* No limit, no time. */
#define FH_NONE (~0ULL)
/* Longest round trip that counts, in ns: 64 s, more than the largest retransmission time-out (RFC 6298 section 2.5). */
#define FH_MAX_SAMPLE (64ULL * 1000000000)
/* Longest time that links may take for a segment, in ns. */
#define FH_MAX_TRANSMISSION (1ULL << 46)
/* Longest path: what an IPv4 packet's time to live allows. */
#define FH_MAX_HOPS 255
/* Largest N: the paper goes up to 200 (Figure 9). The ring is the next power of two. */
#define FH_MAX_HISTORY 200
#define FH_RING 256
/* Links of a path that are stored individually. */
#define FH_FRONT 8
/* Fractional bits of a coefficient of variation. */
#define FH_BITS 20

/* The measure of variation: the standard deviation of the round trips (the paper, section 4.2), or the mean absolute
 * deviation of the n-hop delays (the authors' code). */
enum { FH_DEVIATION_OF_ROUND_TRIPS = 0, FH_ABSOLUTE_DEVIATION_OF_DELAYS = 1 };
/* The interval on paths shorter than the factor: the delay over all their hops (the paper), or over one (the code). */
enum { FH_ALL_HOPS = 0, FH_ONE_HOP = 1 };

struct fh_params {
	fh_u64 link_rate;      /* bit/s of every link, instead of the path's; 0: the path's */
	fh_u64 queue_limit;    /* a queueing delay per hop above this is replaced by its average; FH_NONE: never */
	fh_u64 delay_limit;    /* n-hop delays of this and more are no samples; FH_NONE: all are */
	fh_u64 first_interval; /* between segments before the first sample; 0: not paced */
	fh_u32 alpha;          /* weight of the old average, in thousandths */
	fh_u32 history;        /* N, 1 to FH_MAX_HISTORY */
	fh_u32 factor;         /* n: hops that must lie between two senders */
	fh_u32 queue_alpha;    /* weight of the old average of the queueing delay, in thousandths */
	fh_u32 data_overhead;  /* bytes of headers on top of the payload of a segment */
	fh_u32 ack_bytes;      /* bytes of an acknowledgement */
	fh_u32 spread;
	fh_u32 short_path;
	fh_u32 pacing_v;       /* V of RBP */
	fh_u32 unused;
};

struct fh_path {
	fh_u64 wired;           /* wired part of round trips, as a gateway reported; hops and links are those to the gateway */
	fh_u64 rate;            /* bit/s of every link; 0: not known */
	fh_u64 all;             /* where links differ: picoseconds a bit takes over all of them */
	fh_u64 front[FH_FRONT]; /* the same after each of the first links */
	fh_u32 links;           /* how many of them; 0: all have `rate` */
	fh_u32 hops;            /* 0: not known */
};

struct fh_pace {
	fh_u64 samples[FH_RING];
	fh_u64 sum;
	fh_u64 average;   /* smoothed n-hop delay; 0 before the first */
	fh_s64 queueing;  /* average of the queueing delay per hop */
	fh_u64 rtt;       /* the newest sample */
	fh_u32 count;
	fh_u32 oldest;
	fh_u32 variation; /* of the samples, in units of 2^-FH_BITS */
	fh_u32 unused;
};

/* Hops that a packet has travelled, by its time to live and the next usual initial value; a packet that nobody forwarded has one. */
FH_SMALL fh_u32 fh_hops(fh_u32 ttl)
{
	fh_u32 first = ttl <= 30 ? 30 : ttl <= 32 ? 32 : ttl <= 64 ? 64 : ttl <= 128 ? 128 : 255;

	return first - ttl + 1;
}

/* a / b rounded to the nearest, for b > 0. */
static inline fh_s64 fh_rounded(fh_s64 a, fh_u64 b)
{
	fh_u64 size = ((a < 0 ? -(fh_u64)a : (fh_u64)a) + b / 2) / b;

	return a < 0 ? -(fh_s64)size : (fh_s64)size;
}

static inline fh_u32 fh_sum32(fh_u32 a, fh_u32 b)
{
	fh_u32 sum = a + b;

	return sum < a ? ~0U : sum;
}

/* Number of bits up to the highest that is set. */
static inline fh_u32 fh_width(fh_u64 x)
{
	fh_u32 width = 0;

	if (x >> 32) {
		width += 32;
		x >>= 32;
	}
	if (x >> 16) {
		width += 16;
		x >>= 16;
	}
	if (x >> 8) {
		width += 8;
		x >>= 8;
	}
	if (x >> 4) {
		width += 4;
		x >>= 4;
	}
	if (x >> 2) {
		width += 2;
		x >>= 2;
	}
	return width + (x >> 1 ? 2 : (fh_u32)x);
}

/* The square root, rounded down. Newton's iteration starts from the power of two above it, which is off by at most half,
 * and ends at the root or one above after five steps. Bit by bit, the verifier would see 2^32 paths. */
FH_FUNCTION fh_u64 fh_square_root(fh_u64 x)
{
	fh_u64 root = 1ULL << ((fh_width(x) + 1) / 2 % 64);

	if (x < 2)
		return x;
	root = (root + x / root) / 2;
	root = (root + x / root) / 2;
	root = (root + x / root) / 2;
	root = (root + x / root) / 2;
	root = (root + x / root) / 2;
	if (root > x / root)
		root--;
	return root;
}

/* ns that the first `links` links take for `bytes`, one after another; FH_NONE if unknown or longer than 2^46. */
FH_FUNCTION fh_u64 fh_transmission(const struct fh_path *path, fh_u64 link_rate, fh_u32 bytes, fh_u32 links)
{
	fh_u64 rate, bits, picos, nanos;

	if (!path)
		return FH_NONE;
	if (link_rate || !path->links) {
		rate = link_rate ? link_rate : path->rate;
		if (!rate)
			return FH_NONE;
		/* 2^20 bytes over 255 links are below 2^61. */
		bits = (fh_u64)(bytes < 1 << 20 ? bytes : 1 << 20) * 8 * links * 1000000000;
		nanos = bits + rate / 2;
		nanos = (nanos < bits ? FH_NONE : nanos) / rate;
		return nanos < FH_MAX_TRANSMISSION ? nanos : FH_MAX_TRANSMISSION;
	}
	if (!links)
		picos = 0;
	else if (links >= path->links)
		picos = path->all;
	else if (links <= FH_FRONT)
		picos = path->front[(links - 1) % FH_FRONT];
	else /* The other links count with their mean; there are some, since links < path->links. */
		picos = path->front[FH_FRONT - 1] +
			(path->all - path->front[FH_FRONT - 1]) / (path->links - FH_FRONT) * (links - FH_FRONT);
	bits = (fh_u64)bytes * 8;
	if (picos > (1ULL << 57) / (bits ? bits : 1))
		return FH_NONE;
	nanos = (picos * bits + 500) / 1000;
	return nanos <= FH_MAX_TRANSMISSION ? nanos : FH_NONE;
}

/* The delay over n hops derived from a round trip (the paper, section 4.3); 0 if none follows from it. */
FH_FUNCTION fh_u64 fh_delay(struct fh_pace *pace, const struct fh_params *params, const struct fh_path *path, fh_u32 mss,
			    fh_u64 rtt)
{
	fh_u64 all, first, old, twice;
	fh_u32 hops, n, data;
	fh_s64 queued, per_hop, delay;

	if (!pace || !params || !path || !path->hops)
		return 0;
	hops = path->links && !params->link_rate ? path->links : path->hops;
	hops = hops < FH_MAX_HOPS ? hops : FH_MAX_HOPS;
	n = params->factor ? params->factor : 1;
	if (hops < params->factor)
		n = params->short_path == FH_ONE_HOP ? 1 : hops;
	data = fh_sum32(mss, params->data_overhead);
	all = fh_transmission(path, params->link_rate, fh_sum32(data, params->ack_bytes), hops);
	if (all == FH_NONE)
		return 0;
	/* 2h t_q; signed, as the paper's formula has no floor. */
	twice = 2 * hops;
	queued = (fh_s64)rtt - (fh_s64)all;
	if (params->queue_limit != FH_NONE) {
		per_hop = fh_rounded(queued, twice);
		if (per_hop > (fh_s64)params->queue_limit)
			queued = pace->queueing * (fh_s64)twice;
		old = params->queue_alpha < 1000 ? params->queue_alpha : 1000;
		per_hop = fh_rounded(queued, twice);
		pace->queueing = fh_rounded((fh_s64)old * pace->queueing + (fh_s64)(1000 - old) * per_hop, 1000);
	}
	first = fh_transmission(path, params->link_rate, data, n);
	if (first == FH_NONE)
		return 0;
	delay = fh_rounded((fh_s64)n * queued, twice) + (fh_s64)first;
	if (delay <= 0)
		return 0;
	return (fh_u64)delay < FH_MAX_SAMPLE ? (fh_u64)delay : FH_MAX_SAMPLE;
}

/* Adds a sample; beyond N, drops the oldest. */
FH_FUNCTION int fh_remember(struct fh_pace *pace, fh_u32 history, fh_u64 sample)
{
	fh_u32 most = history < 1 ? 1 : history < FH_MAX_HISTORY ? history : FH_MAX_HISTORY;

	if (!pace)
		return 0;
	pace->sum += sample;
	if (pace->count < most) {
		pace->samples[pace->count % FH_RING] = sample;
		pace->count++;
		return 0;
	}
	pace->sum -= pace->samples[pace->oldest % FH_RING];
	pace->samples[pace->oldest % FH_RING] = sample;
	pace->oldest = (pace->oldest + 1) % most;
	return 0;
}

struct fh_walk {
	const struct fh_pace *pace;
	fh_u64 mean;
	fh_u64 largest;
	fh_u64 sum;
	fh_u32 shift;
};

static inline fh_u64 fh_deviation(const struct fh_walk *walk, fh_u32 n)
{
	fh_u64 sample = walk->pace->samples[n % FH_RING];

	return sample > walk->mean ? sample - walk->mean : walk->mean - sample;
}

static long fh_add_deviation(fh_u32 n, void *at)
{
	struct fh_walk *walk = at;
	fh_u64 deviation = fh_deviation(walk, n);

	walk->sum += deviation;
	if (deviation > walk->largest)
		walk->largest = deviation;
	return 0;
}

static long fh_add_square(fh_u32 n, void *at)
{
	struct fh_walk *walk = at;
	fh_u64 deviation = fh_deviation(walk, n) >> (walk->shift % 64);

	walk->sum += deviation * deviation;
	return 0;
}

/* Deviation over mean in units of 2^-FH_BITS; zero for fewer than two samples. */
FH_FUNCTION fh_u32 fh_variation(const struct fh_pace *pace, fh_u32 spread)
{
	struct fh_walk walk = {};
	fh_u64 deviation;
	fh_u32 count, width;

	if (!pace)
		return 0;
	count = pace->count < FH_RING ? pace->count : FH_RING;
	walk.pace = pace;
	walk.mean = count ? pace->sum / count : 0;
	if (count < 2 || !walk.mean)
		return 0;
	FH_LOOP(count, fh_add_deviation, &walk);
	if (spread == FH_ABSOLUTE_DEVIATION_OF_DELAYS) {
		deviation = walk.sum / count;
	} else {
		/* The sum of 200 squares of 27-bit deviations fits into 64 bits. */
		width = fh_width(walk.largest);
		walk.shift = width > 27 ? width - 27 : 0;
		walk.sum = 0;
		FH_LOOP(count, fh_add_square, &walk);
		deviation = fh_square_root(walk.sum / (count - 1)) << (walk.shift % 64);
	}
	deviation = (deviation << FH_BITS) / walk.mean;
	return deviation < ~0U ? (fh_u32)deviation : ~0U;
}

/* Takes the round trip of a segment with `mss` bytes of payload. Returns the interval that follows from it and earlier
 * ones; 0 until one has given a delay, and for one that the wired part alone would fill, which says nothing. */
FH_FUNCTION fh_u64 fh_sample(struct fh_pace *pace, const struct fh_params *params, const struct fh_path *path, fh_u32 mss,
			     fh_u64 rtt)
{
	fh_u64 delay, old, interval;

	if (!pace || !params || !path || rtt <= path->wired)
		return 0;
	rtt -= path->wired;
	if (rtt > FH_MAX_SAMPLE)
		rtt = FH_MAX_SAMPLE;
	pace->rtt = rtt;
	delay = fh_delay(pace, params, path, mss, rtt);
	if (delay >= params->delay_limit)
		delay = 0;
	if (params->spread == FH_DEVIATION_OF_ROUND_TRIPS)
		fh_remember(pace, params->history, rtt);
	else if (delay)
		fh_remember(pace, params->history, delay);
	pace->variation = fh_variation(pace, params->spread);
	if (delay) {
		old = params->alpha < 1000 ? params->alpha : 1000;
		pace->average = pace->average ? (old * pace->average + (1000 - old) * delay + 500) / 1000 : delay;
	}
	if (!pace->average)
		return 0;
	/* Section 4.4: the smoothed delay times 1 + 2 cov; below 2^62. */
	interval = pace->average + ((pace->average * 2 * pace->variation) >> FH_BITS);
	return interval ? interval : 1;
}

/* RBP: the smoothed round trip over window + V. */
FH_SMALL fh_u64 fh_rbp_interval(fh_u64 rtt, fh_u32 window, fh_u32 v)
{
	fh_u64 segments = (fh_u64)window + v;

	rtt = (rtt < FH_MAX_SAMPLE ? rtt : FH_MAX_SAMPLE) / (segments ? segments : 1);
	return rtt ? rtt : 1;
}

/* An interval as SO_MAX_PACING_RATE: bytes of payload per second. Linux computes the gap as payload / rate, rounded down,
 * so rounding the rate down keeps the gap from being shorter than the interval. A rate of 0 would not be paced. */
FH_SMALL fh_u32 fh_rate(fh_u64 interval, fh_u32 mss)
{
	fh_u64 rate = (fh_u64)mss * 1000000000 / (interval ? interval : 1);

	return rate < 1 ? 1 : rate < ~0U - 1 ? (fh_u32)rate : ~0U - 1;
}

/* Wired round trip in ms from a gateway's option: kind, length, "4h", milliseconds (RFC 6994). */
#define FH_OPTION_KIND 253
#define FH_OPTION_LENGTH 6
#define FH_OPTION_ID 0x3468
FH_SMALL fh_u32 fh_wired_millis(const fh_u8 option[FH_OPTION_LENGTH])
{
	return (fh_u32)option[4] << 8 | option[5];
}

#endif
