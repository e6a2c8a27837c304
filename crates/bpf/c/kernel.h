/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/*
 * The kernel types and helpers that these programs use. Field offsets are not fixed here: the loader looks each one up in
 * the running kernel's type information (CO-RE), so only names and types have to match. Helpers are called by number
 * (include/uapi/linux/bpf.h).
 */
#ifndef FOURHOP_KERNEL_H
#define FOURHOP_KERNEL_H

#include <linux/bpf.h>

#include "fourhop_pace.h"

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define KFUNC extern __attribute__((section(".ksyms")))

char fh_licence[] SEC("license") = "Dual MIT/GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		fh_u32 u6_addr32[4];
	} in6_u;
};

struct ns_common {
	fh_u32 inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	fh_u32 skc_daddr;
	fh_u32 skc_rcv_saddr;
	fh_u16 skc_dport;
	fh_u16 skc_num;
	fh_u16 skc_family;
	volatile fh_u8 skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	fh_u32 sk_pacing_status;
};

struct tcp_sock {
	fh_u32 snd_cwnd;
	fh_u32 srtt_us; /* eight times the smoothed round trip in us */
	fh_u32 mss_cache;
	fh_u32 data_segs_out;
	fh_u32 total_retrans;
	fh_u32 packets_out;
	fh_u32 sacked_out;
	fh_u32 lost_out;
	fh_u32 retrans_out;
	fh_u32 delivered;
	fh_u32 app_limited; /* not 0: the application had run out of data */
	fh_u32 lost; /* all segments ever marked as lost */
	fh_u32 write_seq;
	fh_u32 snd_nxt;
	fh_u64 tcp_mstamp; /* us, when the newest segment arrived */
	fh_u64 bytes_acked;
};

struct rate_sample {
	fh_u64 prior_mstamp;
	fh_u32 prior_delivered;
	long rtt_us;
	fh_u32 acked_sacked;
	fh_u32 prior_in_flight;
};

struct ack_sample {
	fh_u32 pkts_acked;
	fh_s32 rtt_us;
	fh_u32 in_flight;
};

enum tcp_ca_event { CA_EVENT_TX_START };

struct tcp_congestion_ops {
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	fh_u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, fh_u32 ack, fh_u32 acked);
	void (*set_state)(struct sock *sk, fh_u8 state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	fh_u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, fh_u32 ack, int flag, const struct rate_sample *sample);
	fh_u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	fh_u32 flags;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

#pragma clang attribute pop

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static void *(*bpf_sk_storage_get)(void *map, void *sk, void *value, fh_u64 flags) = (void *)BPF_FUNC_sk_storage_get;
static long (*bpf_sk_storage_delete)(void *map, void *sk) = (void *)BPF_FUNC_sk_storage_delete;
static long (*bpf_setsockopt)(void *sk, int level, int name, void *value, int length) = (void *)BPF_FUNC_setsockopt;
static long (*bpf_skb_load_bytes)(const void *skb, fh_u32 from, void *to, fh_u32 length) = (void *)BPF_FUNC_skb_load_bytes;
static struct bpf_sock *(*bpf_sk_fullsock)(struct bpf_sock *sk) = (void *)BPF_FUNC_sk_fullsock;
static long (*bpf_sock_ops_cb_flags_set)(struct bpf_sock_ops *ctx, int flags) = (void *)BPF_FUNC_sock_ops_cb_flags_set;
static long (*bpf_load_hdr_opt)(struct bpf_sock_ops *ctx, void *option, fh_u32 length, fh_u64 flags) =
	(void *)BPF_FUNC_load_hdr_opt;
static struct tcp_sock *(*bpf_skc_to_tcp_sock)(void *sk) = (void *)BPF_FUNC_skc_to_tcp_sock;
static long (*bpf_seq_printf)(struct seq_file *seq, const char *format, fh_u32 size, const void *data, fh_u32 length) =
	(void *)BPF_FUNC_seq_printf;
#endif
