/*
 * unix.c: AF_UNIX sockets: life, sending, receiving. Connecting is in unix_conn.c, the system calls
 * are in sys_socket.c, the collection of descriptors in flight is in unix_gc.c.
 *
 * A stream copies at most CHUNK bytes into one message; a read joins messages up to one that
 * carries descriptors. A datagram is one message.
 *
 * Not modelled: out-of-band bytes.
 */
#include "unix.h"
#include "opt/poll/wait.h"
#include "abi/errno.h"
#include "abi/signal.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "proc.h"
#include "signal.h"
#include "timeout.h"
#include "opt/sockets/errno.h"

#define CHUNK 16384

struct mutex unix_mutex = MUTEX_INIT(unix_mutex, "unix");

struct ucred unix_cred(void)
{
    return (struct ucred){curproc->pid, curproc->euid, curproc->egid};
}

struct usock *unix_new(int type)
{
    struct usock *s = kzalloc(sizeof(*s));

    if (!s)
        return NULL;
    s->refs = 1;
    s->type = type;
    list_init(&s->rx);
    list_init(&s->backlog);
    list_init(&s->in_backlog);
    list_init(&s->in_names);
    waitq_init(&s->wait);
    s->cred = unix_cred();
    s->sndbuf = s->rcvbuf = UNIX_QUEUE;
    s->rcvlowat = 1;
    return s;
}

struct usock *unix_get(struct usock *s)
{
    atomic_add(&s->refs, 1);
    return s;
}

static void message_free(struct message *m)
{
    BUG_NOTE_WATCHED(unix_peek_unlocked, m);
    for (u32 i = 0; i < m->nfiles; i++)
        file_put(m->files[i]);
    kfree(m->files);
    kfree(m);
}

/* The last reference needs no lock. unix_close() has emptied the queue before. */
void unix_put(struct usock *s)
{
    if (!s || atomic_sub(&s->refs, 1) != 0)
        return;
    inode_put(s->inode);
    kfree(s);
}

void unix_pair(struct usock *a, struct usock *b)
{
    a->peer = unix_get(b);
    b->peer = unix_get(a);
    a->peer_cred = b->cred;
    b->peer_cred = a->cred;
    a->state = b->state = UNIX_CONNECTED;
}

static void wake(struct usock *s)
{
    wake_up(&s->wait);
}

/* Closes connections that were not accepted. Releases unix_mutex meanwhile. */
static void drop_backlog(struct usock *s)
{
    while (!list_empty(&s->backlog)) {
        struct usock *child = list_first(&s->backlog, struct usock, in_backlog);

        list_remove(&child->in_backlog);
        child->listener = NULL;
        mutex_unlock(&unix_mutex);
        unix_close(child);
        mutex_lock(&unix_mutex);
    }
}

void unix_unqueue(struct message *m)
{
    m->to->rx_bytes -= m->len - m->used;
    list_remove(&m->link);
    list_remove(&m->in_flight);
}

/* Moves the messages in the queue of s to dead. Needs unix_mutex. */
static void empty_queue(struct usock *s, struct list *dead)
{
    list_for_each_safe(m, &s->rx, struct message, link) {
        unix_unqueue(m);
        list_push_back(dead, &m->link);
    }
}

/*
 * Frees dead messages and those that no program can receive any more. Freeing a message may close
 * the sockets in it, whose messages die in turn. A chain of these may be of any length, so
 * unix_close() does not recurse: it appends to the list of the bury() that is running already.
 */
static void bury(struct list *dead)
{
    current->dead_messages = dead;
    do {
        while (!list_empty(dead)) {
            struct message *m = list_first(dead, struct message, link);

            list_remove(&m->link);
            message_free(m);
        }
        mutex_lock(&unix_mutex);
        unix_collect(dead);
        mutex_unlock(&unix_mutex);
    } while (!list_empty(dead));
    current->dead_messages = NULL;
}

void unix_close(struct usock *s)
{
    struct list mine = LIST_INIT(mine), *dead = current->dead_messages;
    struct usock *peer;

    mutex_lock(&unix_mutex);
    s->state = UNIX_CLOSED;
    s->shut = SHUT_IN | SHUT_OUT;
    if (s->inode && s->inode->bound == s)
        s->inode->bound = NULL;
    list_remove(&s->in_names);
    drop_backlog(s);
    peer = s->peer;
    s->peer = NULL;
    if (peer && s->type != SOCK_DGRAM && peer->peer == s) {
        peer->shut = SHUT_IN | SHUT_OUT;
        peer->reset |= !list_empty(&s->rx);
        peer->peer = NULL;
        unix_put(s); /* the peer's reference; that of the file remains */
    }
    empty_queue(s, dead ? dead : &mine);
    mutex_unlock(&unix_mutex);
    wake(s);
    if (peer) {
        wake(peer);
        unix_put(peer);
    }
    unix_put(s);
    if (!dead)
        bury(&mine);
}

