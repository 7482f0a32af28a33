/*
 * poll.c: ppoll and pselect6, and functions that all calls waiting for readiness share.
 *
 * One call puts a waiter on every queue of every file, once; then it asks all files for their bits,
 * sleeps, and asks again, until a file is ready, the time is over or a signal arrives.
 */
#include "poll.h"
#include "opt/poll/poll_job.h"
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "klib.h"
#include "proc.h"
#include "signal.h"
#include "syscall.h"
#include "timeout.h"
#include "vm.h"
#include "opt/poll/wait.h"

struct user_timespec {
    i64 sec, nsec;
};

long deadline_from_user(u64 addr, u64 *deadline)
{
    struct user_timespec ts;
    u64 ticks;

    *deadline = WAIT_FOREVER;
    if (!addr)
        return 0;
    if (get_user(ts, addr))
        return -EFAULT;
    if (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= 1000000000)
        return -EINVAL;
    if (ts.sec > 100L * 365 * 86400)
        return 0;
    ticks = ts.sec * TICKS_PER_SEC + ns_to_ticks(ts.nsec);
    *deadline = time_now() + ticks;
    return 0;
}

/* Linux writes the time left back; a C library whose callers must not see that passes a copy. */
void put_time_left(u64 addr, u64 deadline)
{
    struct user_timespec ts = {0, 0};
    u64 now = time_now();

    if (!addr || deadline == WAIT_FOREVER)
        return;
    if (deadline > now) {
        ts.sec = (deadline - now) / TICKS_PER_SEC;
        ts.nsec = (deadline - now) % TICKS_PER_SEC * NS_PER_TICK;
    }
    put_user(addr, ts);
}

long sigset_from_user(u64 addr, u64 size, u64 *set)
{
    if (!addr)
        return 0;
    if (size != sizeof(*set))
        return -EINVAL;
    return get_user(*set, addr);
}

u32 file_poll(struct file *file, struct poll_table *pt)
{
    if (!file->ops->poll)
        return POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
    return file->ops->poll(file, pt);
}

#define WAITERS_PER_BLOCK 24

struct waiter_block {
    struct waiter_block *next;
    u32 used;
    struct waiter w[WAITERS_PER_BLOCK];
};

struct poll_set {
    struct poll_table pt;
    struct waiter_block *blocks;
};

static void set_add(struct poll_table *pt, struct waitq *queue)
{
    struct poll_set *set = container_of(pt, struct poll_set, pt);
    struct waiter_block *b = set->blocks;

    if (!b || b->used == WAITERS_PER_BLOCK) {
        b = kzalloc(sizeof(*b));
        if (!b) {
            pt->failed = true;
            return;
        }
        b->next = set->blocks;
        set->blocks = b;
    }
    waiter_init(&b->w[b->used]);
    waitq_add(queue, &b->w[b->used++]);
}

static void set_free(struct poll_set *set)
{
    while (set->blocks) {
        struct waiter_block *b = set->blocks;

        set->blocks = b->next;
        for (u32 i = 0; i < b->used; i++)
            waitq_remove(&b->w[i]);
        kfree(b);
    }
}

/* Fills in revents; returns how many are not 0. With pt, adds waiters until one file is ready. */
static long ask_all(struct poll_job *job, struct poll_table *pt)
{
    long ready = 0;

    for (u32 i = 0; i < job->n; i++) {
        struct pollfd *p = &job->fds[i];
        u32 want = (u16)p->events | POLLERR | POLLHUP;

        if (p->fd < 0)
            p->revents = 0;
        else if (!job->files[i])
            p->revents = POLLNVAL;
        else
            p->revents = (i16)(file_poll(job->files[i], ready ? NULL : pt) & want);
        ready += p->revents != 0;
    }
    return ready;
}

static long wait_ready(struct poll_job *job, u64 deadline)
{
    struct poll_set set = {.pt.add = set_add};
    long ready = ask_all(job, &set.pt), err = 0;

    if (set.pt.failed)
        ready = -ENOMEM;
    while (!ready && !err) {
        sleep_prepare(SLEEP_INTERRUPTIBLE);
        ready = ask_all(job, NULL);
        if (ready)
            sleep_cancel();
        else
            err = sleep_commit(deadline);
    }
    if (!ready && err == -ETIMEDOUT) {
        ready = ask_all(job, NULL);
        err = 0;
    }
    set_free(&set);
    return ready ? ready : err;
}

/* The wait with a temporary signal mask; the delivery of a signal restores the old one itself. */
long wait_masked(struct poll_job *job, u64 deadline, u64 mask_addr, u64 mask_size)
{
    u64 mask = 0;
    long n = sigset_from_user(mask_addr, mask_size, &mask);

    if (n)
        return n;
    if (mask_addr)
        signal_mask_begin(mask);
    n = wait_ready(job, deadline);
    if (n == -ERESTARTSYS)
        n = -ERESTARTNOHAND;
    else if (mask_addr)
        signal_mask_end();
    return n;
}

long job_begin(struct poll_job *job, u32 n)
{
    job->n = n;
    job->fds = kzalloc(MAX(n, 1) * sizeof(*job->fds));
    job->files = kzalloc(MAX(n, 1) * sizeof(*job->files));
    return job->fds && job->files ? 0 : -ENOMEM;
}

void job_open(struct poll_job *job)
{
    for (u32 i = 0; i < job->n; i++)
        job->files[i] = job->fds[i].fd < 0 ? NULL : fd_get(job->fds[i].fd);
}

void job_end(struct poll_job *job)
{
    for (u32 i = 0; job->files && i < job->n; i++)
        file_put(job->files[i]);
    kfree(job->fds);
    kfree(job->files);
}

#define RLIMIT_NOFILE 7

long sys_ppoll(u64 fds_addr, u64 n, u64 timeout, u64 mask_addr, u64 mask_size)
{
    struct poll_job job;
    u64 deadline;
    long ready;

    if (n > rlimit_get(RLIMIT_NOFILE))
        return -EINVAL;
    ready = deadline_from_user(timeout, &deadline);
    if (ready)
        return ready;
    ready = job_begin(&job, (u32)n);
    if (!ready)
        ready = copyin(job.fds, fds_addr, n * sizeof(*job.fds));
    if (!ready) {
        job_open(&job);
        ready = wait_masked(&job, deadline, mask_addr, mask_size);
        put_time_left(timeout, deadline);
    }
    for (u32 i = 0; ready >= 0 && i < n; i++)
        if (put_user(fds_addr + i * sizeof(*job.fds) + 6, job.fds[i].revents))
            ready = -EFAULT;
    job_end(&job);
    return ready;
}
