/*
 * unix_conn.c: names and connections of AF_UNIX sockets. A name is a socket inode in the file
 * system, whose bound field points to the socket (without a reference; close clears it), or an
 * abstract name (first byte 0) in a list.
 */
#include "unix.h"
#include "opt/directories/current.h"
#include "abi/fcntl.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "opt/notify/notify.h"
#include "opt/paths/namei.h"
#include "proc.h"
#include "timeout.h"
#include "opt/sockets/errno.h"

static struct list names = LIST_INIT(names); /* sockets with abstract names; (unix_mutex) */

static bool is_abstract(const struct unix_addr *a)
{
    return a->len && !a->path[0];
}

static struct usock *find_abstract(const struct unix_addr *addr)
{
    list_for_each(s, &names, struct usock, in_names)
        if (s->addr.len == addr->len && !memcmp(s->addr.path, addr->path, addr->len))
            return s;
    return NULL;
}

/* Linux gives a socket bound to an empty name five hexadecimal digits. */
static void autobind(struct unix_addr *addr)
{
    static u32 next;

    do {
        addr->len = 6;
        ksnprintf(addr->path + 1, sizeof(addr->path) - 1, "%05x", next++ & 0xfffff);
        addr->path[0] = 0;
    } while (find_abstract(addr));
}

static long make_socket_inode(const char *path, struct inode **out)
{
    struct walk *w = kmalloc(sizeof(*w));
    struct inode *there;
    long err;

    if (!w)
        return -ENOMEM;
    mutex_lock(&fs_lock);
    err = walk_begin(w, NULL, path);
    if (!err)
        err = walk_run(w, WALK_PARENT);
    if (!err) {
        err = w->name[0] ? walk_lookup(w, &there) : -EADDRINUSE;
        if (!err)
            inode_put(there);
        if (!err)
            err = -EADDRINUSE;
    }
    if (err == -ENOENT && w->last) {
        struct inode *dir = w->at.inode;

        err = inode_access(dir, 3);
        if (!err)
            err = dir->ops->create
                      ? dir->ops->create(dir, w->name, S_IFSOCK | (0777 & ~current_fs()->umask), 0,
                                         out)
                      : -EROFS;
        if (!err)
            notify_entry(dir, w->name, NOTIFY_CREATE, 0);
    }
    walk_end(w);
    mutex_unlock(&fs_lock);
    kfree(w);
    return err;
}

static bool path_exists(const char *name)
{
    struct path at;

    if (path_walk(NULL, name, 0, &at))
        return false;
    path_put(&at);
    return true;
}

long unix_bind(struct usock *s, const struct unix_addr *addr)
{
    struct inode *inode = NULL;
    long err = 0;

    if (addr->len && !is_abstract(addr)) {
        if (s->addr.len)
            return path_exists(addr->path) ? -EADDRINUSE : -EINVAL;
        err = make_socket_inode(addr->path, &inode);
        if (err)
            return err;
    }
    mutex_lock(&unix_mutex);
    if (s->addr.len) {
        err = -EINVAL;
    } else if (inode) {
        s->addr = *addr;
        s->inode = inode_get(inode);
        inode->bound = s;
    } else if (is_abstract(addr) && find_abstract(addr)) {
        err = -EADDRINUSE;
    } else {
        s->addr = *addr;
        if (!addr->len)
            autobind(&s->addr);
        list_push_back(&names, &s->in_names);
    }
    mutex_unlock(&unix_mutex);
    inode_put(inode);
    return err;
}

long unix_find(const struct unix_addr *addr, int type, struct usock **out)
{
    struct path at = {0};
    struct usock *s;
    long err = 0;

    if (!addr->len)
        return -EINVAL;
    if (!is_abstract(addr)) {
        err = path_walk(NULL, addr->path, WALK_FOLLOW, &at);
        if (!err)
            err = inode_access(at.inode, 2);
        if (!err && (at.inode->mode & S_IFMT) != S_IFSOCK)
            err = -ECONNREFUSED;
    }
    if (!err) {
        mutex_lock(&unix_mutex);
        s = at.inode ? at.inode->bound : find_abstract(addr);
        if (!s)
            err = -ECONNREFUSED;
        else if (s->type != type)
            err = -EPROTOTYPE;
        else
            *out = unix_get(s);
        mutex_unlock(&unix_mutex);
    }
    path_put(&at);
    return err;
}

long unix_listen(struct usock *s, u32 backlog)
{
    long err = 0;

    if (s->type == SOCK_DGRAM)
        return -EOPNOTSUPP;
    mutex_lock(&unix_mutex);
    if (!s->addr.len || (s->state != UNIX_NEW && s->state != UNIX_LISTENING)) {
        err = -EINVAL;
    } else {
        s->state = UNIX_LISTENING;
        s->cred = unix_cred();
        s->max_backlog = MIN(backlog, 4096);
    }
    mutex_unlock(&unix_mutex);
    return err;
}

