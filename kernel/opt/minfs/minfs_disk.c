/*
 * minfs_disk.c: minfs and its disk: bitmaps, the inode table, block pointers, truncation.
 * Format: abi/minfs.h. Metadata go through the block cache, contents do not.
 *
 * fs->lock covers the bitmaps, the list of inodes in memory and every inode's block pointers. An
 * inode is in that list while it has references; evict takes it out, and frees its blocks if it has
 * no name any more.
 */
#include "minfs.h"
#include "opt/block/flush.h"
#include "abi/fcntl.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "fs/tmpfs.h"

#define BITS_PER_BLOCK (MINFS_BLOCK * 8)

/* Finds a clear bit in a map and sets it; -ENOSPC. map: its first block. Needs fs->lock. */
static int take_bit(struct minfs *fs, u32 map, u32 first, u32 count, u32 *found)
{
    for (u32 at = first; at < count;) {
        u32 in_block = at % BITS_PER_BLOCK, limit = MIN(count - at + in_block, BITS_PER_BLOCK);
        int err;
        struct buffer *b = block_get(fs->bd, map + at / BITS_PER_BLOCK, &err);

        if (!b)
            return err;
        for (u32 i = in_block; i < limit; i++)
            if (!(b->data[i / 8] >> (i % 8) & 1)) {
                b->data[i / 8] |= (u8)(1 << (i % 8));
                block_put(fs->bd, b, true);
                *found = at - in_block + i;
                return 0;
            }
        block_put(fs->bd, b, false);
        at += limit - in_block;
    }
    return -ENOSPC;
}

/* True if the bit was set. */
static bool clear_bit(struct minfs *fs, u32 map, u32 bit)
{
    int err;
    struct buffer *b = block_get(fs->bd, map + bit / BITS_PER_BLOCK, &err);
    u8 *byte, mask = (u8)(1 << (bit % 8));
    bool was_set;

    if (!b)
        return false;
    byte = &b->data[bit % BITS_PER_BLOCK / 8];
    was_set = *byte & mask;
    *byte &= (u8)~mask;
    block_put(fs->bd, b, true);
    return was_set;
}

/* The counters of the super block may be wrong: they stay between 0 and what the disk has. */
static void count_free(u32 *count, int change, u32 max)
{
    if (change > 0 ? *count < max : *count > 0)
        *count += (u32)change;
}

static void count_free_blocks(struct minfs *fs, int change)
{
    count_free(&fs->disk.free_blocks, change, fs->disk.blocks - fs->disk.first_data);
}

static void count_free_inodes(struct minfs *fs, int change)
{
    count_free(&fs->disk.free_inodes, change, fs->disk.inodes - 2);
}

static bool is_data(const struct minfs *fs, u32 block)
{
    return block >= fs->disk.first_data && block < fs->disk.blocks;
}

/* Allocates a block. Tables need zero; contents do not, as the page cache writes whole blocks. */
static int alloc_block(struct minfs *fs, bool zero, u32 *block)
{
    int err = take_bit(fs, fs->disk.block_map, fs->disk.first_data, fs->disk.blocks, block);
    struct buffer *b;

    if (err)
        return err;
    count_free_blocks(fs, -1);
    if (!zero)
        return 0;
    b = block_get(fs->bd, *block, &err);
    if (!b)
        return err;
    memset(b->data, 0, MINFS_BLOCK);
    block_put(fs->bd, b, true);
    return 0;
}

static void free_block(struct minfs *fs, u32 block)
{
    if (is_data(fs, block) && clear_bit(fs, fs->disk.block_map, block))
        count_free_blocks(fs, 1);
}

/* Reads the pointer at index of a table block; make allocates a block for an empty one. */
static int follow(struct minfs *fs, u32 table, u32 index, bool make, bool is_table, u32 *out)
{
    int err = 0;
    struct buffer *b = block_get(fs->bd, table, &err);
    u32 *slot;
    bool dirty = false;

    if (!b)
        return err;
    slot = &((u32 *)b->data)[index];
    if (!*slot && make) {
        err = alloc_block(fs, is_table, slot);
        dirty = !err;
        if (err)
            *slot = 0;
    }
    *out = *slot;
    block_put(fs->bd, b, dirty);
    return !err && *out && !is_data(fs, *out) ? -EIO : err;
}

