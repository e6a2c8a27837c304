/* SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0 */
/* The arithmetic, compiled for the host; tests compare it with crates/cc. */
#include "event.h"
