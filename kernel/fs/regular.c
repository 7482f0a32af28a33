/*
 * regular.c: file operations that do not depend on the file system: regular files on the page
 * cache, directories, and the choice by type of node.
 */
#include "tmpfs.h"
#include "abi/errno.h"
#include "opt/memfd/memfd.h"
#include "devfs.h"
#include "open.h"
#include "pipe.h"

static i64 regular_read(struct file *file, struct iter *to, i64 *pos)
{
    i64 n = page_cache_read(file->inode, to, *pos);

    if (n > 0) {
        *pos += n;
        if (!(file->oflags & O_NOATIME))
            inode_accessed(file->inode);
    }
    return n;
}

static i64 regular_write(struct file *file, struct iter *from, i64 *pos)
{
    struct inode *inode = file->inode;
    i64 n;

    if (!from->left)
        return 0;
    mutex_lock(&inode->lock);
    if (file->oflags & O_APPEND)
        *pos = inode->size;
    n = limit_write(inode, from, *pos);
    if (!n)
        n = seals_allow_write(inode, *pos + (i64)from->left);
    if (!n)
        n = page_cache_write(inode, from, *pos);
    mutex_unlock(&inode->lock);
    if (n > 0)
        *pos += n;
    return n;
}

static int regular_mmap(struct file *file, struct vma *vma)
{
    int err = page_cache_mmap(file, vma);

    if (!err)
        err = seals_allow_mapping(file->inode, vma);
    if (err)
        vm_object_remove(vma);
    return err;
}

static const struct file_ops regular_fops = {
    .read = regular_read,
    .write = regular_write,
    .mmap = regular_mmap,
    .fsync = IF_OPTION(CONFIG_FILEIO, regular_fsync),
};

static i64 dir_read(struct file *file, struct iter *to, i64 *pos)
{
    return -EISDIR;
}

static const struct file_ops dir_fops = {.read = dir_read,
                                         .lseek = IF_OPTION(CONFIG_DIRECTORIES, dir_lseek),
                                         .fsync = IF_OPTION(CONFIG_FILEIO, dir_fsync)};

static int no_open(struct inode *inode, struct file *file)
{
    return -ENXIO;
}

static const struct file_ops no_fops = {.open = no_open};

const struct file_ops *fops_for_mode(u32 mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return &regular_fops;
    case S_IFDIR:
        return &dir_fops;
#ifdef CONFIG_FIFO
    case S_IFIFO:
        return &fifo_fops;
#endif
#ifdef CONFIG_DIRECTORIES
    case S_IFCHR:
    case S_IFBLK:
        return &device_fops;
#endif
    default:
        return &no_fops;
    }
}
