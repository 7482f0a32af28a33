/* shown.c: the absolute path of an open file, for /proc/self/fd and the watchers of names. */
#include "opt/paths/namei.h"
#include "opt/directories/current.h"
#include "abi/fcntl.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "opt/directories/path_string.h"

static bool is_dots(const char *name)
{
    return !name[0] || !strcmp(name, ".") || !strcmp(name, "..");
}

/*
 * Moves a walk on to the directory where the last name is not a symbolic link. 1: it is a magic
 * link of procfs, and buf has its text, which is the path already.
 */
static int walk_to_real(struct walk *w, bool follow, char *buf, u64 n)
{
    struct inode *child;
    bool magic;
    int err = walk_run(w, WALK_PARENT);

    while (!err && follow && !is_dots(w->name)) {
        if (walk_lookup(w, &child))
            return 0;
        if (!S_ISLNK(child->mode)) {
            inode_put(child);
            return 0;
        }
        magic = child->ops->follow;
        if (magic) {
            i64 len = child->ops->readlink(child, buf, n - 1);

            err = len > 0 ? 1 : -ENOENT;
            if (len > 0)
                buf[len] = 0;
        } else {
            err = walk_follow(w, child);
        }
        inode_put(child);
        if (!err)
            err = walk_run(w, WALK_PARENT);
    }
    return err;
}

static int real_locked(struct walk *w, const struct path *base, const char *name, bool follow,
                       char *buf, u64 n)
{
    int err = walk_begin(w, base, name);
    u64 len;

    if (!err)
        err = walk_to_real(w, follow, buf, n);
    if (err)
        return err > 0 ? 0 : err;
    if (!strcmp(w->name, ".."))
        err = walk_up(w);
    if (!err)
        err = path_string_locked(&w->at, buf, n);
    if (err || is_dots(w->name))
        return err;
    len = strlen(buf);
    if (len + strlen(w->name) + 2 > n)
        return -ENAMETOOLONG;
    ksnprintf(buf + len, n - len, "%s%s", len > 1 ? "/" : "", w->name);
    return 0;
}

static int path_real(const struct path *base, const char *name, bool follow, char *buf, u64 n)
{
    struct walk *w = kmalloc(sizeof(*w));
    int err;

    if (!w)
        return -ENOMEM;
    mutex_lock(&fs_lock);
    err = real_locked(w, base, name, follow, buf, n);
    walk_end(w);
    mutex_unlock(&fs_lock);
    kfree(w);
    return err;
}

/* True if no component after the first is empty or begins with a dot, as "." and ".." do. */
static bool is_plain(const char *name)
{
    while (*name) {
        if (*name == '/' && (name[1] == '/' || name[1] == '.'))
            return false;
        name++;
    }
    return true;
}

/* The absolute path that /proc/self/fd will show for name opened at base. */
char *shown_path(const struct path *base, const char *name, bool linked, u32 flags)
{
    char *text = kmalloc(PATH_LEN_MAX);
    const struct path *at =
        base ? base : &current_fs()->cwd; /* read under fs_lock: it may change */
    u64 len;

    if (!text)
        return NULL;
    if ((linked || *name == '.' || !is_plain(name)) &&
        !path_real(base, name, !(flags & O_NOFOLLOW), text, PATH_LEN_MAX))
        return text;
    if (*name == '/' || path_string(at, text, PATH_LEN_MAX) != 0) {
        strlcpy(text, name, PATH_LEN_MAX);
        return text;
    }
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (!strcmp(name, "."))
        return text;
    len = strlen(text);
    if (len && text[len - 1] != '/' && len + 1 < PATH_LEN_MAX)
        text[len++] = '/';
    strlcpy(text + len, name, PATH_LEN_MAX - len);
    return text;
}