/* The same for a pointer in the inode. */
static int root_slot(struct minfs *fs, u32 *slot, bool make, bool is_table, u32 *out)
{
    int err = 0;

    if (!*slot && make)
        err = alloc_block(fs, is_table, slot);
    if (err)
        *slot = 0;
    *out = *slot;
    return !err && *out && !is_data(fs, *out) ? -EIO : err;
}

static int map_locked(struct minfs *fs, struct mnode *n, u64 index, bool make, u32 *block)
{
    u32 table;
    int err;

    *block = 0;
    if (index < MINFS_DIRECT)
        return root_slot(fs, &n->direct[index], make, false, block);
    index -= MINFS_DIRECT;
    if (index < MINFS_POINTERS) {
        err = root_slot(fs, &n->indirect, make, true, &table);
        return err || !table ? err : follow(fs, table, (u32)index, make, false, block);
    }
    index -= MINFS_POINTERS;
    if (index >= (u64)MINFS_POINTERS * MINFS_POINTERS)
        return -EFBIG;
    err = root_slot(fs, &n->double_indirect, make, true, &table);
    if (!err && table)
        err = follow(fs, table, (u32)(index / MINFS_POINTERS), make, true, &table);
    return err || !table ? err
                         : follow(fs, table, (u32)(index % MINFS_POINTERS), make, false, block);
}

int minfs_map(struct inode *inode, u64 index, bool make, u32 *block)
{
    struct minfs *fs = minfs_of(inode);
    int err;

    mutex_lock(&fs->lock);
    err = map_locked(fs, inode->priv, index, make, block);
    mutex_unlock(&fs->lock);
    return err;
}

/* Frees the blocks of a table from index first on, and the table if it has no earlier ones. */
static void free_table(struct minfs *fs, u32 *slot, u32 depth, u64 base, u64 first)
{
    u64 span = depth > 1 ? MINFS_POINTERS : 1;
    int err;
    struct buffer *b;

    if (!is_data(fs, *slot) || base + span * MINFS_POINTERS <= first)
        return;
    b = block_get(fs->bd, *slot, &err);
    if (!b)
        return;
    for (u32 i = 0; i < MINFS_POINTERS; i++) {
        u32 *p = &((u32 *)b->data)[i];
        u64 at = base + i * span;

        if (!*p)
            continue;
        if (depth > 1) {
            free_table(fs, p, depth - 1, at, first);
        } else if (at >= first) {
            free_block(fs, *p);
            *p = 0;
        }
    }
    block_put(fs->bd, b, true);
    if (base >= first) {
        free_block(fs, *slot);
        *slot = 0;
    }
}

static void free_from(struct minfs *fs, struct mnode *n, u64 first)
{
    for (u64 i = first; i < MINFS_DIRECT; i++) {
        if (n->direct[i])
            free_block(fs, n->direct[i]);
        n->direct[i] = 0;
    }
    free_table(fs, &n->indirect, 1, MINFS_DIRECT, first);
    free_table(fs, &n->double_indirect, 2, MINFS_DIRECT + MINFS_POINTERS, first);
}

int minfs_truncate(struct inode *inode, i64 size)
{
    struct minfs *fs = minfs_of(inode);
    int err = page_cache_truncate(inode, size);

    if (err)
        return err;
    mutex_lock(&fs->lock);
    free_from(fs, inode->priv, ALIGN_UP(size, MINFS_BLOCK) / MINFS_BLOCK);
    mutex_unlock(&fs->lock);
    return 0;
}

static struct minfs_inode *inode_slot(struct minfs *fs, u32 ino, struct buffer **b, int *err)
{
    *b = block_get(fs->bd, fs->disk.inode_table + ino / MINFS_PER_BLOCK, err);
    return *b ? (struct minfs_inode *)(*b)->data + ino % MINFS_PER_BLOCK : NULL;
}

#define NS_PER_SEC 1000000000L
#define SEC_MAX    9000000000L /* the disk's times end 292 years before and after 1970 */

static i64 to_ns(struct timespec64 t)
{
    return MAX(MIN(t.sec, SEC_MAX), -SEC_MAX) * NS_PER_SEC + t.nsec;
}

