/* wait.h: what all calls that wait for readiness share. */
#pragma once

#include "poll.h"

/* Bits that no file of the core has. */
#define POLLPRI   0x0002
#define POLLNVAL  0x0020
#define POLLRDHUP 0x2000

u32 file_poll(struct file *file, struct poll_table *pt); /* POLLIN | POLLOUT without an operation */

/* Deadline of a struct timespec at a user address (0: none), as time_now() counts; or -errno. */
long deadline_from_user(u64 timespec_addr, u64 *deadline);
/* A signal set argument: 0 or -errno; *set is untouched when addr is 0. */
long sigset_from_user(u64 addr, u64 size, u64 *set);
