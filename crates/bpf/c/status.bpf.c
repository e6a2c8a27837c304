/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/* The state of each paced connection, one line each; src/connections.rs reads them. */
#include "connection.h"

#define AF_INET 2

struct bpf_iter__tcp {
	union {
		struct bpf_iter_meta *meta;
		fh_u64 : 64;
	};
	union {
		struct sock_common *sk_common;
		fh_u64 : 64;
	};
};

#define PRINT(seq, format, ...)                                                                                        \
	do {                                                                                                           \
		static const char text[] = format;                                                                     \
		fh_u64 values[] = { __VA_ARGS__ };                                                                     \
		bpf_seq_printf(seq, text, sizeof(text), values, sizeof(values));                                       \
	} while (0)

/* This has to be read in each network namespace. iter/bpf_sk_storage_map does not, but some kernels refuse it even to root. */
SEC("iter/tcp")
int fh_status(struct bpf_iter__tcp *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct sock_common *common = ctx->sk_common;
	struct fh_connection *conn;
	struct tcp_sock *tcp;

	if (!common)
		return 0;
	/* NULL unless this is a full socket; one in TIME-WAIT, for example, is not. */
	tcp = bpf_skc_to_tcp_sock(common);
	if (!tcp)
		return 0;
	conn = bpf_sk_storage_get(&fh_connections, tcp, 0, 0);
	if (!conn)
		return 0;
	PRINT(seq, "%u %u %u %u %u ", common->skc_net.net->ns.inum, conn->algorithm, common->skc_state,
	      common->skc_num, __builtin_bswap16(common->skc_dport));
	if (common->skc_family == AF_INET)
		PRINT(seq, "%pI4 %pI4 ", (fh_u64)&common->skc_rcv_saddr, (fh_u64)&common->skc_daddr);
	else
		PRINT(seq, "%pI6c %pI6c ", (fh_u64)&common->skc_v6_rcv_saddr,
		      (fh_u64)&common->skc_v6_daddr);
	PRINT(seq, "%llu %llu %u %u %llu %llu %llu %llu %llu ", conn->pace.rtt, conn->to.path.wired, conn->to.path.hops,
	      conn->pace.variation, conn->pace.average, conn->interval, conn->set_rate, conn->application_rate,
	      conn->samples);
	PRINT(seq, "%u %u %u %u %llu %u %u\n", tcp->mss_cache, tcp->snd_cwnd, tcp->srtt_us, tcp->total_retrans,
	      tcp->bytes_acked, conn->burst, conn->ap2.cwnd);
	return 0;
}
