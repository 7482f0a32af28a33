/*
 * namei.c: from a path name to a place in the tree.
 *
 * A walk keeps the place it has reached and the text that is still to be walked. A symbolic link
 * replaces the rest of the text by its target followed by what was left; an absolute target starts
 * again at the root. After every step the walk goes down into whatever is mounted there, and ".."
 * at the root of a mount first goes up to the place it covers.
 *
 * A walk runs under fs_lock, so names cannot change between its steps.
 */
#include "fs.h"
#include "alloc.h"
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "namei.h"

struct mutex fs_lock = MUTEX_INIT(fs_lock, "fs");

static void forget_dir(struct walk *w)
{
    inode_put(w->dir);
    w->dir = NULL;
}

static int walk_to_root(struct walk *w)
{
    if (w->resolve & RESOLVE_BENEATH)
        return -EXDEV;
    path_put(&w->at);
    w->at = w->resolve & RESOLVE_IN_ROOT ? w->top : current_fs()->root;
    path_get(&w->at);
    forget_dir(w);
    return 0;
}

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

int walk_restrict(struct walk *w, const struct path *base, u32 resolve)
{
    w->resolve = resolve;
    w->top = base ? *base : current_fs()->cwd;
    return resolve && *w->rest == '/' ? walk_to_root(w) : 0;
}

void walk_end(struct walk *w)
{
    path_put(&w->at);
    forget_dir(w);
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

    forget_dir(w);
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

/* w->text = target of the link + "/" + the text that is left to walk. */
static int expand_link(struct walk *w, struct inode *link)
{
    u64 left = strlen(w->rest);
    char *text;
    i64 n;

    if (++w->links > SYMLINKS_MAX)
        return -ELOOP;
    text = kmalloc(PATH_LEN_MAX + left + 2);
    if (!text)
        return -ENOMEM;
    n = link->ops->readlink(link, text, PATH_LEN_MAX - 1);
    if (n <= 0) {
        kfree(text);
        return n ? (int)n : -ENOENT;
    }
    if (left || w->want_dir)
        text[n++] = '/';
    memcpy(text + n, w->rest, left + 1);
    kfree(w->text);
    w->rest = w->text = text;
    return *text == '/' ? walk_to_root(w) : 0;
}

int walk_follow(struct walk *w, struct inode *link)
{
    struct path to = {0};
    int err;

    if (w->resolve & RESOLVE_NO_SYMLINKS)
        return -ELOOP;
    if (!link->ops->follow)
        return expand_link(w, link);
    if (w->resolve & RESOLVE_NO_MAGICLINKS)
        return -ELOOP;
    if (w->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT))
        return -EXDEV;
    if (++w->links > SYMLINKS_MAX)
        return -ELOOP;
    err = link->ops->follow(link, &to.mnt, &to.inode);
    if (err)
        return err;
    path_put(&w->at);
    w->at = to;
    forget_dir(w);
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
    forget_dir(w);
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

/*
 * Writes the absolute path of a directory, by asking each directory for its name on the way up.
 * Needs fs_lock. -ENOENT when the directory has been removed.
 */
int path_string_locked(const struct path *path, char *buf, u64 n)
{
    const struct path *root = &current_fs()->root;
    struct path at = *path;
    char *name = kmalloc(NAME_LEN_MAX + 1);
    u64 start = n - 1;
    int err = name ? 0 : -ENOMEM;

    path_get(&at);
    buf[start] = 0;
    while (!err && !(at.inode == root->inode && at.mnt == root->mnt)) {
        struct inode *parent;
        u64 len;

        if (mount_cross_up(&at))
            continue;
        if (!at.mnt->parent && at.inode == at.mnt->sb->root)
            break;
        err = at.inode->ops->name ? at.inode->ops->name(at.inode, name) : -ENOENT;
        parent = err ? NULL : at.inode->ops->parent(at.inode);
        if (!parent) {
            err = err ? err : -ENOENT;
            break;
        }
        inode_put(at.inode);
        at.inode = parent;
        len = strlen(name);
        if (len + 1 > start) {
            err = -ERANGE;
            break;
        }
        start -= len;
        memcpy(buf + start, name, len);
        buf[--start] = '/';
    }
    path_put(&at);
    kfree(name);
    if (!err && start == n - 1 && n > 1)
        buf[--start] = '/';
    if (!err)
        memmove(buf, buf + start, n - start);
    return err;
}

int path_string(const struct path *path, char *buf, u64 n)
{
    bool held = mutex_held(&fs_lock); /* true while a walk reads a link of procfs */
    int err;

    if (!held)
        mutex_lock(&fs_lock);
    err = path_string_locked(path, buf, n);
    if (!held)
        mutex_unlock(&fs_lock);
    return err;
}
