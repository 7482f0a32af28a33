/*
 * notify.c: who watches which inode; see notify.h.
 *
 * Events about the entries of a directory come with the entry's name. An open file remembers the
 * directory it was found in, so reading, writing and closing it are told to that directory's
 * watchers as well; changing attributes by path is told to the inode's own watchers only.
 */
#include "notify.h"
#include "alloc.h"
#include "klib.h"

struct mutex notify_lock = MUTEX_INIT(notify_lock, "notify");
static struct list leaving =
    LIST_INIT(leaving); /* (notify_lock) unwatched, references still held */

void notify_watch(struct inode_watch *w, const struct path *at)
{
    w->at = *at;
    path_get(&w->at);
    list_push_back(&at->inode->watches, &w->link);
}

void notify_unwatch(struct inode_watch *w)
{
    list_remove(&w->link);
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

void notify_file(struct file *f, u32 mask)
{
    if (f->fflags & FF_PATH)
        return;
    mask |= kind_of(f->inode);
    if (f->dir && !list_empty(&f->dir->watches))
        tell(f->dir, mask, 0, strrchr(f->path, '/') + 1);
    tell(f->inode, mask, 0, NULL);
}

u32 notify_cookie(void)
{
    static u32 last;

    return atomic_add(&last, 1);
}
