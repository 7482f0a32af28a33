/*
 * sock_options.c: getsockopt(2) and setsockopt(2), level SOL_SOCKET (socket(7)). Most options are
 * about networks: they are checked, stored and shown as on Linux, without effect on local sockets.
 * Divergence: a queue holds UNIX_QUEUE bytes, whatever the value of SO_SNDBUF.
 */
#include "unix.h"
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "syscall.h"
#include "timeout.h"
#include "vm.h"
#include "opt/sockets/errno.h"

enum {
    SOL_SOCKET = 1,

    SO_DEBUG = 1,
    SO_REUSEADDR = 2,
    SO_TYPE = 3,
    SO_ERROR = 4,
    SO_DONTROUTE = 5,
    SO_BROADCAST = 6,
    SO_SNDBUF = 7,
    SO_RCVBUF = 8,
    SO_KEEPALIVE = 9,
    SO_OOBINLINE = 10,
    SO_PRIORITY = 12,
    SO_LINGER = 13,
    SO_PASSCRED = 16,
    SO_PEERCRED = 17,
    SO_RCVLOWAT = 18,
    SO_RCVTIMEO = 20,
    SO_SNDTIMEO = 21,
    SO_TIMESTAMP = 29,
    SO_ACCEPTCONN = 30,
    SO_PROTOCOL = 38,
    SO_DOMAIN = 39,
};

/* Options that are on or off. */
#define FLAGS                                                                                      \
    (1u << SO_DEBUG | 1u << SO_REUSEADDR | 1u << SO_DONTROUTE | 1u << SO_BROADCAST |               \
     1u << SO_KEEPALIVE | 1u << SO_OOBINLINE | 1u << SO_PASSCRED | 1u << SO_TIMESTAMP)

#define BUFFER_MAX    212992 /* net.core.wmem_max, rmem_max */
#define SNDBUF_MIN    4608
#define RCVBUF_MIN    2304
#define PRIORITY_MAX  6          /* without privilege */
#define TIMEOUT_LIMIT (1L << 40) /* seconds */

struct timeval {
    i64 sec, usec;
};

static bool is_flag(u64 option)
{
    return option < 32 && FLAGS >> option & 1;
}

static long set_timeout(u64 *field, u64 value, u64 len)
{
    struct timeval tv;

    if (len < sizeof(tv))
        return -EINVAL;
    if (get_user(tv, value))
        return -EFAULT;
    if (tv.sec < 0 || tv.usec < 0 || tv.usec >= 1000000 || tv.sec > TIMEOUT_LIMIT)
        return -EDOM;
    *field = tv.sec * TICKS_PER_SEC + ns_to_ticks(tv.usec * 1000);
    return 0;
}

/* Like Linux, doubles the requested size: there the other half is for its own data. */
static int buffer_size(int wanted, int least)
{
    return MAX((int)MIN((u32)wanted, BUFFER_MAX) * 2, least);
}

static long set_linger(struct usock *s, u64 value, u64 len)
{
    if (len < sizeof(s->linger))
        return -EINVAL;
    return copyin(s->linger, value, sizeof(s->linger));
}

static long set_flag(struct usock *s, u64 option, int on)
{
    if (option == SO_DEBUG && on && curproc->euid != 0)
        return -EACCES;
    s->options = (s->options & ~(1u << option)) | (u32) !!on << option;
    return 0;
}

static long set_option(struct usock *s, u64 option, u64 value, u64 len)
{
    int n;

    if (option == SO_RCVTIMEO || option == SO_SNDTIMEO)
        return set_timeout(option == SO_RCVTIMEO ? &s->rcv_timeout : &s->snd_timeout, value, len);
    if (len < sizeof(n))
        return -EINVAL;
    if (get_user(n, value))
        return -EFAULT;
    if (is_flag(option))
        return set_flag(s, option, n);
    switch (option) {
    case SO_SNDBUF:
        s->sndbuf = buffer_size(n, SNDBUF_MIN);
        return 0;
    case SO_RCVBUF:
        s->rcvbuf = buffer_size(n, RCVBUF_MIN);
        return 0;
    case SO_PRIORITY:
        if ((n < 0 || n > PRIORITY_MAX) && curproc->euid != 0)
            return -EPERM;
        s->priority = n;
        return 0;
    case SO_RCVLOWAT:
        s->rcvlowat = n < 0 ? 0x7fffffff : MAX(n, 1);
        return 0;
    case SO_LINGER:
        return set_linger(s, value, len);
    default:
        return -ENOPROTOOPT;
    }
}

long sys_setsockopt(u64 fd, u64 level, u64 option, u64 value, u64 len)
{
    long err;
    struct file *f = sock_get(fd, &err);

    if (!f)
        return err;
    if ((i32)len < 0)
        err = -EINVAL;
    else if (level != SOL_SOCKET)
        err = -EOPNOTSUPP;
    else
        err = set_option(unix_of(f), (u32)option, value, len);
    file_put(f);
    return err;
}

static long get_timeout(u64 ticks, struct timeval *tv)
{
    *tv = (struct timeval){(i64)(ticks / TICKS_PER_SEC),
                           (i64)(ticks % TICKS_PER_SEC / (TICKS_PER_SEC / 1000000))};
    return sizeof(*tv);
}

/* Writes the value of an option to out, at most 16 bytes; its size, or -errno. */
static long option_value(const struct usock *s, u64 option, void *out)
{
    int *n = out;

    if (is_flag(option)) {
        *n = s->options >> option & 1;
        return sizeof(*n);
    }
    switch (option) {
    case SO_TYPE:
        *n = s->type;
        break;
    case SO_DOMAIN:
        *n = AF_UNIX;
        break;
    case SO_PROTOCOL:
    case SO_ERROR:
        *n = 0;
        break;
    case SO_ACCEPTCONN:
        *n = s->state == UNIX_LISTENING;
        break;
    case SO_SNDBUF:
        *n = s->sndbuf;
        break;
    case SO_RCVBUF:
        *n = s->rcvbuf;
        break;
    case SO_PRIORITY:
        *n = s->priority;
        break;
    case SO_RCVLOWAT:
        *n = s->rcvlowat;
        break;
    case SO_LINGER:
        memcpy(out, s->linger, sizeof(s->linger));
        return sizeof(s->linger);
    case SO_RCVTIMEO:
    case SO_SNDTIMEO:
        return get_timeout(option == SO_RCVTIMEO ? s->rcv_timeout : s->snd_timeout, out);
    case SO_PEERCRED:
        *(struct ucred *)out = s->peer ? s->peer_cred : (struct ucred){0, ~0u, ~0u};
        return sizeof(struct ucred);
    default:
        return -ENOPROTOOPT;
    }
    return sizeof(*n);
}

long sys_getsockopt(u64 fd, u64 level, u64 option, u64 value, u64 len_addr)
{
    u64 buf[2] = {0};
    i32 have;
    u32 want;
    long n;
    struct file *f = sock_get(fd, &n);

    if (!f)
        return n;
    mutex_lock(&unix_mutex);
    n = level == SOL_SOCKET ? option_value(unix_of(f), (u32)option, buf) : -EOPNOTSUPP;
    mutex_unlock(&unix_mutex);
    file_put(f);
    if (n < 0)
        return n;
    if (get_user(have, len_addr))
        return -EFAULT;
    if (have < 0)
        return -EINVAL;
    want = MIN((u32)have, (u32)n);
    return copyout(value, buf, want) ? -EFAULT : put_user(len_addr, want);
}
