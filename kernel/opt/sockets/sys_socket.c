/*
 * sys_socket.c: the socket system calls, for AF_UNIX, the only family. Layouts are those of Linux
 * on riscv64.
 */
#include "unix.h"
#include "abi/fcntl.h"
#include "abi/errno.h"
#include "fs/open.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "proc.h"
#include "scm.h"
#include "syscall.h"
#include "timeout.h"
#include "vm.h"
#include "opt/sockets/errno.h"
#include "opt/poll/wait.h"

#define SOCK_TYPE     0xf
#define SOCK_NONBLOCK O_NONBLOCK
#define SOCK_CLOEXEC  O_CLOEXEC

#define FIONREAD 0x541b

static struct usock *sock_of(struct file *f)
{
    return f->priv;
}

static i64 sock_read(struct file *file, struct iter *to, i64 *pos)
{
    struct unix_recv how = {.nonblock = file->oflags & O_NONBLOCK};
    i64 n = unix_receive(sock_of(file), to, &how);

    scm_drop(how.files, how.nfiles);
    return n;
}

static i64 sock_write(struct file *file, struct iter *from, i64 *pos)
{
    struct unix_send how = {.nonblock = file->oflags & O_NONBLOCK};

    return unix_send(sock_of(file), from, &how);
}

static u32 sock_poll(struct file *file, struct poll_table *pt)
{
    struct usock *s = sock_of(file);
    u32 bits;

    poll_wait(pt, &s->wait);
    mutex_lock(&unix_mutex);
    bits = unix_ready(s);
    mutex_unlock(&unix_mutex);
    return bits;
}

static i64 sock_available(struct file *file)
{
    return sock_of(file)->rx_bytes;
}

static long sock_ioctl(struct file *file, u32 cmd, u64 arg)
{
    int n = (int)MIN(sock_of(file)->rx_bytes, 0x7fffffff);

    return cmd == FIONREAD ? put_user(arg, n) : -ENOTTY;
}

static void sock_release(struct file *file)
{
    unix_close(sock_of(file));
}

static const struct file_ops sock_fops = {
    .read = sock_read,
    .write = sock_write,
    .poll = sock_poll,
    .available = sock_available,
    .ioctl = sock_ioctl,
    .release = sock_release,
};

struct usock *unix_of(const struct file *file)
{
    return file->ops == &sock_fops ? file->priv : NULL;
}

struct file *sock_get(u64 fd, long *err)
{
    struct file *f = fd_get((int)fd);

    *err = !f ? -EBADF : f->ops != &sock_fops ? -ENOTSOCK : 0;
    if (*err) {
        file_put(f);
        return NULL;
    }
    return f;
}

/* Makes a file for s at the lowest descriptor. Takes over the reference, also on failure. */
static long sock_install(struct usock *s, u64 flags)
{
    struct file *f =
        file_anon("socket", S_IFSOCK | 0777, &sock_fops, s, O_RDWR | (flags & SOCK_NONBLOCK));

    if (!f) {
        unix_close(s);
        return -ENFILE;
    }
    return fd_install(f, (u32)flags);
}

static long check_kind(u64 family, u64 type, u64 protocol)
{
    u32 kind = type & SOCK_TYPE;

    if (family != AF_UNIX)
        return -EAFNOSUPPORT;
    if (type & ~(u64)(SOCK_TYPE | SOCK_NONBLOCK | SOCK_CLOEXEC))
        return -EINVAL;
    if (protocol > 1)
        return -EPROTONOSUPPORT;
    return kind == SOCK_STREAM || kind == SOCK_DGRAM || kind == SOCK_SEQPACKET ? 0
                                                                               : -ESOCKTNOSUPPORT;
}

long sys_socket(u64 family, u64 type, u64 protocol)
{
    long err = check_kind(family, type, protocol);
    struct usock *s = err ? NULL : unix_new(type & SOCK_TYPE);

    if (err)
        return err;
    return s ? sock_install(s, type) : -ENOMEM;
}

