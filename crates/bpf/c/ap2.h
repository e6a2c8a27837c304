/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/*
 * AP2 as a congestion control that sets window and rate; the kernel controls recovery and retransmissions.
 *
 * A burst is what min_tso_segs lets the kernel hand down as one buffer; the kernel spaces buffers by their length. Until
 * the window has room for a whole burst, the kernel sees a window no larger than what is in flight, so the burst waits.
 */
#ifndef FOURHOP_AP2_PROGRAMS_H
#define FOURHOP_AP2_PROGRAMS_H

enum { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1 };
enum { TCP_CA_CWR = 2, TCP_CA_LOSS = 4 };

static inline fh_u32 in_flight(const struct tcp_sock *tcp)
{
	return tcp->packets_out - tcp->sacked_out - tcp->lost_out + tcp->retrans_out;
}

/* Opens the window, or closes it while it has no room for a burst or the rest of one. Lost segments are retransmitted
 * whatever room there is. The kernel hands down at most half a window, so a pair out of a window of two or three segments
 * needs a larger window. */
static inline int open_window(struct tcp_sock *tcp, const struct fh_connection *conn)
{
	fh_u32 out = in_flight(tcp), cwnd = conn->ap2.cwnd, mss = tcp->mss_cache ? tcp->mss_cache : 1;
	fh_u32 waiting = (tcp->write_seq - tcp->snd_nxt + mss - 1) / mss;
	fh_u32 sent = tcp->data_segs_out - conn->burst_from;
	fh_u32 wanted = sent < conn->ap2.burst ? conn->ap2.burst - sent : conn->ap2.burst;
	int closed;

	/* Half a pair in flight gets the other half: a receiver that delays acknowledgements waits for it. */
	if (wanted == 2 && conn->ap2.burst == 2 && out % 2)
		wanted = 1;
	if (waiting < wanted)
		wanted = waiting;
	closed = out && !tcp->lost_out && wanted && out + wanted > cwnd;
	if (closed)
		cwnd = out;
	else if (!tcp->lost_out && cwnd < 2 * wanted)
		cwnd = 2 * wanted;
	if (tcp->snd_cwnd != cwnd)
		tcp->snd_cwnd = cwnd;
	return !closed && sent >= conn->ap2.burst;
}

/* Apply the algorithm's state to the socket, and keep it for `status`. */
static inline void follow(struct sock *sk, struct fh_connection *conn)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	fh_u64 rate;

	open_window(tcp, conn);
	conn->application_rate = sk->sk_max_pacing_rate;
	conn->burst = conn->ap2.burst;
	conn->interval = conn->ap2.interval;
	conn->pace.rtt = conn->ap2.newest * 1000;
	if (!conn->interval)
		return;
	rate = fh_rate(conn->interval, tcp->mss_cache);
	if (rate > conn->application_rate)
		rate = conn->application_rate;
	conn->set_rate = rate;
	sk->sk_pacing_rate = rate;
}

SEC("struct_ops")
void fh_init_ap2(fh_u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	fh_u32 cwnd = tcp->snd_cwnd;
	struct fh_connection *conn = begin(sk, FH_AP2);

	if (!conn) {
		/* Not a configured destination: all that is known of the path comes from packets. */
		conn = bpf_sk_storage_get(&fh_connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (!conn)
			return;
		conn->algorithm = FH_AP2;
		conn->to.hops_by_ttl = 1;
	}
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	conn->delivered = tcp->delivered;
	conn->lost = tcp->lost;
	fh_ap2_begin(&conn->ap2, tcp->tcp_mstamp * 1000, (fh_u64)tcp->srtt_us * 125, cwnd);
	conn->ap2.round_delivered = conn->delivered;
	fh_ap2_learn(&conn->ap2, conn->to.link, conn->to.path.hops);
	follow(sk, conn);
}

SEC("struct_ops")
void fh_control_ap2(fh_u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct rate_sample *sample = (const struct rate_sample *)ctx[3];
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct fh_connection *conn = connection(sk);
	struct fh_delivered ack = {};
	long rtt = sample->rtt_us;

	/* Before the first data, or without memory: leave the window as it is. */
	if (!conn)
		return;
	conn->samples++;
	conn->delivered += (fh_u32)(tcp->delivered - (fh_u32)conn->delivered);
	fh_ap2_lost(&conn->ap2, tcp->lost - conn->lost);
	conn->lost = tcp->lost;
	/* The kernel does not store per segment what was in flight when it left; the maximum of two rounds is close. */
	if (conn->ap2.round_at != conn->peak_round) {
		conn->peak_round = conn->ap2.round_at;
		conn->peak_before = conn->peak;
		conn->peak = 0;
	}
	if (sample->prior_in_flight > conn->peak)
		conn->peak = sample->prior_in_flight;
	ack.now = tcp->tcp_mstamp * 1000;
	ack.total = conn->delivered;
	ack.prior = conn->delivered - (fh_u32)(tcp->delivered - sample->prior_delivered);
	ack.rtt = rtt > 0 ? (fh_u64)rtt * 1000 : 0;
	ack.acked = sample->acked_sacked;
	ack.left = in_flight(tcp);
	ack.in_flight = conn->peak > conn->peak_before ? conn->peak : conn->peak_before;
	ack.has_data = sample->prior_mstamp != 0;
	ack.cwnd_limited = sample->prior_in_flight >= conn->ap2.cwnd;
	fh_ap2_learn(&conn->ap2, conn->to.link, conn->to.path.hops);
	fh_ap2_ack(&conn->ap2, &ack);
	follow(sk, conn);
}

SEC("struct_ops")
void fh_state_ap2(fh_u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct fh_connection *conn = connection(sk);

	if (!conn)
		return;
	/* Congestion without a loss: a mark, once per window, or a full queue on this host. */
	if (ctx[1] == TCP_CA_CWR)
		fh_ap2_mark(&conn->ap2);
	else if (ctx[1] == TCP_CA_LOSS)
		fh_ap2_timeout(&conn->ap2, in_flight(tcp));
	else
		return;
	follow(sk, conn);
}

/* Sending starts with nothing in flight. */
SEC("struct_ops")
void fh_event_ap2(fh_u64 *ctx)
{
	struct tcp_sock *tcp = (struct tcp_sock *)ctx[0];
	struct fh_connection *conn = connection((struct sock *)ctx[0]);

	if (conn && ctx[1] == CA_EVENT_TX_START && tcp->app_limited)
		fh_ap2_restart(&conn->ap2, tcp->tcp_mstamp * 1000);
}

/* The kernel calls this before it sends. */
SEC("struct_ops")
fh_u32 fh_burst_ap2(fh_u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct fh_connection *conn = connection(sk);

	if (!conn)
		return 1;
	if (open_window(tcp, conn))
		conn->burst_from = tcp->data_segs_out;
	return conn->ap2.burst;
}

/* Changes nothing: `fh_control_ap2` sets the window. */
SEC("struct_ops")
fh_u32 fh_undo_ap2(fh_u64 *ctx)
{
	return ((struct tcp_sock *)ctx[0])->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops fh_ap2 = {
	.init = (void *)fh_init_ap2,
	.release = (void *)fh_release,
	.ssthresh = (void *)fh_ssthresh,
	.set_state = (void *)fh_state_ap2,
	.cwnd_event = (void *)fh_event_ap2,
	.cong_control = (void *)fh_control_ap2,
	.min_tso_segs = (void *)fh_burst_ap2,
	.undo_cwnd = (void *)fh_undo_ap2,
	.flags = FH_FLAGS,
	.name = "fh_ap2",
};

#endif