static long connect_datagram(struct usock *s, struct usock *to)
{
    struct usock *old;

    mutex_lock(&unix_mutex);
    old = s->peer;
    s->peer = unix_get(to);
    mutex_unlock(&unix_mutex);
    unix_put(old);
    return 0;
}

/* Puts a new, already connected socket into the listener's backlog. Needs unix_mutex. */
static long enter_backlog(struct usock *s, struct usock *listener, struct usock *child)
{
    if (s->state == UNIX_CONNECTED)
        return -EISCONN;
    if (s->state != UNIX_NEW)
        return -EINVAL;
    if (listener->state != UNIX_LISTENING)
        return -ECONNREFUSED;
    if (listener->nbacklog > listener->max_backlog)
        return -EAGAIN;
    child->addr = listener->addr;
    child->cred = listener->cred;
    s->cred = unix_cred();
    unix_pair(s, child);
    list_push_back(&listener->backlog, &child->in_backlog);
    child->listener = listener;
    listener->nbacklog++;
    return 0;
}

static bool backlog_open(const struct usock *listener)
{
    return listener->state != UNIX_LISTENING || listener->nbacklog <= listener->max_backlog;
}

static long connect_stream(struct usock *s, struct usock *listener, bool nonblock)
{
    struct usock *child = unix_new(s->type);
    long err;

    if (!child)
        return -ENOMEM;
    do {
        mutex_lock(&unix_mutex);
        err = enter_backlog(s, listener, child);
        mutex_unlock(&unix_mutex);
        if (err == -EAGAIN && !nonblock) {
            err = wait_event_interruptible(&listener->wait, backlog_open(listener));
            if (!err)
                err = -EAGAIN;
            else
                nonblock = true;
        }
    } while (err == -EAGAIN && !nonblock);
    if (err)
        unix_put(child); /* otherwise the backlog has taken it over */
    else
        wake_up_events(&listener->wait, POLLIN | POLLRDNORM);
    return err;
}

long unix_connect(struct usock *s, const struct unix_addr *addr, bool nonblock)
{
    struct usock *to;
    long err = unix_find(addr, s->type, &to);

    if (err)
        return err;
    err = s->type == SOCK_DGRAM ? connect_datagram(s, to) : connect_stream(s, to, nonblock);
    unix_put(to);
    return err;
}

static bool acceptable(const struct usock *s)
{
    return !list_empty(&s->backlog) || s->state != UNIX_LISTENING || s->shut & SHUT_IN;
}

long unix_accept(struct usock *s, bool nonblock, struct usock **out)
{
    if (s->type == SOCK_DGRAM)
        return -EOPNOTSUPP;
    for (;;) {
        u64 deadline = s->rcv_timeout ? time_now() + s->rcv_timeout : WAIT_FOREVER;
        long err = -EAGAIN;

        mutex_lock(&unix_mutex);
        if (s->state != UNIX_LISTENING || s->shut & SHUT_IN) {
            err = -EINVAL;
        } else if (!list_empty(&s->backlog)) {
            *out = list_first(&s->backlog, struct usock, in_backlog);
            list_remove(&(*out)->in_backlog);
            (*out)->listener = NULL;
            s->nbacklog--;
            err = 0;
        }
        mutex_unlock(&unix_mutex);
        if (!err)
            wake_up(&s->wait); /* connects that found the backlog full */
        if (err != -EAGAIN || nonblock)
            return err;
        err = wait_event_timeout(&s->wait, acceptable(s), deadline);
        if (err)
            return err == -ETIMEDOUT ? -EAGAIN : err;
    }
}

long unix_shutdown(struct usock *s, int how)
{
    u8 bits = how == 0 ? SHUT_IN : how == 1 ? SHUT_OUT : SHUT_IN | SHUT_OUT;
    struct usock *peer = NULL;

    if (how < 0 || how > 2)
        return -EINVAL;
    mutex_lock(&unix_mutex);
    if (s->state != UNIX_CONNECTED && s->state != UNIX_LISTENING && !s->peer) {
        mutex_unlock(&unix_mutex);
        return -ENOTCONN;
    }
    s->shut |= bits;
    if (s->peer && s->type != SOCK_DGRAM) {
        peer = unix_get(s->peer);
        peer->shut |= (bits & SHUT_IN ? SHUT_OUT : 0) | (bits & SHUT_OUT ? SHUT_IN : 0);
    }
    mutex_unlock(&unix_mutex);
    wake_up(&s->wait);
    if (peer) {
        wake_up(&peer->wait);
        unix_put(peer);
    }
    return 0;
}
