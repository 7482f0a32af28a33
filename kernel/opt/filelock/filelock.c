/*
 * filelock.c: advisory locks. Record locks (fcntl) belong to a process and a range of bytes,
 * flock(2) locks to an open file and all of it; the two kinds do not see each other.
 *
 * All locks are in one list under one mutex. A record lock that overlaps older ones of its owner
 * replaces the overlapping parts; a waiter tries again whenever any lock is released. Divergence:
 * deadlocks between record locks are not detected (-EDEADLK in Linux), but a signal ends the wait.
 */
#include "filelock.h"
#include "opt/filelock/fcntl.h"
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "fs.h"
#include "klib.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2

#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8

struct flock { /* ABI: struct flock of riscv64 */
    i16 type, whence;
    i32 pad;
    i64 start, len;
    i32 pid, pad2;
};

struct lock {
    struct list link;
    struct inode *inode; /* not counted: an open file of it exists while the lock does */
    void *owner;         /* struct files (records) or struct file (flock) */
    struct file *file;   /* through which it was set; not counted */
    bool record;
    i16 type;
    i64 start, last; /* inclusive */
    int pid;
};

#define LAST_BYTE 0x7fffffffffffffffL

static struct mutex lock_mutex = MUTEX_INIT(lock_mutex, "filelock");
static struct list locks = LIST_INIT(locks);
static struct waitq lock_wait = WAITQ_INIT(lock_wait);
static u32 generation; /* grows whenever a lock is released */

static bool overlaps(const struct lock *a, const struct lock *b)
{
    return a->inode == b->inode && a->record == b->record && a->start <= b->last &&
           b->start <= a->last;
}

static struct lock *find_conflict(const struct lock *want)
{
    list_for_each(l, &locks, struct lock, link)
        if (overlaps(l, want) && l->owner != want->owner &&
            (l->type == F_WRLCK || want->type == F_WRLCK))
            return l;
    return NULL;
}

static void drop(struct lock *l)
{
    list_remove(&l->link);
    kfree(l);
    generation++;
}

/* Removes the range of cut from the owner's older locks. One that is split needs spare. */
static void cut_out(const struct lock *cut, struct lock **spare)
{
    list_for_each_safe(l, &locks, struct lock, link) {
        if (l->owner != cut->owner || !overlaps(l, cut))
            continue;
        if (l->start < cut->start && l->last > cut->last && *spare) {
            **spare = *l;
            (*spare)->start = cut->last + 1;
            list_push_back(&locks, &(*spare)->link);
            *spare = NULL;
            l->last = cut->start - 1;
        } else if (l->start < cut->start) {
            l->last = cut->start - 1;
        } else if (l->last > cut->last) {
            l->start = cut->last + 1;
        } else {
            drop(l);
        }
    }
    generation++;
}

/* Sets or (F_UNLCK) clears a lock; -EAGAIN if another owner's conflicts. */
static long apply(const struct lock *want)
{
    struct lock *mine = kmalloc(sizeof(*mine)), *spare = kmalloc(sizeof(*spare));
    long err = mine && spare ? 0 : -ENOLCK;

    mutex_lock(&lock_mutex);
    if (!err && want->type != F_UNLCK && find_conflict(want))
        err = -EAGAIN;
    if (!err) {
        cut_out(want, &spare);
        if (want->type != F_UNLCK) {
            *mine = *want;
            list_push_back(&locks, &mine->link);
            mine = NULL;
        }
    }
    mutex_unlock(&lock_mutex);
    kfree(mine);
    kfree(spare);
    if (!err)
        wake_up(&lock_wait);
    return err;
}

static long apply_or_wait(const struct lock *want, bool wait)
{
    for (;;) {
        u32 seen = atomic_load(&generation);
        long err = apply(want);

        if (err != -EAGAIN || !wait)
            return err;
        err = wait_event_interruptible(&lock_wait, atomic_load(&generation) != seen);
        if (err)
            return err;
    }
}

