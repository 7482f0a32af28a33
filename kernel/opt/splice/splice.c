/*
 * splice.c: splice, tee and vmsplice: bytes between a pipe and another file without user memory.
 *
 * Linux moves references of pages; here the bytes go through one kernel page. Programs cannot see
 * the difference, except that SPLICE_F_GIFT and SPLICE_F_MOVE have no effect. The observable rules
 * are the same: at least one end is a pipe, offsets are for ends that have a position, a call waits
 * only for its first bytes, and bytes that the other end does not take stay in the pipe.
 */
#include "fs/open.h"
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "opt/splice/pipe_ends.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"
#include "opt/poll/wait.h"

#define SPLICE_F_NONBLOCK 2
#define SPLICE_F_ALL      15
#define SPLICE_MAX        0x7ffff000UL

struct splice {
    struct file *in, *out;
    i64 *in_pos, *out_pos; /* NULL: the file's own position, or a stream */
    u64 left;
    bool nonblock;
    bool keep; /* tee: the bytes stay in the source */
    char *page;
};

/* Up to one page from a pipe to any file. first: no byte has moved yet, so it may wait. */
static i64 from_pipe(struct splice *s, bool first)
{
    i64 got = pipe_hold(s->in, s->page, MIN(s->left, PAGE_SIZE), s->nonblock || !first), put;
    struct iter it;

    if (got <= 0)
        return got;
    if (pipe_is(s->out)) {
        put = pipe_wait_room(s->out, s->nonblock || !first);
        if (put > 0)
            put = pipe_push(s->out, s->page, MIN(got, put));
    } else {
        iter_kernel(&it, s->page, (u64)got);
        if (BUG(splice_past_limit) && s->out_pos && s->out->ops->write) {
            BUG_NOTE_MORE(splice_past_limit, (u64)*s->out_pos + (u64)got, POS_MAX);
            put = s->out->ops->write(s->out, &it, s->out_pos);
        } else {
            put = file_write(s->out, &it, s->out_pos);
        }
    }
    pipe_unhold(s->in, put > 0 && !s->keep ? (u64)put : 0);
    return put;
}

/* Up to one page from a file to a pipe. */
static i64 to_pipe(struct splice *s, bool first)
{
    i64 n = pipe_wait_room(s->out, s->nonblock || !first);
    struct iter it;

    if (n <= 0)
        return n;
    iter_kernel(&it, s->page, MIN(MIN(s->left, PAGE_SIZE), (u64)n));
    n = file_read(s->in, &it, s->in_pos);
    return n > 0 ? pipe_push(s->out, s->page, (u64)n) : n;
}

/* tee copies at most one page: it leaves the bytes, so a second step would see the same ones. */
static long run(struct splice *s)
{
    bool source = pipe_is(s->in);
    long done = 0, n = 0;

    s->page = kmalloc(PAGE_SIZE);
    if (!s->page)
        return -ENOMEM;
    while (s->left) {
        n = source ? from_pipe(s, !done) : to_pipe(s, !done);
        if (n <= 0)
            break;
        done += n;
        s->left -= (u64)n;
        if (s->keep || (!source && s->in->fflags & FF_STREAM))
            break; /* the next read of a stream might wait */
    }
    kfree(s->page);
    return done ? done : n;
}

/* True if the file has a position; streams have none. */
static bool own_position(const struct file *f)
{
    return !(f->fflags & FF_STREAM);
}

static long check_ends(const struct splice *s, u64 in_addr, u64 out_addr)
{
    if (!(s->in->fflags & FF_READ) || !(s->out->fflags & FF_WRITE))
        return -EBADF;
    if (!pipe_is(s->in) && !pipe_is(s->out))
        return -EINVAL;
    if ((in_addr && !own_position(s->in)) || (out_addr && !own_position(s->out)))
        return -ESPIPE;
    if (s->in->inode == s->out->inode && pipe_is(s->in))
        return -EINVAL;
    return s->out->oflags & O_APPEND ? -EINVAL : 0;
}

static long splice_files(struct splice *s, u64 in_addr, u64 out_addr)
{
    i64 in_pos, out_pos;
    long n = check_ends(s, in_addr, out_addr);

    if (n || !s->left)
        return n;
    if ((in_addr && get_user(in_pos, in_addr)) || (out_addr && get_user(out_pos, out_addr)))
        return -EFAULT;
    if ((in_addr && in_pos < 0) || (out_addr && out_pos < 0))
        return -EINVAL;
    s->in_pos = in_addr ? &in_pos : NULL;
    s->out_pos = out_addr ? &out_pos : NULL;
    n = run(s);
    if (n > 0 &&
        ((in_addr && put_user(in_addr, in_pos)) || (out_addr && put_user(out_addr, out_pos))))
        return -EFAULT;
    return n;
}

long sys_splice(u64 in_fd, u64 in_off, u64 out_fd, u64 out_off, u64 len, u64 flags)
{
    struct splice s = {.left = MIN(len, SPLICE_MAX), .nonblock = flags & SPLICE_F_NONBLOCK};
    long n;

    if (flags & ~(u64)SPLICE_F_ALL)
        return -EINVAL;
    s.in = fd_get((int)in_fd);
    s.out = fd_get((int)out_fd);
    n = s.in && s.out ? splice_files(&s, in_off, out_off) : -EBADF;
    file_put(s.in);
    file_put(s.out);
    return n;
}

long sys_tee(u64 in_fd, u64 out_fd, u64 len, u64 flags)
{
    struct splice s = {.left = MIN(len, SPLICE_MAX), .nonblock = flags & SPLICE_F_NONBLOCK};
    long n;

    if (flags & ~(u64)SPLICE_F_ALL)
        return -EINVAL;
    s.keep = true;
    s.in = fd_get((int)in_fd);
    s.out = fd_get((int)out_fd);
    if (!s.in || !s.out)
        n = -EBADF;
    else
        n = pipe_is(s.in) && pipe_is(s.out) ? splice_files(&s, 0, 0) : -EINVAL;
    file_put(s.in);
    file_put(s.out);
    return n;
}

/* Into a pipe like writev, out of it like readv. */
static long vmsplice_pipe(struct file *f, struct iter *it, bool nonblock)
{
    i64 room;

    if (f->fflags & FF_READ)
        return nonblock && !(file_poll(f, NULL) & (POLLIN | POLLHUP)) ? -EAGAIN
                                                                      : file_read(f, it, NULL);
    room = pipe_wait_room(f, nonblock);
    if (room < 0)
        return room;
    if (nonblock)
        it->left = MIN(it->left, (u64)room);
    return file_write(f, it, NULL);
}

long sys_vmsplice(u64 fd, u64 iov, u64 count, u64 flags)
{
    struct iovec *storage;
    struct file *f;
    struct iter it;
    long n;

    if (flags & ~(u64)SPLICE_F_ALL)
        return -EINVAL;
    n = iter_from_user_iov(&it, iov, count, &storage);
    if (n)
        return n;
    f = fd_get((int)fd);
    if (!f || !pipe_is(f))
        n = -EBADF;
    else
        n = it.left ? vmsplice_pipe(f, &it, flags & SPLICE_F_NONBLOCK) : 0;
    file_put(f);
    kfree(storage);
    return n;
}
