/*
 * follow.c: a walk meets a symbolic link. It replaces the rest of the text by its target followed
 * by what was left; an absolute target starts again at the root.
 */
#include "abi/errno.h"
#include "opt/directories/current.h"
#include "alloc.h"
#include "opt/paths/namei.h"
#include "klib.h"

#define SYMLINKS_MAX 40

static int walk_to_root(struct walk *w)
{
    if (w->resolve & RESOLVE_BENEATH)
        return -EXDEV;
    path_put(&w->at);
    w->at = w->resolve & RESOLVE_IN_ROOT ? w->top : current_fs()->root;
    path_get(&w->at);
    walk_forget_dir(w);
    return 0;
}

int walk_restrict(struct walk *w, const struct path *base, u32 resolve)
{
    w->resolve = resolve;
    w->top = base ? *base : current_fs()->cwd;
    return resolve && *w->rest == '/' ? walk_to_root(w) : 0;
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
    walk_forget_dir(w);
    return 0;
}