long sys_socketpair(u64 family, u64 type, u64 protocol, u64 fds_addr)
{
    struct usock *a, *b;
    long err = check_kind(family, type, protocol);
    int fd[2];

    if (err)
        return err;
    a = unix_new(type & SOCK_TYPE);
    b = unix_new(type & SOCK_TYPE);
    if (!a || !b) {
        unix_put(a);
        unix_put(b);
        return -ENOMEM;
    }
    unix_pair(a, b);
    fd[0] = (int)sock_install(a, type);
    fd[1] = (int)sock_install(b, type);
    err = fd[0] < 0 ? fd[0] : fd[1] < 0 ? fd[1] : copyout(fds_addr, fd, sizeof(fd));
    for (int i = 0; err && i < 2; i++)
        if (fd[i] >= 0)
            fd_close(fd[i]);
    return err;
}

/* struct sockaddr_un: a 16-bit family, then the path, NUL-terminated or not. */
static long addr_from_user(u64 addr, u64 len, struct unix_addr *out)
{
    u16 family;

    memset(out, 0, sizeof(*out));
    if (len < sizeof(family) || (!BUG(unix_path_length) && len > sizeof(family) + UNIX_PATH_MAX))
        return -EINVAL;
    BUG_NOTE_MORE(unix_path_length, len, sizeof(family) + UNIX_PATH_MAX);
    if (get_user(family, addr))
        return -EFAULT;
    if (family != AF_UNIX)
        return -EINVAL;
    out->len = (u32)(len - sizeof(family));
    if (copyin(out->path, addr + sizeof(family), out->len))
        return -EFAULT;
    for (u32 i = 0; out->path[0] && i < out->len; i++)
        if (!out->path[i])
            out->len = i;
    if (out->len == UNIX_PATH_MAX && out->path[0])
        return -ENAMETOOLONG;
    return 0;
}

static long addr_to_user(const struct unix_addr *a, u64 addr, u64 len_addr)
{
    u8 buf[2 + UNIX_PATH_MAX + 1] = {AF_UNIX, 0};
    u32 have, want = 2 + a->len + (a->len && a->path[0] ? 1 : 0);

    if (!addr)
        return 0;
    if (get_user(have, len_addr))
        return -EFAULT;
    if (!BUG(getsockname_negative_length) && (i32)have < 0)
        return -EINVAL;
    BUG_NOTE(getsockname_negative_length, have >> 31);
    memcpy(buf + 2, a->path, a->len);
    if (copyout(addr, buf,
                BUG(getsockname_negative_length) ? (u32)MIN((i32)have, (i32)want)
                                                 : MIN(have, want)))
        return -EFAULT;
    return put_user(len_addr, want);
}

long sys_bind(u64 fd, u64 addr, u64 len)
{
    struct unix_addr a;
    long err;
    struct file *f = sock_get(fd, &err);

    if (!f)
        return err;
    err = addr_from_user(addr, len, &a);
    if (!err)
        err = unix_bind(sock_of(f), &a);
    file_put(f);
    return err;
}

long sys_listen(u64 fd, u64 backlog)
{
    long err;
    struct file *f = sock_get(fd, &err);

    if (!f)
        return err;
    err = unix_listen(sock_of(f), (u32)backlog);
    file_put(f);
    return err;
}

long sys_connect(u64 fd, u64 addr, u64 len)
{
    struct unix_addr a;
    long err;
    struct file *f = sock_get(fd, &err);

    if (!f)
        return err;
    err = addr_from_user(addr, len, &a);
    if (!err)
        err = unix_connect(sock_of(f), &a, f->oflags & O_NONBLOCK);
    file_put(f);
    return err;
}

long sys_accept4(u64 fd, u64 addr, u64 len_addr, u64 flags)
{
    struct usock *s = NULL;
    struct unix_addr from = {0};
    long err;
    struct file *f;

    if (flags & ~(u64)(SOCK_NONBLOCK | SOCK_CLOEXEC))
        return -EINVAL;
    f = sock_get(fd, &err);
    if (!f)
        return err;
    err = unix_accept(sock_of(f), f->oflags & O_NONBLOCK, &s);
    file_put(f);
    if (err)
        return err;
    mutex_lock(&unix_mutex);
    if (s->peer)
        from = s->peer->addr;
    mutex_unlock(&unix_mutex);
    err = addr_to_user(&from, addr, len_addr);
    if (err) {
        unix_close(s);
        return err;
    }
    return sock_install(s, flags);
}

