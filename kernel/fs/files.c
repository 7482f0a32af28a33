/*
 * files.c: descriptor tables.
 *
 * A table maps small numbers to open files; a slot holds one reference of its file. RESERVED marks
 * a number that an open(2) in progress owns: no other call gets it, and a lookup gives -EBADF.
 * files->lock is a spinlock, so no file is put while it is held: that may sleep.
 */
#include "bugs.h"
#include "fs/files.h"
#include "fs.h"
#include "abi/errno.h"
#include "alloc.h"
#include "opt/filelock/filelock.h"
#include "klib.h"
#include "poll.h"
#include "proc.h"

#define FIRST_SLOTS 16
#define MAX_SLOTS   65536

static bool resize(struct files *t, int cap)
{
    struct slot *slots = kzalloc(cap * sizeof(*slots));

    if (!slots)
        return false;
    memcpy(slots, t->slots, t->cap * sizeof(*slots));
    kfree(t->slots);
    t->slots = slots;
    t->cap = cap;
    return true;
}

static struct files *table_alloc(int cap)
{
    struct files *t = kzalloc(sizeof(*t));

    if (!t)
        return NULL;
    t->refs = 1;
    spin_init(&t->lock, "files");
    if (!resize(t, cap)) {
        kfree(t);
        return NULL;
    }
    return t;
}

struct files *files_new(void)
{
    return table_alloc(FIRST_SLOTS);
}

struct files *files_spare(const struct files *like)
{
    return table_alloc(atomic_load(&like->cap));
}

bool files_fill(struct files *t, struct files *from)
{
    bool ok;

    spin_lock(&from->lock);
    ok = t->cap >= from->cap || resize(t, from->cap);
    for (int fd = 0; ok && fd < from->cap; fd++) {
        struct file *f = from->slots[fd].file;

        if (!f || f == RESERVED || f->fflags & FF_NOT_INHERITED)
            continue;
        t->slots[fd] = from->slots[fd];
        file_get(f);
    }
    spin_unlock(&from->lock);
    return ok;
}

struct files *files_copy(struct files *from)
{
    struct files *t = files_spare(from);

    if (t && files_fill(t, from))
        return t;
    files_put(t);
    return NULL;
}

int files_release_slot(struct files *t, int fd, struct file *f)
{
    int err = 0;

    watch_fd_closed(f, t, fd);
    filelock_release_owner(f, t);
    if (f->ops->flush)
        err = f->ops->flush(f);
    file_put(f);
    return err;
}

struct file *files_take(struct files *t, int fd)
{
    struct file *f = NULL;

    spin_lock(&t->lock);
    if (fd >= 0 && fd < t->cap && t->slots[fd].file != RESERVED) {
        f = t->slots[fd].file;
        t->slots[fd].file = NULL;
    }
    spin_unlock(&t->lock);
    return f;
}

void files_put(struct files *t)
{
    if (!t || atomic_sub(&t->refs, 1) != 0)
        return;
    for (int fd = 0; fd < t->cap; fd++) {
        struct file *f = files_take(t, fd);

        if (f)
            files_release_slot(t, fd, f);
    }
    kfree(t->slots);
    kfree(t);
}

struct file *files_get(struct files *t, int fd)
{
    struct file *f = NULL;
    bool locks = !BUG(fget_unlocked);

    if (locks)
        spin_lock(&t->lock);
    if (fd >= 0 && fd < t->cap)
        f = t->slots[fd].file;
    if (f == RESERVED)
        f = NULL;
    if (f) {
        BUG_WATCH(fget_unlocked, f);
        BUG_NOTE(fget_unlocked, t->slots[fd].file != f); /* closed before it was watched */
        file_get(f);
        BUG_WATCH(fget_unlocked, NULL);
    }
    if (locks)
        spin_unlock(&t->lock);
    return f;
}

struct file *fd_get_any(int fd)
{
    return files_get(curproc->files, fd);
}

int files_make_room(struct files *t, int fd)
{
    int cap = t->cap;

    if (fd < cap)
        return 0;
    if (fd >= MAX_SLOTS)
        return -EMFILE;
    while (cap <= fd)
        cap *= 2;
    return resize(t, cap) ? 0 : -ENOMEM;
}

int fd_reserve(int min, bool cloexec)
{
    struct files *t = curproc->files;
    int fd, err;

    spin_lock(&t->lock);
    for (fd = min; fd < t->cap && t->slots[fd].file;)
        fd++;
    err = (u64)fd >= rlimit_get(RLIMIT_NOFILE) ? -EMFILE : files_make_room(t, fd);
    if (!err)
        t->slots[fd] = (struct slot){RESERVED, cloexec};
    spin_unlock(&t->lock);
    return err ? err : fd;
}

void fd_fill(int fd, struct file *file)
{
    struct files *t = curproc->files;

    spin_lock(&t->lock);
    KASSERT(t->slots[fd].file == RESERVED);
    t->slots[fd].file = file;
    spin_unlock(&t->lock);
}

int fd_install(struct file *file, u32 oflags)
{
    int fd = fd_reserve(0, oflags & O_CLOEXEC);

    if (fd < 0)
        file_put(file);
    else
        fd_fill(fd, file);
    return fd;
}

int fd_close(int fd)
{
    struct files *t = curproc->files;
    struct file *f = files_take(t, fd);

    return f ? files_release_slot(t, fd, f) : -EBADF;
}
