/*
 * namei.c: from a path name to a place in the tree.
 *
 * A walk keeps the place it has reached and the text that is still to be walked, which symbolic
 * links change (opt/links/follow.c). After every step the walk goes down into whatever is mounted
 * there, and ".." at the root of a mount first goes up to the place it covers.
 *
 * A walk runs under fs_lock, so names cannot change between its steps.
 */
#include "fs.h"
#include "opt/directories/current.h"
#include "opt/mounts/cross.h"
#include "alloc.h"
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "opt/paths/namei.h"

int walk_begin(struct walk *w, const struct path *base, const char *name)
{
    memset(w, 0, sizeof(*w));
    if (!*name)
        return -ENOENT;
    if (strlen(name) >= PATH_LEN_MAX)
        return -ENAMETOOLONG;
    w->rest = name;
    if (*name == '/')
        w->at = current_fs()->root;
    else
        w->at = base ? *base : current_fs()->cwd;
    if (!w->at.inode)
        return -ENOENT;
    path_get(&w->at);
    return 0;
}

void walk_end(struct walk *w)
{
    path_put(&w->at);
    walk_forget_dir(w);
    kfree(w->text);
    w->text = NULL;
}

/*
 * Moves the next component from w->rest to w->name. Afterwards w->last tells whether it was the
 * last one and w->want_dir whether slashes followed it. 1, or 0 if nothing is left; -ENAMETOOLONG.
 */
static int next_component(struct walk *w)
{
    const char *end;

    while (*w->rest == '/')
        w->rest++;
    if (!*w->rest)
        return 0;
    for (end = w->rest; *end && *end != '/';)
        end++;
    if (end - w->rest > NAME_LEN_MAX)
        return -ENAMETOOLONG;
    memcpy(w->name, w->rest, end - w->rest);
    w->name[end - w->rest] = 0;
    w->want_dir = *end == '/';
    while (*end == '/')
        end++;
    w->rest = end;
    w->last = !*end;
    return 1;
}

int walk_up(struct walk *w)
{
    struct path *at = &w->at;
    struct fsctx *fs = current_fs();
    struct inode *parent;

    walk_forget_dir(w);
    if (w->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT) && at->inode == w->top.inode &&
        at->mnt == w->top.mnt)
        return w->resolve & RESOLVE_BENEATH ? -EXDEV : 0;
    for (;;) {
        if (at->inode == fs->root.inode && at->mnt == fs->root.mnt)
            return 0; /* ".." of the root is the root */
        if (!mount_cross_up(at))
            break;
    }
    parent = at->inode->ops->parent ? at->inode->ops->parent(at->inode) : NULL;
    if (!parent)
        return -ENOENT;
    inode_put(at->inode);
    at->inode = parent;
    while (mount_cross_down(at))
        ;
    return 0;
}

/* Looks w->name up in the directory reached; *out gets one reference. */
int walk_lookup(struct walk *w, struct inode **out)
{
    struct inode *dir = w->at.inode;
    int err;

    if (!S_ISDIR(dir->mode))
        return -ENOTDIR;
    err = inode_access(dir, 1);
    if (err)
        return err;
    return dir->ops->lookup(dir, w->name, out);
}

/* The walk moves to child, whose reference it takes over, and into what is mounted there. */
void walk_enter(struct walk *w, struct inode *child)
{
    walk_forget_dir(w);
    w->dir = w->at.inode;
    w->at.inode = child;
    while (mount_cross_down(&w->at))
        ;
}

/* One component. 1: moved on; 0: nothing was left. */
static int step(struct walk *w, u32 how)
{
    struct inode *child;
    int err = next_component(w);

    if (err <= 0)
        return err;
    if (!S_ISDIR(w->at.inode->mode))
        return -ENOTDIR;
    if (how & WALK_PARENT && w->last)
        return 0;
    if (!strcmp(w->name, "."))
        return 1;
    if (!strcmp(w->name, ".."))
        return (err = walk_up(w)) ? err : 1;
    err = walk_lookup(w, &child);
    if (err)
        return err;
    if (S_ISLNK(child->mode) && (!w->last || w->want_dir || how & WALK_FOLLOW)) {
        err = walk_follow(w, child);
        inode_put(child);
        return err ? err : 1;
    }
    walk_enter(w, child);
    return 1;
}

/*
 * Walks all components; with WALK_PARENT all but the last, which stays in w->name ("" if the path
 * has only slashes).
 */
int walk_run(struct walk *w, u32 how)
{
    int moved;

    w->name[0] = 0;
    do {
        moved = step(w, how);
        if (moved > 0 && w->resolve & RESOLVE_NO_XDEV && w->at.mnt != w->top.mnt)
            moved = -EXDEV;
        if (moved > 0 && how & WALK_PARENT)
            w->name[0] = 0;
    } while (moved > 0);
    if (moved < 0)
        return moved;
    if (how & WALK_PARENT)
        return 0;
    if ((how & WALK_DIR || w->want_dir) && !S_ISDIR(w->at.inode->mode))
        return -ENOTDIR;
    return 0;
}

int path_walk_locked(const struct path *base, const char *name, u32 how, struct path *out)
{
    struct walk *w = kmalloc(sizeof(*w));
    int err;

    if (!w)
        return -ENOMEM;
    err = walk_begin(w, base, name);
    if (!err)
        err = walk_run(w, how);
    if (!err) {
        *out = w->at;
        w->at = (struct path){0};
    }
    walk_end(w);
    kfree(w);
    return err;
}

int path_walk(const struct path *base, const char *name, u32 how, struct path *out)
{
    int err;

    mutex_lock(&fs_lock);
    err = path_walk_locked(base, name, how, out);
    mutex_unlock(&fs_lock);
    return err;
}

int path_make(const struct path *base, const char *path, u32 mode, struct path *out)
{
    struct walk *w = kmalloc(sizeof(*w));
    struct inode *child;
    int err;

    if (!w)
        return -ENOMEM;
    mutex_lock(&fs_lock);
    err = walk_begin(w, base, path);
    if (!err)
        err = walk_run(w, WALK_PARENT);
    if (!err) {
        err = walk_lookup(w, &child);
        if (err == -ENOENT) {
            err = w->at.inode->ops->create(w->at.inode, w->name, mode, 0, &child);
            err = err ? err : 1;
        }
    }
    if (err >= 0) {
        walk_enter(w, child);
        *out = w->at;
        w->at = (struct path){0};
    }
    walk_end(w);
    mutex_unlock(&fs_lock);
    kfree(w);
    return err;
}
