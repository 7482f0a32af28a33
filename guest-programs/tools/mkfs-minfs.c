/*
 * mkfs-minfs: makes and checks minfs images. An ordinary POSIX program: it runs on the host (make
 * an image before the guest boots, check it afterwards) and in the guest (on /dev/vda).
 *
 *     mkfs-minfs IMAGE [MEGABYTES]    make an empty file system; creates or extends a regular file
 *     mkfs-minfs --check IMAGE        walk the tree, compare the bitmaps; exit status 1 when
 * damaged
 *
 * Format: kernel/abi/minfs.h.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../kernel/abi/minfs.h"

#define BITS (MINFS_BLOCK * 8)

static int disk;
static struct minfs_super super;
static unsigned problems;

static void read_block(unsigned block, void *buf)
{
    if (pread(disk, buf, MINFS_BLOCK, (off_t)block * MINFS_BLOCK) != MINFS_BLOCK)
        err(1, "can not read block %u", block);
}

static void write_block(unsigned block, const void *buf)
{
    if (pwrite(disk, buf, MINFS_BLOCK, (off_t)block * MINFS_BLOCK) != MINFS_BLOCK)
        err(1, "can not write block %u", block);
}

static void plan(unsigned blocks)
{
    super = (struct minfs_super){.magic = MINFS_MAGIC, .version = 1, .block_size = MINFS_BLOCK};
    super.blocks = blocks;
    super.inodes = blocks / 4 / MINFS_PER_BLOCK * MINFS_PER_BLOCK + MINFS_PER_BLOCK;
    super.block_map = 1;
    super.inode_map = super.block_map + blocks / BITS + 1;
    super.inode_table = super.inode_map + super.inodes / BITS + 1;
    super.first_data = super.inode_table + super.inodes / MINFS_PER_BLOCK;
    if (super.first_data + 4 > blocks)
        errx(1, "%u blocks of %u bytes are too few", blocks, MINFS_BLOCK);
    super.free_blocks = blocks - super.first_data;
    super.free_inodes = super.inodes - 2;
}

/* Writes a bitmap whose first n bits are 1. */
static void write_map(unsigned first, unsigned blocks, unsigned n)
{
    unsigned char buf[MINFS_BLOCK];

    for (unsigned b = 0; b < blocks; b++) {
        memset(buf, 0, sizeof(buf));
        for (unsigned i = 0; i < BITS && b * BITS + i < n; i++)
            buf[i / 8] |= (unsigned char)(1 << (i % 8));
        write_block(first + b, buf);
    }
}

static void make(const char *image, unsigned megabytes)
{
    static unsigned char buf[MINFS_BLOCK];
    struct stat st;
    off_t bytes;

    disk = open(image, O_RDWR | O_CREAT, 0644);
    if (disk < 0 || fstat(disk, &st))
        err(1, "%s", image);
    if (S_ISREG(st.st_mode) && st.st_size < (off_t)megabytes << 20 &&
        ftruncate(disk, (off_t)megabytes << 20))
        err(1, "%s", image);
    bytes = megabytes ? (off_t)megabytes << 20 : lseek(disk, 0, SEEK_END);
    plan((unsigned)(bytes / MINFS_BLOCK));
    for (unsigned b = super.inode_table; b < super.first_data; b++)
        write_block(b, buf);
    write_map(super.block_map, super.inode_map - super.block_map, super.first_data);
    write_map(super.inode_map, super.inode_table - super.inode_map, 2);
    long now = (long)time(NULL) * 1000000000;
    ((struct minfs_inode *)buf)[MINFS_ROOT] = (struct minfs_inode){.mode = S_IFDIR | 0755,
                                                                   .nlink = 2,
                                                                   .parent = MINFS_ROOT,
                                                                   .atime = now,
                                                                   .mtime = now,
                                                                   .ctime = now};
    write_block(super.inode_table, buf);
    memset(buf, 0, sizeof(buf));
    memcpy(buf, &super, sizeof(super));
    write_block(0, buf);
    if (fsync(disk) || close(disk))
        err(1, "%s", image);
}

static unsigned char *seen_blocks;
static unsigned *names; /* how many entries name each inode */

static void problem(const char *what, unsigned number)
{
    printf("%s %u\n", what, number);
    problems++;
}

