/*
 * minfs.h: the on-disk format of minfs, a file system small enough to read in an afternoon. Shared
 * by the kernel (fs/minfs*.c) and mkfs (guest-programs/tools/mkfs-minfs.c); little-endian.
 *
 *     block 0                super block
 *     block_map .. +n        one bit per block, 1 = in use
 *     inode_map .. +n        one bit per inode, 1 = in use; inode 0 does not exist
 *     inode_table .. +n      32 inodes of 128 bytes per block
 *     first_data ..          contents
 *
 * Inode 1 is the root directory. Block pointers are 32 bits, 0 is a hole. A file has 10 direct
 * pointers, one block of 1024 pointers, and one block of pointers to such blocks: 4 GiB at most.
 * A directory is a file of 256-byte entries; ino 0 marks a free one. There are no entries for "."
 * and ".."; an inode of a directory knows its parent. A symbolic link's target is its contents.
 *
 * There is no journal: after a crash, mkfs-minfs --check reports inconsistencies.
 */
#pragma once

#define MINFS_MAGIC    0x31736620786f626bUL /* "kbox fs1" */
#define MINFS_BLOCK    4096u
#define MINFS_ROOT     1u
#define MINFS_DIRECT   10u
#define MINFS_POINTERS 1024u
/* The bytes of a file that its three tables of blocks reach. */
#define MINFS_MAX_BYTES                                                                            \
    ((MINFS_DIRECT + MINFS_POINTERS + (unsigned long)MINFS_POINTERS * MINFS_POINTERS) * MINFS_BLOCK)
#define MINFS_INODE_SIZE 128u
#define MINFS_PER_BLOCK  (MINFS_BLOCK / MINFS_INODE_SIZE)
#define MINFS_NAME_MAX   249u

struct minfs_super {
    unsigned long magic;                   /*  0 */
    unsigned int version, block_size;      /*  8: 1, 4096 */
    unsigned int blocks, inodes;           /* 16 */
    unsigned int block_map, inode_map;     /* 24: first blocks */
    unsigned int inode_table, first_data;  /* 32 */
    unsigned int free_blocks, free_inodes; /* 40: as of the last sync */
};

struct minfs_inode {
    unsigned int mode, nlink, uid, gid;     /*  0 */
    unsigned long size;                     /* 16 */
    long atime, mtime, ctime;               /* 24: nanoseconds since 1970 */
    unsigned int rdev, parent;              /* 48: parent: inode number, directories only */
    unsigned int direct[MINFS_DIRECT];      /* 56 */
    unsigned int indirect, double_indirect; /* 96 */
    unsigned int spare[6];                  /* 104 */
};

struct minfs_entry {
    unsigned int ino;              /*  0 */
    unsigned char len, type;       /*  4: length of name; mode >> 12 */
    char name[MINFS_NAME_MAX + 1]; /*  6: NUL-terminated */
};

_Static_assert(sizeof(struct minfs_inode) == MINFS_INODE_SIZE, "minfs inode");
_Static_assert(sizeof(struct minfs_entry) == 256, "minfs directory entry");