static struct message *message_new(struct iter *from, u64 n, struct unix_send *how, i64 *err)
{
    struct message *m = kmalloc(sizeof(*m) + n);

    *err = -ENOBUFS;
    if (!m)
        return NULL;
    memset(m, 0, sizeof(*m));
    list_init(&m->link);
    list_init(&m->in_flight);
    m->len = n;
    m->cred = unix_cred();
    if (iter_get(from, m->data, n) < n) {
        kfree(m);
        *err = -EFAULT;
        return NULL;
    }
    m->files = how->files;
    m->nfiles = how->nfiles;
    how->files = NULL;
    how->nfiles = 0;
    return m;
}

/* The socket to which s sends, with one reference in *out. Needs unix_mutex. */
static long receiver(struct usock *s, struct unix_send *how, struct usock **out)
{
    struct usock *to = how->to ? how->to : s->peer;

    if (s->shut & SHUT_OUT)
        return -EPIPE;
    if (!to)
        return s->type == SOCK_DGRAM || s->state != UNIX_CLOSED ? -ENOTCONN : -EPIPE;
    if (to->state == UNIX_CLOSED)
        return s->type == SOCK_DGRAM ? -ECONNREFUSED : -EPIPE;
    if (to->shut & SHUT_IN)
        return -EPIPE;
    *out = unix_get(to);
    return 0;
}

static bool has_room(const struct usock *to, u64 n)
{
    return to->rx_bytes == 0 || to->rx_bytes + n <= UNIX_QUEUE || to->state == UNIX_CLOSED ||
           to->shut & SHUT_IN;
}

/* Queues the message at its receiver, waiting for space. Takes over m on success. */
static long deliver(struct usock *s, struct message *m, struct unix_send *how)
{
    u64 deadline = s->snd_timeout ? time_now() + s->snd_timeout : WAIT_FOREVER;

    for (;;) {
        struct usock *to = NULL;
        long err;

        mutex_lock(&unix_mutex);
        err = receiver(s, how, &to);
        if (!err && has_room(to, m->len)) {
            m->from = s->addr;
            m->to = to;
            list_push_back(&to->rx, &m->link);
            to->rx_bytes += m->len;
            unix_in_flight(m);
            mutex_unlock(&unix_mutex);
            wake_up_events(&to->wait, POLLIN | POLLRDNORM);
            unix_put(to);
            return 0;
        }
        mutex_unlock(&unix_mutex);
        if (!err)
            err = how->nonblock
                      ? -EAGAIN
                      : wait_event_timeout(&to->wait, has_room(to, m->len) || s->shut & SHUT_OUT,
                                           deadline);
        unix_put(to);
        if (err)
            return err == -ETIMEDOUT ? -EAGAIN : err;
    }
}

static i64 send_pieces(struct usock *s, struct iter *from, struct unix_send *how)
{
    bool stream = s->type == SOCK_STREAM;
    i64 done = 0, err;

    if (!stream && from->left > UNIX_QUEUE)
        return -EMSGSIZE;
    do {
        u64 n = stream ? MIN(from->left, CHUNK) : from->left;
        struct message *m = message_new(from, n, how, &err);

        if (m) {
            err = deliver(s, m, how);
            if (err)
                message_free(m);
        }
        if (err)
            return done ? done : err;
        done += n;
    } while (from->left);
    return done;
}

i64 unix_send(struct usock *s, struct iter *from, struct unix_send *how)
{
    i64 n;

    if (s->type == SOCK_STREAM && !from->left && !how->nfiles)
        n = s->shut & SHUT_OUT ? -EPIPE : s->peer ? 0 : -ENOTCONN;
    else
        n = send_pieces(s, from, how);
    if (n == -EPIPE && !how->no_signal && s->type != SOCK_DGRAM)
        signal_send_thread(current, SIGPIPE, NULL);
    for (u32 i = 0; i < how->nfiles; i++)
        file_put(how->files[i]);
    kfree(how->files);
    how->files = NULL;
    how->nfiles = 0;
    return n;
}

