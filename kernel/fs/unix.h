/*
 * unix.h: AF_UNIX sockets inside the kernel.
 *
 * A socket has one queue of messages it received. Connected sockets point to each other; each
 * pointer holds a reference, as do the open file, a place in a listener's backlog and a system call
 * in progress. One mutex, unix_mutex, covers everything here: local sockets are not hot.
 */
#pragma once

#include "fs.h"

#define AF_UNIX 1

#define SOCK_STREAM    1
#define SOCK_DGRAM     2
#define SOCK_SEQPACKET 5

#define MSG_OOB          0x1
#define MSG_PEEK         0x2
#define MSG_CTRUNC       0x8
#define MSG_TRUNC        0x20
#define MSG_DONTWAIT     0x40
#define MSG_EOR          0x80
#define MSG_WAITALL      0x100
#define MSG_NOSIGNAL     0x4000
#define MSG_CMSG_CLOEXEC 0x40000000

#define UNIX_PATH_MAX 108
#define SCM_MAX_FD    253
#define UNIX_QUEUE    212992 /* bytes a receive queue holds, net.core.rmem_default of Linux */

struct ucred { /* ABI */
    i32 pid;
    u32 uid, gid;
};

struct unix_addr {
    u32 len; /* of path; 0: no name. path[0] == 0: abstract */
    char path[UNIX_PATH_MAX];
};

struct message {
    struct list link;
    struct list in_flight; /* in a queue and carries sockets: unix_gc.c */
    struct usock *to;      /* whose queue that is */
    u64 len, used;         /* bytes, and how many of them have been read (streams) */
    struct file **files;   /* nfiles references, or 0 */
    u32 nfiles;
    struct ucred cred;
    struct unix_addr from;
    u8 data[];
};

enum unix_state { UNIX_NEW, UNIX_LISTENING, UNIX_CONNECTING, UNIX_CONNECTED, UNIX_CLOSED };

#define SHUT_IN  1
#define SHUT_OUT 2

struct usock {
    int refs; /* atomic */
    int type;
    enum unix_state state;
    u8 shut;    /* SHUT_* */
    bool reset; /* the peer went with unread data: -ECONNRESET once */
    struct usock *peer;
    struct list rx; /* messages */
    u64 rx_bytes;
    struct list backlog, in_backlog; /* of a listener; our place in one */
    u32 nbacklog, max_backlog;
    struct usock *listener; /* whose backlog we are in, or 0 */
    struct unix_addr addr;
    struct inode *inode;  /* bound to (reference), or 0 */
    struct list in_names; /* abstract names */
    struct ucred cred, peer_cred;
    struct waitq wait;
    u64 rcv_timeout, snd_timeout; /* ticks, 0: none */
    /* sock_options.c; only UNIX_PASSCRED changes anything here. */
    u32 options; /* bit n: SO_ number n */
    int sndbuf, rcvbuf, priority, rcvlowat;
    int linger[2]; /* on, seconds */
    /* The collector's, valid while it runs. */
    int queued; /* references of our file that messages hold */
    bool reached;
    struct list to_visit;
};

#define UNIX_PASSCRED (1u << 16)

extern struct mutex unix_mutex;

struct usock *unix_new(int type);
struct usock *unix_get(struct usock *s);
void unix_put(struct usock *s);
void unix_close(struct usock *s); /* the file is gone */
void unix_pair(struct usock *a, struct usock *b);
struct ucred unix_cred(void);                   /* of the calling process */
struct usock *unix_of(const struct file *file); /* 0: not a socket */
/* The file of a socket's descriptor with one more reference, or 0 (then *err says why). */
struct file *sock_get(u64 fd, long *err);

/* Needs unix_mutex. Takes m out of the queue it is in. */
void unix_unqueue(struct message *m);
/* Needs unix_mutex. Moves messages that nobody can ever receive to dead. */
void unix_collect(struct list *dead);
/* Needs unix_mutex. m has come to a queue. */
void unix_in_flight(struct message *m);

long unix_bind(struct usock *s, const struct unix_addr *addr);
long unix_listen(struct usock *s, u32 backlog);
long unix_connect(struct usock *s, const struct unix_addr *addr, bool nonblock);
long unix_accept(struct usock *s, bool nonblock, struct usock **out);
long unix_shutdown(struct usock *s, int how);
/* The bound socket of an address, with a reference. */
long unix_find(const struct unix_addr *addr, int type, struct usock **out);

/* One message on its way out; files are taken over in any case. to: explicit receiver, or 0. */
struct unix_send {
    struct file **files;
    u32 nfiles;
    struct usock *to;
    bool nonblock, no_signal;
};
i64 unix_send(struct usock *s, struct iter *from, struct unix_send *how);

/* The results of recvmsg besides the bytes. files are the caller's. */
struct unix_recv {
    bool nonblock, peek, waitall;
    struct file **files;
    u32 nfiles;
    struct ucred cred;
    struct unix_addr from;
    bool got, truncated;
    u64 full_len; /* of the datagram */
};
i64 unix_receive(struct usock *s, struct iter *to, struct unix_recv *how);
u32 unix_ready(struct usock *s);
