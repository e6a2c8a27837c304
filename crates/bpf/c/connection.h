/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/* State of each connection and each destination; src/layout.rs mirrors it. */
#ifndef FOURHOP_CONNECTION_H
#define FOURHOP_CONNECTION_H

#include "fourhop_ap2.h"
#include "kernel.h"

/* A connection's destination, as the key of a longest-prefix table: an IPv6 address, or an IPv4-mapped one (RFC 4291
 * section 2.5.5.2). */
struct fh_key {
	fh_u32 bits;
	fh_u32 address[4];
};

/* How connections to a destination are paced. */
struct fh_destination {
	struct fh_params params;
	struct fh_path path;
	fh_u64 link;           /* bit/s of the first link, for AP2; 0: not known */
	fh_u32 hops_by_ttl;    /* whether received packets give the hop count */
	fh_u32 gateway;        /* whether a gateway reports the wired part of round trips */
	fh_u32 initial_window; /* segments; 0: the kernel's */
	fh_u32 wired_hops;     /* hops behind the gateway, included in those that the time to live gives */
};

enum { FH_TCP_AP = 1, FH_RBP = 2, FH_AP_CUBIC = 3, FH_AP2 = 4 };

struct fh_connection {
	struct fh_pace pace;
	struct fh_ap2 ap2;
	struct fh_destination to;
	fh_u64 interval;         /* between segments; 0: not paced yet */
	fh_u64 set_rate;         /* the pacing rate that was set last */
	fh_u64 application_rate; /* the most that the application wants it to be */
	fh_u64 samples;
	fh_u32 algorithm;
	fh_u32 burst;            /* segments that leave together */
	/* AP2 only: */
	fh_u64 delivered;        /* segments, as 64 bits */
	fh_u64 peak_round;       /* the round that `peak` belongs to */
	fh_u32 peak;             /* most segments in flight in this round, and in the one before */
	fh_u32 peak_before;
	fh_u32 lost;             /* marked as lost so far */
	fh_u32 burst_from;       /* segments sent when the last burst began */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fh_connection);
} fh_connections SEC(".maps");

#endif