/* Gives the files of a message to the receiver; a peek gets references of its own. */
static void hand_over_files(struct message *m, struct unix_recv *how)
{
    how->got = true;
    how->cred = m->cred;
    how->from = m->from;
    if (!m->nfiles)
        return;
    if (how->peek) {
        how->files = kmalloc(m->nfiles * sizeof(*how->files));
        if (!how->files)
            return;
        if (BUG(unix_peek_unlocked)) {
            BUG_WATCH(unix_peek_unlocked, m);
            mutex_unlock(&unix_mutex);
        }
        for (u32 i = 0; i < m->nfiles; i++)
            how->files[i] = file_get(m->files[i]);
        if (BUG(unix_peek_unlocked)) {
            mutex_lock(&unix_mutex);
            BUG_WATCH(unix_peek_unlocked, NULL);
        }
    } else {
        how->files = m->files;
        m->files = NULL;
        list_remove(&m->in_flight);
    }
    how->nfiles = m->nfiles;
    m->nfiles = how->peek ? m->nfiles : 0;
}

static void consume(struct usock *s, struct message *m, u64 n)
{
    m->used += n;
    s->rx_bytes -= n;
    if (s->type != SOCK_STREAM || m->used == m->len) {
        unix_unqueue(m);
        message_free(m);
    }
}

/* Reads queued messages. Needs unix_mutex. -EAGAIN if there is none. */
static i64 take(struct usock *s, struct iter *to, struct unix_recv *how)
{
    i64 done = 0;

    if (list_empty(&s->rx))
        return -EAGAIN;
    list_for_each_safe(m, &s->rx, struct message, link) {
        u64 n = MIN(m->len - m->used, to->left), moved;

        if (how->got && (s->type != SOCK_STREAM || m->nfiles || how->nfiles))
            break;
        if (how->got && memcmp(&m->cred, &how->cred, sizeof(m->cred)) && s->options & UNIX_PASSCRED)
            break;
        moved = iter_put(to, m->data + m->used, n);
        if (moved < n)
            return done ? done : -EFAULT;
        if (!how->got || m->nfiles)
            hand_over_files(m, how);
        how->full_len = m->len;
        how->truncated = s->type != SOCK_STREAM && n < m->len;
        done += n;
        if (!how->peek)
            consume(s, m, n);
        if (!to->left || s->type != SOCK_STREAM)
            break;
    }
    return done;
}

/* The queue has space: wakes senders, which wait on s, and a peer that polls its own socket. */
static void tell_room(struct usock *s, struct usock *peer)
{
    wake_up_events(&s->wait, POLLOUT | POLLWRNORM);
    if (peer)
        wake_up_events(&peer->wait, POLLOUT | POLLWRNORM);
}

i64 unix_receive(struct usock *s, struct iter *to, struct unix_recv *how)
{
    u64 deadline = s->rcv_timeout ? time_now() + s->rcv_timeout : WAIT_FOREVER;
    i64 done = 0;

    for (;;) {
        struct usock *peer = NULL;
        i64 n;
        long err;

        mutex_lock(&unix_mutex);
        if (s->state == UNIX_LISTENING || (s->type != SOCK_DGRAM && s->state == UNIX_NEW))
            n = s->type == SOCK_STREAM ? -EINVAL : -ENOTCONN;
        else
            n = take(s, to, how);
        if (n == -EAGAIN && s->reset) {
            s->reset = false;
            n = -ECONNRESET;
        } else if (n == -EAGAIN && s->shut & SHUT_IN) {
            n = 0;
        }
        if (s->peer)
            peer = unix_get(s->peer);
        mutex_unlock(&unix_mutex);
        if (n > 0 || how->got)
            tell_room(s, peer);
        unix_put(peer);
        if (n > 0 || how->got) {
            done += n > 0 ? n : 0;
            if (!(how->waitall && s->type == SOCK_STREAM && to->left && n > 0))
                return done;
            continue;
        }
        if (n != -EAGAIN || how->nonblock)
            return done ? done : n;
        err = wait_event_timeout(&s->wait, !list_empty(&s->rx) || s->shut & SHUT_IN, deadline);
        if (err)
            return done ? done : err == -ETIMEDOUT ? -EAGAIN : err;
    }
}

/* Needs unix_mutex. The POLL* bits. */
u32 unix_ready(struct usock *s)
{
    u32 bits = 0;

    if (!list_empty(&s->rx) || s->shut & SHUT_IN || !list_empty(&s->backlog))
        bits |= POLLIN | POLLRDNORM;
    if (s->shut & SHUT_IN)
        bits |= POLLRDHUP;
    if (s->shut == (SHUT_IN | SHUT_OUT) && s->type != SOCK_DGRAM)
        bits |= POLLHUP;
    if (s->state == UNIX_NEW && s->type != SOCK_DGRAM)
        return bits | POLLHUP | POLLOUT;
    if (s->state != UNIX_LISTENING && (!s->peer || has_room(s->peer, 1)))
        bits |= POLLOUT | POLLWRNORM;
    return bits;
}
