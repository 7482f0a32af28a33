/* Tests of disk.c inside the kernel: kcovbox ktest --driver disk.c --driver disk_test.c 'disk*' */
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "ktest.h"

#define BLOCK      512u
#define DISK_IOCUT 0x6401

static bool holds(struct file *f, u32 block, u8 value)
{
    u8 bytes[BLOCK];

    if (file_read_at(f, bytes, BLOCK, block * BLOCK) != BLOCK)
        return false;
    for (u32 i = 0; i < BLOCK; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

KTEST(the_last_write_of_a_block_stays)
{
    u8 bytes[BLOCK];
    struct file *f;

    if (vfs_open("/dev/disk", O_RDWR, 0, &f))
        KTEST_SKIP(test, "no such device on this board");
    for (u32 i = 1; i <= 40; i++) { /* the device would reorder them */
        memset(bytes, (int)i, sizeof(bytes));
        EXPECT_EQ(test, file_write_at(f, bytes, BLOCK, i % 3 * BLOCK), BLOCK);
    }
    EXPECT_TRUE(test, holds(f, 0, 39) && holds(f, 1, 40) && holds(f, 2, 38));
    file_put(f);
}

KTEST(a_flush_covers_every_write_before_it)
{
    u8 bytes[BLOCK];
    struct file *f;

    if (vfs_open("/dev/disk", O_RDWR, 0, &f))
        KTEST_SKIP(test, "no such device on this board");
    for (u32 i = 0; i < 12; i++) {
        memset(bytes, (int)(100 + i), sizeof(bytes));
        EXPECT_EQ(test, file_write_at(f, bytes, BLOCK, i * BLOCK), BLOCK);
    }
    EXPECT_EQ(test, f->ops->fsync(f), 0);
    EXPECT_EQ(test, f->ops->ioctl(f, DISK_IOCUT, 0), 0);
    for (u32 i = 0; i < 12; i++)
        EXPECT_TRUE(test, holds(f, i, (u8)(100 + i)));
    file_put(f);
}
