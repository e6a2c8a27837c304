/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/* Events of an AP2 connection, for tests that feed both the host's arithmetic and the kernel's. */
#ifndef FOURHOP_EVENT_H
#define FOURHOP_EVENT_H

#include "fourhop_ap2.h"

enum { FH_BEGIN = 0, FH_ACK = 1, FH_LOST = 2, FH_MARK = 3, FH_TIMEOUT = 4, FH_LEARN = 5, FH_RESTART = 6 };

struct fh_event {
	fh_u64 kind;
	fh_u64 number; /* segments, or hops */
	fh_u64 link;
	struct fh_delivered ack;
};

FH_FUNCTION int fh_ap2_event(struct fh_ap2 *ap2, const struct fh_event *event)
{
	if (!ap2 || !event)
		return 0;
	if (event->kind == FH_BEGIN)
		fh_ap2_begin(ap2, event->ack.now, event->ack.rtt, event->number);
	else if (event->kind == FH_ACK)
		fh_ap2_ack(ap2, &event->ack);
	else if (event->kind == FH_LOST)
		fh_ap2_lost(ap2, event->number);
	else if (event->kind == FH_MARK)
		fh_ap2_mark(ap2);
	else if (event->kind == FH_TIMEOUT)
		fh_ap2_timeout(ap2, event->number);
	else if (event->kind == FH_LEARN)
		fh_ap2_learn(ap2, event->link, event->number);
	else if (event->kind == FH_RESTART)
		fh_ap2_restart(ap2, event->ack.now);
	return 0;
}

#endif