long sys_accept(u64 fd, u64 addr, u64 len_addr)
{
    return sys_accept4(fd, addr, len_addr, 0);
}

static long name_of(u64 fd, u64 addr, u64 len_addr, bool peer)
{
    struct unix_addr a;
    struct usock *s;
    long err;
    struct file *f = sock_get(fd, &err);

    if (!f)
        return err;
    mutex_lock(&unix_mutex);
    s = peer ? sock_of(f)->peer : sock_of(f);
    if (s)
        a = s->addr;
    mutex_unlock(&unix_mutex);
    err = s ? addr_to_user(&a, addr, len_addr) : -ENOTCONN;
    file_put(f);
    return err;
}

long sys_getsockname(u64 fd, u64 addr, u64 len_addr)
{
    return name_of(fd, addr, len_addr, false);
}

long sys_getpeername(u64 fd, u64 addr, u64 len_addr)
{
    return name_of(fd, addr, len_addr, true);
}

long sys_shutdown(u64 fd, u64 how)
{
    long err;
    struct file *f = sock_get(fd, &err);

    if (!f)
        return err;
    err = unix_shutdown(sock_of(f), (int)how);
    file_put(f);
    return err;
}

static long send_iter(struct file *f, struct iter *it, u64 flags, u64 addr, u64 addr_len,
                      struct unix_send *how)
{
    struct usock *s = sock_of(f);
    struct unix_addr a;
    i64 n = 0;

    how->nonblock = f->oflags & O_NONBLOCK || flags & MSG_DONTWAIT;
    how->no_signal = flags & MSG_NOSIGNAL;
    if (flags & MSG_OOB)
        n = -EOPNOTSUPP;
    else if (addr && s->type != SOCK_DGRAM)
        n = s->peer ? -EISCONN : -EOPNOTSUPP;
    else if (addr)
        n = addr_from_user(addr, addr_len, &a);
    if (!n && addr)
        n = unix_find(&a, s->type, &how->to);
    if (n)
        scm_drop(how->files, how->nfiles);
    else
        n = unix_send(s, it, how);
    unix_put(how->to);
    return n;
}

long sys_sendto(u64 fd, u64 buf, u64 len, u64 flags, u64 addr, u64 addr_len)
{
    struct unix_send how = {0};
    struct iter it;
    long n;
    struct file *f = sock_get(fd, &n);

    if (!f)
        return n;
    iter_user(&it, buf, MIN(len, 0x7ffff000UL));
    n = send_iter(f, &it, flags, addr, addr_len, &how);
    file_put(f);
    return n;
}

long sys_recvfrom(u64 fd, u64 buf, u64 len, u64 flags, u64 addr, u64 len_addr)
{
    struct unix_recv how = {.peek = flags & MSG_PEEK, .waitall = flags & MSG_WAITALL};
    struct iter it;
    long n;
    struct file *f = sock_get(fd, &n);

    if (!f)
        return n;
    how.nonblock = f->oflags & O_NONBLOCK || flags & MSG_DONTWAIT;
    iter_user(&it, buf, MIN(len, 0x7ffff000UL));
    n = flags & MSG_OOB ? -EOPNOTSUPP : unix_receive(sock_of(f), &it, &how);
    scm_drop(how.files, how.nfiles);
    if (n >= 0 && how.truncated && flags & MSG_TRUNC)
        n = how.full_len;
    if (n >= 0 && addr && addr_to_user(&how.from, addr, len_addr))
        n = -EFAULT;
    file_put(f);
    return n;
}

struct msghdr { /* ABI */
    u64 name;
    u32 namelen, pad1;
    u64 iov, iovlen;
    u64 control, controllen;
    i32 flags, pad2;
};