static int use_block(unsigned block)
{
    if (block < super.first_data || block >= super.blocks) {
        problem("pointer outside the data area:", block);
        return 0;
    }
    if (seen_blocks[block]) {
        problem("block used twice:", block);
        return 0;
    }
    seen_blocks[block] = 1;
    return 1;
}

static struct minfs_inode get_inode(unsigned ino)
{
    struct minfs_inode table[MINFS_PER_BLOCK];

    read_block(super.inode_table + ino / MINFS_PER_BLOCK, table);
    return table[ino % MINFS_PER_BLOCK];
}

static void walk_directory(const struct minfs_entry *entries, unsigned dir);

static void walk_table(unsigned block, int depth, int is_dir, unsigned ino)
{
    unsigned table[MINFS_POINTERS];

    if (!block || !use_block(block))
        return;
    read_block(block, table);
    if (depth == 0) {
        if (is_dir)
            walk_directory((const struct minfs_entry *)table, ino);
        return;
    }
    for (unsigned i = 0; i < MINFS_POINTERS; i++)
        walk_table(table[i], depth - 1, is_dir, ino);
}

static void walk_inode(unsigned ino, unsigned parent)
{
    struct minfs_inode n;

    if (ino == 0 || ino >= super.inodes) {
        problem("entry names an impossible inode:", ino);
        return;
    }
    n = get_inode(ino);
    if (names[ino]++)
        return;
    if (!n.mode)
        problem("entry names a free inode:", ino);
    if (S_ISDIR(n.mode) && n.parent != parent)
        problem("directory with a wrong parent:", ino);
    for (unsigned i = 0; i < MINFS_DIRECT; i++)
        walk_table(n.direct[i], 0, S_ISDIR(n.mode), ino);
    walk_table(n.indirect, 1, S_ISDIR(n.mode), ino);
    walk_table(n.double_indirect, 2, S_ISDIR(n.mode), ino);
}

static void walk_directory(const struct minfs_entry *entries, unsigned dir)
{
    for (unsigned i = 0; i < MINFS_BLOCK / sizeof(*entries); i++)
        if (entries[i].ino)
            walk_inode(entries[i].ino, dir);
}

static int map_bit(unsigned map, unsigned bit)
{
    unsigned char buf[MINFS_BLOCK];

    read_block(map + bit / BITS, buf);
    return buf[bit % BITS / 8] >> (bit % 8) & 1;
}

static void compare_maps(void)
{
    for (unsigned b = super.first_data; b < super.blocks; b++)
        if (map_bit(super.block_map, b) != seen_blocks[b])
            problem(seen_blocks[b] ? "used block marked free:" : "lost block:", b);
    for (unsigned i = 1; i < super.inodes; i++) {
        struct minfs_inode n = get_inode(i);

        if (map_bit(super.inode_map, i) != !!names[i])
            problem(names[i] ? "used inode marked free:" : "lost inode:", i);
        if (names[i] && !S_ISDIR(n.mode) && n.nlink != names[i])
            problem("wrong link count of inode:", i);
    }
}

static int check(const char *image)
{
    unsigned char buf[MINFS_BLOCK];

    disk = open(image, O_RDONLY);
    if (disk < 0)
        err(1, "%s", image);
    read_block(0, buf);
    memcpy(&super, buf, sizeof(super));
    if (super.magic != MINFS_MAGIC || super.version != 1)
        errx(1, "%s: not a minfs image", image);
    seen_blocks = calloc(super.blocks, 1);
    names = calloc(super.inodes, sizeof(*names));
    if (!seen_blocks || !names)
        err(1, "%u blocks", super.blocks);
    walk_inode(MINFS_ROOT, MINFS_ROOT);
    compare_maps();
    printf("%s: %u problems, %u of %u blocks free\n", image, problems, super.free_blocks,
           super.blocks);
    return problems != 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--check"))
        return check(argv[2]);
    if (argc < 2 || argc > 3 || argv[1][0] == '-')
        errx(2, "usage: mkfs-minfs IMAGE [MEGABYTES] | --check IMAGE");
    make(argv[1], argc > 2 ? (unsigned)atoi(argv[2]) : 0);
    return 0;
}
