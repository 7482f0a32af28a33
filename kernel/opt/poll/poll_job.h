/* poll_job.h: a call that waits for several files, for ppoll and select. */
#pragma once

#include "types.h"

struct file;

struct pollfd { /* ABI */
    i32 fd;
    i16 events, revents;
};

/* The data of a call, which holds a reference of each file until it returns. */
struct poll_job {
    struct pollfd *fds;
    struct file **files;
    u32 n;
};

long job_begin(struct poll_job *job, u32 n); /* room for n files; -ENOMEM */
void job_open(struct poll_job *job);         /* takes a reference of each file */
void job_end(struct poll_job *job);          /* also after a failure */
/* The wait with a temporary signal mask; the delivery of a signal restores the old one itself. */
long wait_masked(struct poll_job *job, u64 deadline, u64 mask_addr, u64 mask_size);
/* Linux writes the time left back; a C library whose callers must not see that passes a copy. */
void put_time_left(u64 addr, u64 deadline);
