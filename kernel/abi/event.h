/* event.h: kqueue(2) with OpenBSD's layout and values; programs include it as <sys/event.h>. */
#pragma once

#define EVFILT_READ   (-1)
#define EVFILT_WRITE  (-2)
#define EVFILT_VNODE  (-4)
#define EVFILT_PROC   (-5)
#define EVFILT_SIGNAL (-6)
#define EVFILT_TIMER  (-7)
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

#define NOTE_TRIGGER    0x01000000u
#define NOTE_FFAND      0x40000000u
#define NOTE_FFOR       0x80000000u
#define NOTE_FFCOPY     0xc0000000u
#define NOTE_FFCTRLMASK 0xc0000000u
#define NOTE_FFLAGSMASK 0x00ffffffu

/* EVFILT_VNODE */
#define NOTE_DELETE   0x0001u
#define NOTE_WRITE    0x0002u
#define NOTE_EXTEND   0x0004u
#define NOTE_ATTRIB   0x0008u
#define NOTE_LINK     0x0010u
#define NOTE_RENAME   0x0020u
#define NOTE_REVOKE   0x0040u
#define NOTE_TRUNCATE 0x0080u

/* EVFILT_PROC */
#define NOTE_EXIT 0x80000000u
#define NOTE_FORK 0x40000000u
#define NOTE_EXEC 0x20000000u

struct kevent {
    unsigned long ident;  /*  0 */
    short filter;         /*  8 */
    unsigned short flags; /* 10 */
    unsigned int fflags;  /* 12: NOTE_*; for EVFILT_TIMER the unit of data: 0 ms, 1 s, 2 us, 3 ns */
    long data;            /* 16 */
    void *udata;          /* 24 */
};
