/*
 * notify.c: watches on inodes; see notify.h.
 *
 * Events about the entries of a directory carry the entry's name. An open file knows the directory
 * in which it was found, so events of the file reach that directory's watchers as well. A call by
 * path finds the directory in a second walk, but only if there is any watch in the system.
 */
#include "opt/notify/watches.h"
#include "opt/notify/reports.h"
#include "abi/fcntl.h"
#include "klib.h"
#include "opt/paths/paths.h"

struct mutex notify_lock = MUTEX_INIT(notify_lock, "notify");
static int watches; /* atomic: number of watches in the system */
static struct list leaving =
    LIST_INIT(leaving); /* (notify_lock) unwatched, references still held */

void notify_watch(struct inode_watch *w, const struct path *at)
{
    w->at = *at;
    path_get(&w->at);
    atomic_add(&watches, 1);
    list_push_back(&at->inode->watches, &w->link);
}

void notify_unwatch(struct inode_watch *w)
{
    list_remove(&w->link);
    atomic_sub(&watches, 1);
    list_push_back(&leaving, &w->link);
}

void notify_collect(void)
{
    for (;;) {
        struct inode_watch *w = NULL;

        mutex_lock(&notify_lock);
        if (!list_empty(&leaving)) {
            w = list_first(&leaving, struct inode_watch, link);
            list_remove(&w->link);
        }
        mutex_unlock(&notify_lock);
        if (!w)
            return;
        path_put(&w->at);
        w->dead(w);
    }
}

static void tell(struct inode *inode, u32 mask, u32 cookie, const char *name)
{
    bool some_left;

    if (list_empty(&inode->watches))
        return;
    mutex_lock(&notify_lock);
    list_for_each_safe(w, &inode->watches, struct inode_watch, link)
        w->event(w, mask, cookie, name);
    some_left = !list_empty(&leaving);
    mutex_unlock(&notify_lock);
    if (some_left)
        notify_collect();
}

static u32 kind_of(const struct inode *inode)
{
    return S_ISDIR(inode->mode) ? NOTIFY_ISDIR : 0;
}

void notify_inode(struct inode *inode, u32 mask)
{
    tell(inode, mask | (mask & NOTIFY_DELETE_SELF ? 0 : kind_of(inode)), 0, NULL);
}

void notify_entry(struct inode *dir, const char *name, u32 mask, u32 cookie)
{
    tell(dir, mask, cookie, name);
}

/* The path is not absolute if its directory's is too long (file.c). */
void notify_dir_of(const struct file *f, u32 mask)
{
    const char *slash = strrchr(f->path, '/');

    if (f->dir && !list_empty(&f->dir->watches))
        tell(f->dir, mask | kind_of(f->inode), 0, slash ? slash + 1 : f->path);
}

void notify_file(struct file *f, u32 mask)
{
    if (f->fflags & FF_PATH)
        return;
    notify_dir_of(f, mask);
    tell(f->inode, mask | kind_of(f->inode), 0, NULL);
}

void notify_closed(struct file *f)
{
    notify_file(f, f->fflags & FF_WRITE ? NOTIFY_CLOSE_WRITE : NOTIFY_CLOSE_READ);
}

void notify_read(struct file *f)
{
    notify_file(f, NOTIFY_ACCESS);
}

void notify_written(struct file *f, i64 size_before)
{
    notify_file(f, NOTIFY_MODIFY | (f->inode->size > size_before ? NOTIFY_EXTEND : 0));
}

void notify_dir_of_path(int dirfd, u64 user_path, u32 at_flags, u32 mask)
{
    struct at_args a;
    struct file *f;

    if (!atomic_load(&watches) || !user_path)
        return;
    if (!at_begin(&a, dirfd, user_path) && a.name[0] &&
        !vfs_open_at(at_base(&a), a.name,
                     O_PATH | (at_flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0), 0, &f)) {
        notify_dir_of(f, mask);
        file_put(f);
    }
    at_end(&a);
}

u32 notify_cookie(void)
{
    static u32 last;

    return atomic_add(&last, 1);
}
