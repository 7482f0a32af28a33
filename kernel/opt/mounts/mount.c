/*
 * mount.c: file system types and the mount table.
 *
 * A mount says "in mount parent, inode covered is hidden by the root of super block sb". The table
 * is a list in mounting order; walking goes down into the newest mount at a place (fs_lock).
 * References: the table holds one, every open file, working directory and child mount another one,
 * so a mount with more than the table's own reference is busy. MNT_DETACH takes a mount and all
 * below it off the table; a super block is shut down when its last mount is freed.
 */
#include "fs.h"
#include "opt/mounts/cross.h"
#include "alloc.h"
#include "abi/errno.h"
#include "klib.h"
#include "opt/paths/namei.h"
#include "fs/tmpfs.h"
#include "opt/mounts/mounts.h"

static struct fs_type *types;
struct mount *mounts; /* oldest first; (fs_lock) */

void fs_register(struct fs_type *type)
{
    type->next = types;
    types = type;
}

const struct fs_type *fs_type_list(void)
{
    return types;
}

struct mount *mount_get(struct mount *mnt)
{
    if (mnt)
        atomic_add(&mnt->refs, 1);
    return mnt;
}

static void super_drop(struct super *sb)
{
    if (atomic_sub(&sb->refs, 1) == 0 && sb->ops && sb->ops->umount)
        sb->ops->umount(sb);
}

void mount_put(struct mount *mnt)
{
    while (mnt && atomic_sub(&mnt->refs, 1) == 0) {
        struct mount *parent = mnt->parent;

        super_drop(mnt->sb);
        if (mnt->covered)
            inode_put(mnt->covered);
        kfree(mnt->source);
        kfree(mnt->where);
        kfree(mnt);
        mnt = parent;
    }
}

bool mount_cross_down(struct path *path)
{
    struct mount *top = NULL;

    for (struct mount *m = mounts; m; m = m->next)
        if (m->parent == path->mnt && m->covered == path->inode)
            top = m;
    if (!top)
        return false;
    mount_get(top);
    inode_get(top->sb->root);
    path_put(path);
    path->mnt = top;
    path->inode = top->sb->root;
    return true;
}

bool mount_covers(const struct mount *mnt, const struct inode *inode)
{
    for (struct mount *m = mounts; m; m = m->next)
        if (m->parent == mnt && m->covered == inode)
            return true;
    return false;
}

bool mount_cross_up(struct path *path)
{
    struct mount *m = path->mnt;
    struct path up;

    if (!m || !m->parent || path->inode != m->sb->root)
        return false;
    up.mnt = mount_get(m->parent);
    up.inode = inode_get(m->covered);
    path_put(path);
    *path = up;
    return true;
}

const struct fs_type *fs_find_type(const char *name)
{
    for (const struct fs_type *t = types; t; t = t->next)
        if (!strcmp(t->name, name))
            return t;
    return NULL;
}

static struct mount *new_mount(struct super *sb, const char *source, const char *where, u32 flags)
{
    struct mount *m = kzalloc(sizeof(*m));

    if (!m)
        return NULL;
    m->refs = 1;
    m->sb = sb;
    m->flags = flags;
    m->source = kstrdup(source);
    m->where = kstrdup(where);
    if (!m->source || !m->where) {
        kfree(m->source);
        kfree(m->where);
        kfree(m);
        return NULL;
    }
    return m;
}

static void append_mount(struct mount *m)
{
    struct mount **last = &mounts;

    while (*last)
        last = &(*last)->next;
    *last = m;
}

struct mount *mount_first(struct super *sb)
{
    KASSERT(!mounts);
    sb->type = &tmpfs_type;
    tmpfs_limit(sb);
    mounts = new_mount(sb, "tmpfs", "/", 0);
    if (!mounts)
        panic("no memory for the first mount");
    return mount_get(mounts);
}

int fs_mount_at(const struct path *at, const char *source, const char *where, const char *type,
                u32 flags, const char *data)
{
    const struct fs_type *t = fs_find_type(type);
    struct super *sb;
    struct mount *m;
    int err = t ? t->mount(t, source, flags, data, &sb) : -ENODEV;

    if (err)
        return err;
    sb->type = t;
    m = new_mount(sb, source, where, flags);
    if (!m) {
        super_drop(sb);
        return -ENOMEM;
    }
    mutex_lock(&fs_lock);
    m->parent = mount_get(at->mnt);
    m->covered = inode_get(at->inode);
    append_mount(m);
    mutex_unlock(&fs_lock);
    return 0;
}

int fs_mount(const char *source, const char *where, const char *type)
{
    struct path at;
    int err = path_walk(NULL, where, WALK_FOLLOW | WALK_DIR, &at);

    if (err)
        return err;
    err = fs_mount_at(&at, source, where, type, 0, "");
    path_put(&at);
    return err;
}
