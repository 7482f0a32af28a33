/*
 * inode.c: life of an inode, and small functions that every file system uses.
 *
 * An inode dies when its reference count reaches zero: evict() lets the file system free its part,
 * then the cached pages and the structure are freed. Every stored pointer has a reference: open
 * files, working directories, mounts, and a file system's own tables (tmpfs: the directory entry).
 */
#include "fs.h"
#include "alloc.h"
#include "klib.h"
#include "timeout.h"

struct mutex fs_lock = MUTEX_INIT(fs_lock, "fs");

static void now(struct timespec64 *ts)
{
    u64 ns = time_wall_ns();

    ts->sec = ns / 1000000000;
    ts->nsec = ns % 1000000000;
}

struct inode *inode_new(struct super *sb, u32 mode)
{
    struct inode *inode = kzalloc(sizeof(*inode));

    if (!inode)
        return NULL;
    inode->refs = 1;
    inode->mode = mode;
    inode->nlink = 1;
    inode->sb = sb;
    if (sb)
        inode->ino = ++sb->next_ino;
    mutex_init(&inode->lock, "inode");
    vm_object_init(inode);
    list_init(&inode->watches);
    now(&inode->mtime);
    inode->atime = inode->ctime = inode->mtime;
    return inode;
}

struct inode *inode_get(struct inode *inode)
{
    atomic_add(&inode->refs, 1);
    return inode;
}

void inode_put(struct inode *inode)
{
    if (!inode || atomic_sub(&inode->refs, 1) != 0)
        return;
    if (inode->ops && inode->ops->evict)
        inode->ops->evict(inode);
    page_cache_free(inode);
    kfree(inode);
}

/* Sets ctime, and mtime as well when the contents changed. */
void inode_touch(struct inode *inode, bool modified)
{
    now(&inode->ctime);
    if (modified)
        inode->mtime = inode->ctime;
    inode->dirty = true;
}

void inode_accessed(struct inode *inode)
{
    now(&inode->atime);
}

void path_get(const struct path *path)
{
    mount_get(path->mnt);
    if (path->inode)
        inode_get(path->inode);
}

void path_put(struct path *path)
{
    if (path->inode)
        inode_put(path->inode);
    if (path->mnt)
        mount_put(path->mnt);
    path->inode = NULL;
    path->mnt = NULL;
}
