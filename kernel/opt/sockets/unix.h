/*
 * unix.h: AF_UNIX sockets inside the kernel.
 *
 * A socket has one queue of received messages. Connected sockets point to each other; each pointer
 * holds a reference, as do the open file, a place in a listener's backlog and a system call in
 * progress. One mutex, unix_mutex, protects all fields: the speed of local sockets does not matter.
 */
#pragma once

#include "fs.h"
#include "opt/sockets/errno.h"

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
    struct list in_flight; /* linked while in a queue and carrying sockets: unix_gc.c */
    struct usock *to;      /* the owner of that queue */
    u64 len, used;         /* bytes, and how many of them have been read (streams) */
    struct file **files;   /* nfiles references, or NULL */
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
    bool reset; /* the peer closed with unread data: -ECONNRESET once */
    struct usock *peer;
    struct list rx; /* messages */
    u64 rx_bytes;
    struct list backlog, in_backlog; /* of a listener; the place in a listener's */
    u32 nbacklog, max_backlog;
    struct usock *listener; /* whose backlog has this socket, or NULL */
    struct unix_addr addr;
    struct inode *inode;  /* its name in the file system (one reference), or NULL */
    struct list in_names; /* linked while it has an abstract name */
    struct ucred cred, peer_cred;
    struct waitq wait;
    u64 rcv_timeout, snd_timeout; /* ticks, 0: none */
    /* sock_options.c; only UNIX_PASSCRED has an effect. */
    u32 options; /* bit n: SO_ number n */
    int sndbuf, rcvbuf, priority, rcvlowat;
    int linger[2]; /* on, seconds */
    /* Valid while the collector runs. */
    int queued;   /* references of its file that messages hold */
    bool reached; /* some program can still receive from it */
    struct list to_visit;
};

#define UNIX_PASSCRED (1u << 16)

extern struct mutex unix_mutex;

struct usock *unix_new(int type);
struct usock *unix_get(struct usock *s);
void unix_put(struct usock *s);
void unix_close(struct usock *s); /* its file is closed; drops the file's reference */
void unix_pair(struct usock *a, struct usock *b);
struct ucred unix_cred(void);                   /* of the calling process */
struct usock *unix_of(const struct file *file); /* NULL: not a socket */
/* The file of a socket's descriptor with one more reference, or NULL and -errno in *err. */
struct file *sock_get(u64 fd, long *err);

/* Needs unix_mutex. Takes m out of its queue. */
void unix_unqueue(struct message *m);
/* Needs unix_mutex. Moves messages that no program can ever receive to dead. */
void unix_collect(struct list *dead);
/* Needs unix_mutex. Called when m has been queued: the collector has to know of its sockets. */
void unix_in_flight(struct message *m);

long unix_bind(struct usock *s, const struct unix_addr *addr);
long unix_listen(struct usock *s, u32 backlog);
long unix_connect(struct usock *s, const struct unix_addr *addr, bool nonblock);
long unix_accept(struct usock *s, bool nonblock, struct usock **out);
long unix_shutdown(struct usock *s, int how);
/* The socket that is bound to an address, with one reference. */
long unix_find(const struct unix_addr *addr, int type, struct usock **out);

/* How to send; files are taken over also on failure. to: the receiver, or NULL for the peer. */
struct unix_send {
    struct file **files;
    u32 nfiles;
    struct usock *to;
    bool nonblock, no_signal;
};
i64 unix_send(struct usock *s, struct iter *from, struct unix_send *how);

/* How to receive, then the results besides the bytes. The caller owns the references in files. */
struct unix_recv {
    bool nonblock, peek, waitall;
    struct file **files;
    u32 nfiles;
    struct ucred cred;
    struct unix_addr from;
    bool got, truncated; /* got: the results are those of a message */
    u64 full_len;        /* bytes of the datagram */
};
i64 unix_receive(struct usock *s, struct iter *to, struct unix_recv *how);
u32 unix_ready(struct usock *s);
