/*
 * <sys/event.h> of the BSD personalities: kqueue(2). The kernel has it as two private system calls;
 * layout and values are those of kernel/abi/event.h.
 *
 * Filters: EVFILT_READ, EVFILT_WRITE, EVFILT_VNODE, EVFILT_PROC (without NOTE_TRACK),
 * EVFILT_SIGNAL, EVFILT_TIMER, EVFILT_USER; the others give EINVAL.
 */
#ifndef KCOVBOX_BSD_EVENT_H
#define KCOVBOX_BSD_EVENT_H

#include <stdint.h>
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

#define NOTE_LOWAT      0x0001
#define NOTE_FFNOP      0x00000000u
#define NOTE_TRIGGER    0x01000000u
#define NOTE_FFAND      0x40000000u
#define NOTE_FFOR       0x80000000u
#define NOTE_FFCOPY     0xc0000000u
#define NOTE_FFCTRLMASK 0xc0000000u
#define NOTE_FFLAGSMASK 0x00ffffffu
#define NOTE_MSECONDS   0
#define NOTE_SECONDS    1
#define NOTE_USECONDS   2
#define NOTE_NSECONDS   3

#define NOTE_DELETE   0x0001
#define NOTE_WRITE    0x0002
#define NOTE_EXTEND   0x0004
#define NOTE_ATTRIB   0x0008
#define NOTE_LINK     0x0010
#define NOTE_RENAME   0x0020
#define NOTE_REVOKE   0x0040
#define NOTE_TRUNCATE 0x0080

#define NOTE_EXIT 0x80000000u
#define NOTE_FORK 0x40000000u
#define NOTE_EXEC 0x20000000u

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

extern long syscall(long number, ...);

#define KCOVBOX_SYS_kqueue1 244
#define KCOVBOX_SYS_kevent  245

static inline int __attribute__((__unused__)) kqueue(void)
{
    return (int)syscall(KCOVBOX_SYS_kqueue1, 0L);
}

static inline int __attribute__((__unused__)) kqueue1(int flags)
{
    return (int)syscall(KCOVBOX_SYS_kqueue1, (long)flags);
}

static inline int __attribute__((__unused__)) kevent(int kq, const struct kevent *changes,
                                                     int nchanges, struct kevent *events,
                                                     int nevents, const struct timespec *timeout)
{
    return (int)syscall(KCOVBOX_SYS_kevent, (long)kq, changes, (long)nchanges, events,
                        (long)nevents, timeout);
}

#endif