long sys_sendmsg(u64 fd, u64 msg, u64 flags)
{
    struct unix_send how = {0};
    struct iovec *storage = NULL;
    struct msghdr h;
    struct iter it;
    long n;
    struct file *f = sock_get(fd, &n);

    if (!f)
        return n;
    n = get_user(h, msg);
    if (!n)
        n = iter_from_user_iov(&it, h.iov, h.iovlen, &storage);
    if (!n && h.controllen)
        n = scm_collect(h.control, h.controllen, &how.files, &how.nfiles);
    if (!n)
        n = send_iter(f, &it, flags, h.name, h.namelen, &how);
    kfree(storage);
    file_put(f);
    return n;
}

long sys_recvmsg(u64 fd, u64 msg, u64 flags)
{
    struct unix_recv how = {.peek = flags & MSG_PEEK, .waitall = flags & MSG_WAITALL};
    struct iovec *storage = NULL;
    struct msghdr h;
    struct iter it;
    long n;
    struct file *f = sock_get(fd, &n);

    if (!f)
        return n;
    how.nonblock = f->oflags & O_NONBLOCK || flags & MSG_DONTWAIT;
    n = get_user(h, msg);
    if (!n)
        n = iter_from_user_iov(&it, h.iov, h.iovlen, &storage);
    if (!n)
        n = flags & MSG_OOB ? -EOPNOTSUPP : unix_receive(sock_of(f), &it, &how);
    if (BUG(recvmsg_early_put)) {
        BUG_NOTE_MORE(recvmsg_early_put, 2, (u32)f->refs);
        file_put(f);
    }
    if (n >= 0) {
        h.flags = how.truncated ? MSG_TRUNC : 0;
        if (how.truncated && flags & MSG_TRUNC)
            n = how.full_len;
        scm_deliver(sock_of(f)->options & UNIX_PASSCRED, &how, flags & MSG_CMSG_CLOEXEC, h.control,
                    &h.controllen, &h.flags);
        if (h.name && addr_to_user(&how.from, h.name, msg + offsetof(struct msghdr, namelen)))
            n = -EFAULT;
        if (put_user(msg + offsetof(struct msghdr, controllen), h.controllen) ||
            put_user(msg + offsetof(struct msghdr, flags), h.flags))
            n = -EFAULT;
    }
    scm_drop(how.files, how.nfiles);
    kfree(storage);
    if (!BUG(recvmsg_early_put))
        file_put(f);
    return n;
}

/* sendmmsg and recvmmsg: struct mmsghdr is a msghdr followed by the length of that message. */
#define MMSGHDR_SIZE   64
#define MMSGHDR_LEN    56
#define MSG_WAITFORONE 0x10000

static long each_message(u64 fd, u64 vec, u64 count, u64 flags,
                         long (*one)(u64 fd, u64 msg, u64 flags))
{
    long n = 0;
    u32 done = 0;

    for (; done < MIN(count, IOV_MAX); done++, vec += MMSGHDR_SIZE) {
        u32 len;

        n = one(fd, vec, flags & ~(u64)MSG_WAITFORONE);
        if (n < 0)
            break;
        len = (u32)n;
        if (put_user(vec + MMSGHDR_LEN, len))
            return -EFAULT;
        if (flags & MSG_WAITFORONE)
            flags |= MSG_DONTWAIT;
    }
    return done ? done : n;
}

long sys_sendmmsg(u64 fd, u64 vec, u64 count, u64 flags)
{
    return each_message(fd, vec, count, flags, sys_sendmsg);
}

/*
 * Divergence: Linux checks the time limit between messages; here one with a limit waits for the
 * first message only.
 */
long sys_recvmmsg(u64 fd, u64 vec, u64 count, u64 flags, u64 timeout)
{
    u64 deadline;
    long err = deadline_from_user(timeout, &deadline);

    if (err)
        return err;
    return each_message(fd, vec, count, timeout ? flags | MSG_WAITFORONE : flags, sys_recvmsg);
}