static long to_range(struct file *f, const struct flock *fl, struct lock *l)
{
    i64 base = fl->whence == 1 ? f->pos : fl->whence == 2 ? f->inode->size : 0, start;

    if (fl->whence < 0 || fl->whence > 2)
        return -EINVAL;
    if (fl->start > LAST_BYTE - base)
        return -EOVERFLOW;
    start = base + fl->start;
    if (start < 0)
        return -EINVAL;
    if (fl->len > 0 && fl->len - 1 > LAST_BYTE - start)
        return -EOVERFLOW;
    l->start = fl->len < 0 ? start + fl->len : start;
    l->last = fl->len < 0 ? start - 1 : fl->len ? start + (fl->len - 1) : LAST_BYTE;
    return l->start < 0 ? -EINVAL : 0;
}

static long get_conflict(const struct lock *want, struct flock *fl)
{
    struct lock *l;

    mutex_lock(&lock_mutex);
    l = find_conflict(want);
    fl->type = F_UNLCK;
    if (l) {
        fl->type = l->type;
        fl->whence = 0;
        fl->start = l->start;
        fl->len = l->last == LAST_BYTE ? 0 : l->last - l->start + 1;
        fl->pid = l->pid;
    }
    mutex_unlock(&lock_mutex);
    return 0;
}

long filelock_fcntl(struct file *f, int op, u64 lock_addr)
{
    struct lock want = {.inode = f->inode, .owner = curproc->files, .file = f, .record = true};
    struct flock fl;
    long err;

    if (get_user(fl, lock_addr))
        return -EFAULT;
    if (fl.type < F_RDLCK || fl.type > F_UNLCK)
        return -EINVAL;
    err = to_range(f, &fl, &want);
    if (err)
        return err;
    want.type = fl.type;
    want.pid = curproc->pid;
    if (op == 0) {
        err = get_conflict(&want, &fl);
        return err ? err : put_user(lock_addr, fl);
    }
    if ((fl.type == F_RDLCK && !(f->fflags & FF_READ)) ||
        (fl.type == F_WRLCK && !(f->fflags & FF_WRITE)))
        return -EBADF;
    return apply_or_wait(&want, op == 2);
}

static long filelock_flock(struct file *f, int op)
{
    struct lock want = {.inode = f->inode, .owner = f, .file = f, .last = LAST_BYTE};

    switch (op & ~LOCK_NB) {
    case LOCK_SH:
        want.type = F_RDLCK;
        break;
    case LOCK_EX:
        want.type = F_WRLCK;
        break;
    case LOCK_UN:
        want.type = F_UNLCK;
        break;
    default:
        return -EINVAL;
    }
    return apply_or_wait(&want, !(op & LOCK_NB));
}

/*
 * The last reference also ends record locks of the file: a thread may have set one while another
 * closed the descriptor, too late for filelock_release_owner.
 */
static void release(struct inode *inode, void *owner)
{
    bool any = false;

    if (list_empty(&locks)) /* the usual case; the caller is not setting a lock meanwhile */
        return;
    mutex_lock(&lock_mutex);
    list_for_each_safe(l, &locks, struct lock, link) {
        if (BUG(fcntl_close_race) && l->owner != owner) {
            BUG_NOTE(fcntl_close_race, l->file == owner);
            continue;
        }
        if (l->inode == inode && (l->owner == owner || l->file == owner)) {
            drop(l);
            any = true;
        }
    }
    mutex_unlock(&lock_mutex);
    if (any)
        wake_up(&lock_wait);
}

void filelock_release_file(struct file *f)
{
    release(f->inode, f);
}

void filelock_release_owner(struct file *f, void *owner)
{
    release(f->inode, owner);
}

long sys_flock(u64 fd, u64 op)
{
    struct file *f = fd_get((int)fd);
    long err;

    if (!f)
        return -EBADF;
    err = filelock_flock(f, (int)op);
    file_put(f);
    return err;
}
