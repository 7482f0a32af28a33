/* select.c: pselect6(2): three sets of bits become one list of pollfd, and back. */
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "opt/poll/poll_job.h"
#include "poll.h"
#include "syscall.h"
#include "vm.h"
#include "opt/poll/wait.h"

/* pselect6: three bit sets become one list of pollfd and back. */
enum { SET_READ, SET_WRITE, SET_EXCEPT, SETS };

static const u16 set_events[SETS] = {POLLIN | POLLRDNORM | POLLHUP, POLLOUT | POLLWRNORM, POLLPRI};
static const u16 set_ready[SETS] = {POLLIN | POLLRDNORM | POLLHUP | POLLERR,
                                    POLLOUT | POLLWRNORM | POLLERR, POLLPRI};

struct select_sets {
    u64 addr[SETS];
    u64 *bits[SETS]; /* of `words` words each */
    u64 words;
};

static long sets_begin(struct select_sets *s, u64 n)
{
    long err = 0;

    s->words = (n + 63) / 64;
    for (int i = 0; i < SETS; i++) {
        s->bits[i] = kzalloc(MAX(s->words, 1) * 8);
        if (!s->bits[i])
            err = -ENOMEM;
        else if (s->addr[i] && !err)
            err = copyin(s->bits[i], s->addr[i], s->words * 8);
    }
    return err;
}

static bool in_set(const struct select_sets *s, int which, u32 fd)
{
    return s->bits[which][fd / 64] >> (fd % 64) & 1;
}

static u16 wanted_events(const struct select_sets *s, u32 fd)
{
    u16 events = 0;

    for (int i = 0; i < SETS; i++)
        if (in_set(s, i, fd))
            events |= set_events[i];
    return events;
}

/* Clears the bits of files that are not ready; returns the number of bits left (select(2)). */
static long collect_bits(struct select_sets *s, const struct poll_job *job)
{
    long n = 0;

    for (u32 j = 0; j < job->n; j++) {
        u32 fd = (u32)job->fds[j].fd;

        for (int i = 0; i < SETS; i++) {
            bool ready = in_set(s, i, fd) && (u16)job->fds[j].revents & set_ready[i];

            if (!ready)
                s->bits[i][fd / 64] &= ~(1UL << (fd % 64));
            n += ready;
        }
    }
    return n;
}

static long select_files(struct select_sets *s, struct poll_job *job, u32 n)
{
    u32 count = 0;

    for (u32 fd = 0; fd < n; fd++) {
        u16 events = wanted_events(s, fd);

        if (!events)
            continue;
        job->fds[count].fd = (i32)fd;
        job->fds[count++].events = (i16)events;
    }
    job->n = count;
    job_open(job);
    for (u32 i = 0; i < count; i++)
        if (!job->files[i])
            return -EBADF;
    return 0;
}

long sys_pselect6(u64 n, u64 rd, u64 wr, u64 ex, u64 timeout, u64 mask_arg)
{
    struct select_sets s = {.addr = {rd, wr, ex}};
    struct poll_job job = {0};
    u64 mask[2] = {0, 0}, deadline;
    long ready;

    if ((i64)n < 0 || n > 65536)
        return -EINVAL;
    if (mask_arg && copyin(mask, mask_arg, sizeof(mask)))
        return -EFAULT;
    ready = deadline_from_user(timeout, &deadline);
    if (ready)
        return ready;
    ready = sets_begin(&s, n);
    if (!ready)
        ready = job_begin(&job, (u32)n);
    if (!ready)
        ready = select_files(&s, &job, (u32)n);
    if (!ready) {
        ready = wait_masked(&job, deadline, mask[0], mask[1]);
        put_time_left(timeout, deadline);
    }
    if (ready >= 0)
        ready = collect_bits(&s, &job);
    for (int i = 0; i < SETS; i++) {
        if (ready >= 0 && s.addr[i] && copyout(s.addr[i], s.bits[i], s.words * 8))
            ready = -EFAULT;
        kfree(s.bits[i]);
    }
    job_end(&job);
    return ready;
}
