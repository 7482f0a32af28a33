/*
 * minfs.c: minfs as a file system: directories, links, mounting. The code for the disk's maps and
 * tables is in minfs_disk.c; the format is in abi/minfs.h.
 *
 * Directory contents are read and written through the page cache like any file, under fs_lock.
 */
#include "minfs.h"
#include "opt/directories/list.h"
#include "abi/errno.h"
#include "alloc.h"
#include "boot.h"
#include "klib.h"
#include "opt/mounts/mounts.h"
#include "opt/attributes/statfs.h"

#define MINFS_SUPER_MAGIC 0x6b626673
#define MS_RDONLY         1
#define ENTRY             sizeof(struct minfs_entry)
#define LINKS_MAX         65000u

static struct mnode *node_of(struct inode *inode)
{
    return inode->priv;
}

/* Programs must not get a name that leads out of its directory. */
static bool name_is_sound(const char *name)
{
    return name[0] && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

static int read_entry(struct inode *dir, i64 at, struct minfs_entry *e)
{
    struct iter it;
    i64 n;

    iter_kernel(&it, e, ENTRY);
    n = page_cache_read(dir, &it, at);
    if (n != (i64)ENTRY)
        return n < 0 ? (int)n : -EIO;
    e->name[MINFS_NAME_MAX] = 0;
    return e->ino && !name_is_sound(e->name) ? -EIO : 0;
}

static int write_entry(struct inode *dir, i64 at, struct minfs_entry *e)
{
    struct iter it;
    i64 n;

    iter_kernel(&it, e, ENTRY);
    n = page_cache_write(dir, &it, at);
    return n == (i64)ENTRY ? 0 : n < 0 ? (int)n : -EIO;
}

/* Byte position of the entry with this name, or of a free one for name == NULL; -ENOENT. */
static i64 find_entry(struct inode *dir, const char *name, struct minfs_entry *e)
{
    for (i64 at = 0; at < dir->size; at += ENTRY) {
        int err = read_entry(dir, at, e);

        if (err)
            return err;
        if (name ? e->ino && !strcmp(e->name, name) : !e->ino)
            return at;
    }
    return -ENOENT;
}

static int add_entry(struct inode *dir, const char *name, struct inode *inode)
{
    struct minfs_entry e;
    i64 at = find_entry(dir, NULL, &e);
    int err;

    if (at == -ENOENT)
        at = dir->size;
    if (at < 0)
        return (int)at;
    if (at + (i64)ENTRY > minfs_size_max(minfs_of(dir), dir->mode))
        return -ENOSPC;
    if (S_ISDIR(inode->mode) && dir->nlink >= LINKS_MAX)
        return -EMLINK;
    if (strlen(name) > MINFS_NAME_MAX)
        return -ENAMETOOLONG;
    memset(&e, 0, sizeof(e));
    e.ino = (u32)inode->ino;
    e.len = (u8)strlen(name);
    e.type = (u8)(inode->mode >> 12);
    strlcpy(e.name, name, sizeof(e.name));
    err = write_entry(dir, at, &e);
    if (err)
        return err;
    if (S_ISDIR(inode->mode)) {
        node_of(inode)->parent = (u32)dir->ino;
        dir->nlink++;
    }
    return minfs_write_inode(dir);
}

static int remove_entry(struct inode *dir, const char *name, bool is_dir)
{
    struct minfs_entry e;
    i64 at = find_entry(dir, name, &e);
    int err;

    if (at < 0)
        return (int)at;
    memset(&e, 0, sizeof(e));
    err = write_entry(dir, at, &e);
    if (err)
        return err;
    if (is_dir && dir->nlink > 2) /* a damaged count must not free the directory */
        dir->nlink--;
    return minfs_write_inode(dir);
}

/*
 * Directories must form a tree: walks to the root would not end in a circle. So the root is in no
 * directory, and every other one only in the directory that it names as its parent. By induction
 * the parents of a directory that was found are the directories on the way to it.
 */
static int minfs_lookup(struct inode *dir, const char *name, struct inode **out)
{
    struct minfs_entry e;
    i64 at = find_entry(dir, name, &e);
    int err = at < 0 ? (int)at : minfs_iget(minfs_of(dir), e.ino, out);

    if (err || !S_ISDIR((*out)->mode))
        return err;
    if (e.ino != MINFS_ROOT && node_of(*out)->parent == dir->ino)
        return 0;
    inode_put(*out);
    *out = NULL;
    return -EIO;
}

static struct inode *minfs_parent(struct inode *dir)
{
    struct inode *up = NULL;

    if (dir->ino != MINFS_ROOT)
        minfs_iget(minfs_of(dir), node_of(dir)->parent, &up);
    if (!up || S_ISDIR(up->mode))
        return up;
    inode_put(up);
    return NULL;
}

static int minfs_name(struct inode *dir, char *buf)
{
    struct inode *up = minfs_parent(dir);
    struct minfs_entry e;
    int err = up ? 0 : -ENOENT;

    for (i64 at = 0; !err; at += ENTRY) {
        err = at < up->size ? read_entry(up, at, &e) : -ENOENT;
        if (!err && e.ino == dir->ino) {
            strlcpy(buf, e.name, NAME_LEN_MAX + 1);
            break;
        }
    }
    inode_put(up);
    return err;
}

/* Position 2 is the first entry. */
static int minfs_readdir(struct inode *dir, i64 *pos, struct dir_sink *sink)
{
    struct minfs_entry e;

    for (; *pos - 2 < dir->size / (i64)ENTRY; ++*pos) {
        int err = read_entry(dir, (*pos - 2) * ENTRY, &e);

        if (err)
            return err;
        if (e.ino && !sink->put(sink, e.name, e.ino, (u32)e.type << 12, *pos + 1))
            return 0;
    }
    return 0;
}

static int writable(struct inode *dir)
{
    return minfs_of(dir)->read_only ? -EROFS : dir->nlink ? 0 : -ENOENT;
}

static int minfs_create(struct inode *dir, const char *name, u32 mode, u64 rdev, struct inode **out)
{
    int err = writable(dir);

    if (!err)
        err = minfs_new_inode(minfs_of(dir), mode, out);
    if (err)
        return err;
    (*out)->rdev = rdev;
    (*out)->nlink = S_ISDIR(mode) ? 2 : 1;
    inode_own(*out, dir);
    err = add_entry(dir, name, *out);
    if (!err)
        err = minfs_write_inode(*out);
    if (err) {
        (*out)->nlink = 0; /* evict gives the number back */
        inode_put(*out);
    }
    return err;
}

static int minfs_symlink(struct inode *dir, const char *name, const char *target)
{
    struct inode *inode;
    struct iter it;
    int err = minfs_create(dir, name, S_IFLNK | 0777, 0, &inode);
    i64 n;

    if (err)
        return err;
    iter_kernel(&it, (void *)target, strlen(target));
    n = page_cache_write(inode, &it, 0);
    if (n < 0) {
        remove_entry(dir, name, false);
        inode->nlink = 0;
        err = (int)n;
    }
    inode_put(inode);
    return err;
}

static i64 minfs_readlink(struct inode *inode, char *buf, u64 n)
{
    struct iter it;

    iter_kernel(&it, buf, n);
    return page_cache_read(inode, &it, 0);
}

static int minfs_link(struct inode *dir, const char *name, struct inode *inode)
{
    int err = inode->nlink >= LINKS_MAX ? -EMLINK : writable(dir);

    if (!err)
        err = add_entry(dir, name, inode);
    if (err)
        return err;
    inode->nlink++;
    inode_touch(inode, false);
    return minfs_write_inode(inode);
}

static int minfs_unlink(struct inode *dir, const char *name, struct inode *inode)
{
    int err = writable(dir);

    if (!err)
        err = remove_entry(dir, name, S_ISDIR(inode->mode));
    if (err)
        return err;
    /* A damaged count may be lower than the number of entries. */
    inode->nlink = S_ISDIR(inode->mode) || !inode->nlink ? 0 : inode->nlink - 1;
    inode_touch(inode, false);
    return minfs_write_inode(inode);
}

static int minfs_rename(struct inode *from, const char *old, struct inode *inode, struct inode *to,
                        const char *new, struct inode *target)
{
    int err = writable(to);

    if (!err && target)
        err = minfs_unlink(to, new, target);
    if (!err)
        err = add_entry(to, new, inode);
    if (!err)
        err = remove_entry(from, old, S_ISDIR(inode->mode));
    inode_touch(inode, false);
    return err ? err : minfs_write_inode(inode);
}

static bool minfs_is_empty(struct inode *dir)
{
    struct minfs_entry e;

    for (i64 at = 0; at < dir->size; at += ENTRY)
        if (read_entry(dir, at, &e) || e.ino)
            return false;
    return true;
}

static int minfs_read_page(struct inode *inode, u64 index, void *page)
{
    struct minfs *fs = minfs_of(inode);
    u32 block;
    int err = minfs_map(inode, index, false, &block);

    if (err || !block)
        return err; /* a hole: the page is zeroed already */
    return block_transfer(fs->bd, block, page, false);
}

static int minfs_write_page(struct inode *inode, u64 index, const void *page)
{
    struct minfs *fs = minfs_of(inode);
    u32 block;
    int err = fs->read_only ? -EROFS : minfs_map(inode, index, true, &block);

    if (err)
        return err;
    inode->dirty = true;
    return block_transfer(fs->bd, block, (void *)page, true);
}

const struct inode_ops minfs_ops = {
    .lookup = minfs_lookup,
    .parent = minfs_parent,
    .name = minfs_name,
    .readdir = minfs_readdir,
    .create = minfs_create,
    .symlink = minfs_symlink,
    .readlink = minfs_readlink,
    .link = minfs_link,
    .unlink = minfs_unlink,
    .rename = minfs_rename,
    .is_empty = minfs_is_empty,
    .truncate = minfs_truncate,
    .setattr = minfs_write_inode,
    .read_page = minfs_read_page,
    .write_page = minfs_write_page,
    .evict = minfs_evict,
};

static int minfs_statfs(struct super *sb, struct statfs64 *out)
{
    const struct minfs *fs = sb->priv;

    out->bsize = MINFS_BLOCK;
    out->blocks = fs->disk.blocks;
    out->bfree = out->bavail = fs->disk.free_blocks;
    out->files = fs->disk.inodes;
    out->ffree = fs->disk.free_inodes;
    out->namelen = MINFS_NAME_MAX;
    return 0;
}

static void minfs_umount(struct super *sb)
{
    struct minfs *fs = sb->priv;

    minfs_sync(sb);
    inode_put(sb->root);
    block_invalidate(fs->bd);
    block_close(fs->bd);
    kfree(fs);
    kfree(sb);
}

static const struct super_ops minfs_super_ops = {
    .statfs = minfs_statfs,
    .sync = minfs_sync,
    .umount = minfs_umount,
};

/*
 * A disk may be hostile: every number that is used as an address is checked, here or at its use.
 * The parts must be in the order of abi/minfs.h, so none overlaps another.
 */
static int check_super(const struct minfs_super *d, const struct block_device *bd)
{
    u64 block_maps = (u64)d->blocks / (MINFS_BLOCK * 8) + 1;
    u64 inode_maps = (u64)d->inodes / (MINFS_BLOCK * 8) + 1;
    u64 tables = ALIGN_UP((u64)d->inodes, MINFS_PER_BLOCK) / MINFS_PER_BLOCK;

    if (d->magic != MINFS_MAGIC || d->version != 1 || d->block_size != MINFS_BLOCK)
        return -EINVAL;
    if (d->blocks > bd->blocks || d->inodes < 2 || d->block_map == 0 ||
        d->block_map + block_maps > d->inode_map || d->inode_map + inode_maps > d->inode_table ||
        d->inode_table + tables > d->first_data || d->first_data >= d->blocks)
        return -EINVAL;
    if (d->free_blocks > d->blocks - d->first_data || d->free_inodes > d->inodes - 2)
        return -EINVAL;
    return 0;
}

static int open_disk(struct minfs *fs, const char *source)
{
    struct path at;
    struct buffer *b;
    int err = path_walk(NULL, source, WALK_FOLLOW, &at);

    if (err)
        return err;
    if ((at.inode->mode & S_IFMT) != S_IFBLK)
        err = -ENOTBLK;
    else if (!(fs->bd = block_open(at.inode->rdev)))
        err = -ENXIO;
    path_put(&at);
    if (err)
        return err;
    b = block_get(fs->bd, 0, &err);
    if (!b)
        return err;
    memcpy(&fs->disk, b->data, sizeof(fs->disk));
    block_put(fs->bd, b, false);
    return check_super(&fs->disk, fs->bd);
}

static int minfs_mount(const struct fs_type *type, const char *source, u32 flags, const char *data,
                       struct super **out)
{
    struct minfs *fs = kzalloc(sizeof(*fs));
    struct super *sb = kzalloc(sizeof(*sb));
    int err = fs && sb ? open_disk(fs, source) : -ENOMEM;

    if (!err) {
        mutex_init(&fs->lock, "minfs");
        fs->read_only = flags & MS_RDONLY || fs->bd->read_only;
        fs->sb = sb;
        *sb = (struct super){.refs = 1,
                             .ops = &minfs_super_ops,
                             .max_bytes = (i64)MINFS_MAX_BYTES,
                             .priv = fs,
                             .dev = MKDEV(254, 0),
                             .magic = MINFS_SUPER_MAGIC};
        err = minfs_iget(fs, MINFS_ROOT, &sb->root);
        if (!err && !S_ISDIR(sb->root->mode)) {
            inode_put(sb->root);
            err = -EINVAL;
        }
    }
    if (err) {
        if (fs && fs->bd)
            block_close(fs->bd);
        kfree(fs);
        kfree(sb);
        return err;
    }
    *out = sb;
    return 0;
}

static struct fs_type minfs_type = {.name = "minfs", .mount = minfs_mount};

static void minfs_init(void)
{
    fs_register(&minfs_type);
}
INITCALL(minfs_init);
