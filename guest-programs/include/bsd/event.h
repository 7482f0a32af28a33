/*
 * kqueue(2) over epoll(7), all in this header: a kqueue descriptor is an epoll descriptor, so one
 * kqueue can be watched by another and the kernel's nested wake-ups (which OpenBSD defers to a task
 * queue) are real.
 *
 * Filters: EVFILT_READ, EVFILT_WRITE, EVFILT_TIMER (timerfd), EVFILT_USER (eventfd).
 * Divergence: EVFILT_PROC, EVFILT_SIGNAL, EVFILT_VNODE and EVFILT_AIO give EINVAL; a process has
 * room for 64 registrations; a registration for reading and one for writing of the same descriptor
 * are one in epoll.
 */
#ifndef KCOVBOX_BSD_EVENT_H
#define KCOVBOX_BSD_EVENT_H

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define EVFILT_READ   (-1)
#define EVFILT_WRITE  (-2)
#define EVFILT_AIO    (-3)
#define EVFILT_VNODE  (-4)
#define EVFILT_PROC   (-5)
#define EVFILT_SIGNAL (-6)
#define EVFILT_TIMER  (-7)
#define EVFILT_DEVICE (-8)
#define EVFILT_EXCEPT (-9)
#define EVFILT_USER   (-10)

#define EV_ADD      0x0001
#define EV_DELETE   0x0002
#define EV_ENABLE   0x0004
#define EV_DISABLE  0x0008
#define EV_ONESHOT  0x0010
#define EV_CLEAR    0x0020
#define EV_RECEIPT  0x0040
#define EV_DISPATCH 0x0080
#define EV_ERROR    0x4000
#define EV_EOF      0x8000

#define NOTE_LOWAT   0x0001
#define NOTE_TRIGGER 0x01000000
#define NOTE_MSECONDS 0
#define NOTE_SECONDS  1
#define NOTE_USECONDS 2
#define NOTE_NSECONDS 3

struct kevent {
    uintptr_t ident;
    short filter;
    unsigned short flags;
    unsigned int fflags;
    int64_t data;
    void *udata;
};

#define EV_SET(kevp, a, b, c, d, e, f)                                                             \
    do {                                                                                           \
        struct kevent *__kevp = (kevp);                                                            \
        __kevp->ident = (uintptr_t)(a);                                                            \
        __kevp->filter = (short)(b);                                                               \
        __kevp->flags = (unsigned short)(c);                                                       \
        __kevp->fflags = (unsigned int)(d);                                                        \
        __kevp->data = (int64_t)(e);                                                               \
        __kevp->udata = (void *)(f);                                                               \
    } while (0)

#define KCOVBOX_KNOTES 64

/* One registration; own is the timerfd or eventfd behind it, or -1. */
struct kcovbox_knote {
    int kq, own, is_used;
    struct kevent event;
};
static struct kcovbox_knote kcovbox_knotes[KCOVBOX_KNOTES] __attribute__((__unused__));
static pthread_mutex_t kcovbox_knote_lock __attribute__((__unused__)) = PTHREAD_MUTEX_INITIALIZER;

