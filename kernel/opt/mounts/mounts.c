/* mounts.c: mounting, taking mounts off the tree, and chroot(2). */
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "fs/open.h"
#include "opt/directories/current.h"
#include "opt/directories/path_string.h"
#include "opt/mounts/mounts.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define MNT_DETACH 2

static bool is_below(const struct mount *m, const struct mount *top)
{
    while (m && m != top)
        m = m->parent;
    return m;
}

/* Takes top and the mounts below it off the table; NULL if they had been detached before. */
static struct mount *unlink_tree(const struct mount *top)
{
    struct mount *gone = NULL;

    for (struct mount **link = &mounts; *link;) {
        struct mount *m = *link;

        if (!is_below(m, top)) {
            link = &m->next;
            continue;
        }
        *link = m->next;
        m->next = gone;
        gone = m;
    }
    return gone;
}

/* Needs fs_lock. */
static int detach(const struct path *at, u32 flags, struct mount **gone)
{
    struct mount *m = at->mnt;

    if (!m || at->inode != m->sb->root || !m->parent)
        return -EINVAL;
    if (!(flags & MNT_DETACH) && atomic_load(&m->refs) > 2)
        return -EBUSY; /* more than the table's reference and the one in at */
    *gone = unlink_tree(m);
    return *gone ? 0 : -EINVAL;
}

static int fs_umount(const char *where, u32 flags)
{
    struct path at;
    struct mount *gone = NULL;
    int err = path_walk(NULL, where, WALK_FOLLOW, &at);

    if (err)
        return err;
    mutex_lock(&fs_lock);
    err = detach(&at, flags, &gone);
    mutex_unlock(&fs_lock);
    path_put(&at);
    while (gone) {
        struct mount *m = gone;

        gone = m->next;
        if (m->sb->ops && m->sb->ops->sync)
            m->sb->ops->sync(m->sb);
        mount_put(m);
    }
    return err;
}

long sys_chroot(u64 path)
{
    struct path at;
    long err;

    if (curproc->euid)
        return -EPERM;
    err = at_walk(AT_FDCWD, path, 0, WALK_FOLLOW | WALK_DIR, &at);
    return err ? err : change_to(&at, &current_fs()->root);
}

long sys_umount2(u64 target, u64 flags)
{
    char *where;
    long err;

    BUG_NOTE(umount_permission, curproc->euid);
    if (!BUG(umount_permission) && curproc->euid)
        return -EPERM;
    where = kmalloc(PATH_LEN_MAX);
    if (!where)
        return -ENOMEM;
    err = copyinstr(where, target, PATH_LEN_MAX);
    if (err >= 0)
        err = fs_umount(where, (u32)flags);
    kfree(where);
    return err;
}

/* A short string argument of mount(2): type, source and options. NULL reads as "". */
static long copy_word(char *buf, u64 size, u64 addr)
{
    long n;

    buf[0] = 0;
    if (!addr)
        return 0;
    n = copyinstr(buf, addr, size);
    return n == -ENAMETOOLONG ? -EINVAL : n < 0 ? n : 0;
}

static int mount_on(const char *source, const char *where, const char *type, u32 flags,
                    const char *data)
{
    struct path at;
    char *text;
    int err;

    if (!fs_find_type(type))
        return -ENODEV;
    err = path_walk(NULL, where, WALK_FOLLOW | WALK_DIR, &at);
    if (err)
        return err;
    text = kmalloc(PATH_LEN_MAX);
    err = text ? path_string(&at, text, PATH_LEN_MAX) : -ENOMEM;
    if (!err)
        err = fs_mount_at(&at, source, text, type, flags, data);
    kfree(text);
    path_put(&at);
    return err;
}

long sys_mount(u64 source, u64 target, u64 type, u64 flags, u64 data)
{
    char kind[32], src[128], options[256];
    char *where;
    long err;

    if (curproc->euid)
        return -EPERM;
    err = copy_word(kind, sizeof(kind), type);
    if (!err)
        err = copy_word(src, sizeof(src), source);
    if (!err)
        err = copy_word(options, sizeof(options), data);
    if (err)
        return err;
    where = kmalloc(PATH_LEN_MAX);
    if (!where)
        return -ENOMEM;
    err = copyinstr(where, target, PATH_LEN_MAX);
    if (err >= 0)
        err = mount_on(src, where, kind, (u32)flags, options);
    kfree(where);
    return err;
}