static struct timespec64 from_ns(i64 ns)
{
    i64 rest = ns % NS_PER_SEC;

    return rest < 0 ? (struct timespec64){ns / NS_PER_SEC - 1, rest + NS_PER_SEC}
                    : (struct timespec64){ns / NS_PER_SEC, rest};
}

i64 minfs_size_max(const struct minfs *fs, u32 mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return (i64)(fs->disk.blocks - fs->disk.first_data) * MINFS_BLOCK;
    case S_IFREG:
        return 0x7fffffffffffffff; /* mostly a hole */
    case S_IFLNK:
        return PATH_LEN_MAX - 1;
    default:
        return 0;
    }
}

/* An inode that is in use, of a known type, whose size its type can have. */
static bool is_sound(const struct minfs *fs, const struct minfs_inode *d)
{
    static const u32 types = 1 << (S_IFREG >> 12) | 1 << (S_IFDIR >> 12) | 1 << (S_IFLNK >> 12) |
                             1 << (S_IFCHR >> 12) | 1 << (S_IFBLK >> 12) | 1 << (S_IFIFO >> 12) |
                             1 << (S_IFSOCK >> 12);

    if (d->mode > 0177777 || !(types >> (d->mode >> 12) & 1) || !d->nlink)
        return false;
    if (S_ISDIR(d->mode) && d->size % sizeof(struct minfs_entry))
        return false;
    return d->size <= (u64)minfs_size_max(fs, d->mode);
}

int minfs_write_inode(struct inode *inode)
{
    struct minfs *fs = minfs_of(inode);
    const struct mnode *n = inode->priv;
    struct minfs_inode *d;
    struct buffer *b;
    int err;

    if (fs->read_only)
        return 0;
    d = inode_slot(fs, (u32)inode->ino, &b, &err);
    if (!d)
        return err;
    *d = (struct minfs_inode){
        .mode = inode->mode,
        .nlink = inode->nlink,
        .uid = inode->uid,
        .gid = inode->gid,
        .size = inode->size,
        .atime = to_ns(inode->atime),
        .mtime = to_ns(inode->mtime),
        .ctime = to_ns(inode->ctime),
        .rdev = (u32)inode->rdev,
        .parent = n->parent,
        .indirect = n->indirect,
        .double_indirect = n->double_indirect,
    };
    memcpy(d->direct, n->direct, sizeof(d->direct));
    block_put(fs->bd, b, true);
    inode->dirty = false;
    return 0;
}

static struct inode *build_inode(struct minfs *fs, u32 ino, u32 mode)
{
    struct inode *inode = inode_new(NULL, mode);
    struct mnode *n = inode ? kzalloc(sizeof(*n)) : NULL;

    if (!n) {
        kfree(inode);
        return NULL;
    }
    inode->sb = fs->sb;
    inode->ino = ino;
    inode->priv = n;
    inode->ops = &minfs_ops;
    inode->fops = fops_for_mode(mode);
    return inode;
}

static int read_inode(struct minfs *fs, u32 ino, struct inode **out)
{
    const struct minfs_inode *d;
    struct inode *inode;
    struct buffer *b;
    int err;

    d = inode_slot(fs, ino, &b, &err);
    if (!d)
        return err;
    err = is_sound(fs, d) ? 0 : -EIO;
    inode = err ? NULL : build_inode(fs, ino, d->mode);
    if (inode) {
        struct mnode *n = inode->priv;

        inode->nlink = d->nlink;
        inode->uid = d->uid;
        inode->gid = d->gid;
        inode->size = (i64)d->size;
        inode->rdev = d->rdev;
        inode->atime = from_ns(d->atime);
        inode->mtime = from_ns(d->mtime);
        inode->ctime = from_ns(d->ctime);
        n->parent = d->parent;
        memcpy(n->direct, d->direct, sizeof(n->direct));
        n->indirect = d->indirect;
        n->double_indirect = d->double_indirect;
    }
    if (!inode && !err)
        err = -ENOMEM;
    block_put(fs->bd, b, false);
    *out = inode;
    return err;
}

static void remember(struct minfs *fs, struct inode *inode)
{
    inode->hash_next = fs->inodes;
    fs->inodes = inode;
}