static inline int __attribute__((__unused__)) kqueue(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

static inline int __attribute__((__unused__)) kqueue1(int flags)
{
    (void)flags;
    return epoll_create1(EPOLL_CLOEXEC);
}

static inline struct kcovbox_knote *kcovbox_knote_find(int kq, const struct kevent *ev)
{
    for (int i = 0; i < KCOVBOX_KNOTES; i++) {
        struct kcovbox_knote *n = &kcovbox_knotes[i];
        if (n->is_used && n->kq == kq && n->event.ident == ev->ident &&
            n->event.filter == ev->filter)
            return n;
    }
    return NULL;
}

static inline int kcovbox_knote_fd(const struct kcovbox_knote *n)
{
    return n->own != -1 ? n->own : (int)n->event.ident;
}

static inline int kcovbox_timer_arm(struct kcovbox_knote *n)
{
    static const int64_t units[] = {1000000, 1000000000, 1000, 1};
    int64_t ns = n->event.data * units[n->event.fflags & 3];
    struct itimerspec spec = {.it_value = {ns / 1000000000, ns % 1000000000}};

    if (ns <= 0)
        spec.it_value.tv_nsec = 1;
    if (!(n->event.flags & EV_ONESHOT))
        spec.it_interval = spec.it_value;
    return timerfd_settime(n->own, 0, &spec, NULL);
}

static inline int kcovbox_knote_add(int kq, const struct kevent *ev)
{
    struct kcovbox_knote *n = kcovbox_knote_find(kq, ev);
    struct epoll_event ee = {.events = ev->filter == EVFILT_WRITE ? EPOLLOUT : EPOLLIN};
    int is_new = n == NULL;

    for (int i = 0; !n && i < KCOVBOX_KNOTES; i++)
        if (!kcovbox_knotes[i].is_used)
            n = &kcovbox_knotes[i];
    if (!n)
        return ENOMEM;
    int own = is_new ? -1 : n->own;
    n->kq = kq;
    n->event = *ev;
    n->own = own;
    if (is_new && ev->filter == EVFILT_TIMER)
        n->own = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    else if (is_new && ev->filter == EVFILT_USER)
        n->own = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    else if (ev->filter < EVFILT_WRITE && ev->filter != EVFILT_TIMER && ev->filter != EVFILT_USER)
        return EINVAL;
    if (ev->filter == EVFILT_TIMER && kcovbox_timer_arm(n) == -1)
        return errno;
    if (ev->flags & EV_CLEAR)
        ee.events |= EPOLLET;
    if (ev->flags & (EV_ONESHOT | EV_DISPATCH))
        ee.events |= EPOLLONESHOT;
    if (ev->flags & EV_DISABLE)
        ee.events = 0;
    ee.data.ptr = n;
    if (epoll_ctl(kq, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, kcovbox_knote_fd(n), &ee) == -1 &&
        !(errno == EEXIST && epoll_ctl(kq, EPOLL_CTL_MOD, kcovbox_knote_fd(n), &ee) == 0))
        return errno;
    n->is_used = 1;
    return 0;
}

static inline int kcovbox_knote_remove(struct kcovbox_knote *n)
{
    int result = epoll_ctl(n->kq, EPOLL_CTL_DEL, kcovbox_knote_fd(n), NULL) == -1 ? errno : 0;

    if (n->own != -1)
        close(n->own);
    n->is_used = 0;
    return result;
}

/* One change; 0 or an error number. */
static inline int kcovbox_kevent_change(int kq, const struct kevent *ev)
{
    struct kcovbox_knote *n = kcovbox_knote_find(kq, ev);

    if (ev->filter == EVFILT_USER && n && (ev->fflags & NOTE_TRIGGER)) {
        uint64_t one = 1;
        return write(n->own, &one, sizeof(one)) == sizeof(one) ? 0 : errno;
    }
    if (ev->flags & EV_ADD)
        return kcovbox_knote_add(kq, ev);
    if (!n)
        return ENOENT;
    if (ev->flags & EV_DELETE)
        return kcovbox_knote_remove(n);
    if (ev->flags & (EV_ENABLE | EV_DISABLE)) {
        struct kevent changed = n->event;
        changed.flags = (unsigned short)((changed.flags & ~EV_DISABLE) | (ev->flags & EV_DISABLE));
        return kcovbox_knote_add(kq, &changed);
    }
    return EINVAL;
}

static inline void kcovbox_kevent_report(struct kcovbox_knote *n, unsigned int bits,
                                         struct kevent *out)
{
    uint64_t count = 0;
    int ready = 0;

    *out = n->event;
    out->flags &= (unsigned short)~EV_ADD;
    out->fflags = 0;
    if (n->own != -1)
        out->data = read(n->own, &count, sizeof(count)) == sizeof(count) ? (int64_t)count : 0;
    else
        out->data = ioctl((int)n->event.ident, FIONREAD, &ready) == 0 ? ready : 1;
    if (bits & (EPOLLHUP | EPOLLRDHUP))
        out->flags |= EV_EOF;
    if (n->event.flags & EV_ONESHOT)
        kcovbox_knote_remove(n);
}

static inline int __attribute__((__unused__))
kevent(int kq, const struct kevent *changes, int nchanges, struct kevent *events, int nevents,
       const struct timespec *timeout)
{
    struct epoll_event ready[16];
    int told = 0, failed = 0;

    pthread_mutex_lock(&kcovbox_knote_lock);
    for (int i = 0; i < nchanges && !failed; i++) {
        int error = kcovbox_kevent_change(kq, &changes[i]);
        if (!error && !(changes[i].flags & EV_RECEIPT))
            continue;
        if (told < nevents) {
            events[told] = changes[i];
            events[told].flags = EV_ERROR;
            events[told++].data = error;
        } else {
            failed = error;
        }
    }
    pthread_mutex_unlock(&kcovbox_knote_lock);
    if (failed) {
        errno = failed;
        return -1;
    }
    if (told || nevents <= 0)
        return told;
    int ms = timeout ? (int)(timeout->tv_sec * 1000 + (timeout->tv_nsec + 999999) / 1000000) : -1;
    int n = epoll_wait(kq, ready, nevents < 16 ? nevents : 16, ms);
    pthread_mutex_lock(&kcovbox_knote_lock);
    for (int i = 0; i < n; i++)
        kcovbox_kevent_report(ready[i].data.ptr, ready[i].events, &events[i]);
    pthread_mutex_unlock(&kcovbox_knote_lock);
    return n;
}

#endif