/* One more reference, unless the last one is gone and the inode is being evicted. */
static bool try_get(struct inode *inode)
{
    int refs = atomic_load(&inode->refs);

    while (refs > 0)
        if (__atomic_compare_exchange_n(&inode->refs, &refs, refs + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return true;
    return false;
}

/* One reference; *leaving tells that the inode is there but is being evicted right now. */
static struct inode *find_in_memory(struct minfs *fs, u32 ino, bool *leaving)
{
    *leaving = false;
    for (struct inode *i = fs->inodes; i; i = i->hash_next) {
        if (i->ino != ino)
            continue;
        if (try_get(i))
            return i;
        *leaving = true;
    }
    return NULL;
}

/* The next inode after last (NULL: the first) that is in use and has a name; drops last. */
static struct inode *next_in_use(struct minfs *fs, struct inode *last)
{
    struct inode *i;

    mutex_lock(&fs->lock);
    i = last ? last->hash_next : fs->inodes;
    while (i && !(i->nlink && try_get(i)))
        i = i->hash_next;
    mutex_unlock(&fs->lock);
    inode_put(last);
    return i;
}

int minfs_iget(struct minfs *fs, u32 ino, struct inode **out)
{
    int err = ino && ino < fs->disk.inodes ? 0 : -EIO;
    bool leaving;

    mutex_lock(&fs->lock);
    *out = err ? NULL : find_in_memory(fs, ino, &leaving);
    while (!err && !*out && leaving) { /* its last writes must reach the disk first */
        mutex_unlock(&fs->lock);
        schedule();
        mutex_lock(&fs->lock);
        *out = find_in_memory(fs, ino, &leaving);
    }
    if (!err && !*out) {
        err = read_inode(fs, ino, out);
        if (!err)
            remember(fs, *out);
    }
    mutex_unlock(&fs->lock);
    return err;
}

int minfs_new_inode(struct minfs *fs, u32 mode, struct inode **out)
{
    u32 ino;
    int err;

    mutex_lock(&fs->lock);
    err = take_bit(fs, fs->disk.inode_map, 1, fs->disk.inodes, &ino);
    *out = err ? NULL : build_inode(fs, ino, mode);
    if (!err && !*out) {
        clear_bit(fs, fs->disk.inode_map, ino);
        err = -ENOMEM;
    }
    if (!err) {
        count_free_inodes(fs, -1);
        remember(fs, *out);
    }
    mutex_unlock(&fs->lock);
    return err;
}

static void erase_inode(struct minfs *fs, struct inode *inode)
{
    struct minfs_inode *d;
    struct buffer *b;
    int err;

    free_from(fs, inode->priv, 0);
    d = inode_slot(fs, (u32)inode->ino, &b, &err);
    if (d) {
        memset(d, 0, sizeof(*d));
        block_put(fs->bd, b, true);
    }
    if (clear_bit(fs, fs->disk.inode_map, (u32)inode->ino))
        count_free_inodes(fs, 1);
}

void minfs_evict(struct inode *inode)
{
    struct minfs *fs = minfs_of(inode);

    if (inode->nlink && !fs->read_only) {
        page_cache_flush(inode);
        if (inode->dirty)
            minfs_write_inode(inode);
    }
    mutex_lock(&fs->lock);
    for (struct inode **i = &fs->inodes; *i; i = &(*i)->hash_next)
        if (*i == inode) {
            *i = inode->hash_next;
            break;
        }
    if (!inode->nlink && !fs->read_only)
        erase_inode(fs, inode);
    mutex_unlock(&fs->lock);
    kfree(inode->priv);
}

/* Everything that is only in memory goes to the disk: contents, inodes, bitmaps, super block. */
int minfs_sync(struct super *sb)
{
    struct minfs *fs = sb->priv;
    struct buffer *b;
    int err = 0;

    if (fs->read_only)
        return 0;
    for (struct inode *i = next_in_use(fs, NULL); i; i = next_in_use(fs, i)) {
        if (!err)
            err = page_cache_flush(i);
        if (!err && i->dirty)
            err = minfs_write_inode(i);
    }
    if (err)
        return err;
    b = block_get(fs->bd, 0, &err);
    if (!b)
        return err;
    memcpy(b->data, &fs->disk, sizeof(fs->disk));
    block_put(fs->bd, b, true);
    return block_sync(fs->bd);
}
