/* Writes blocks of /dev/disk, flushes, has the power fail, and looks for what was flushed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BLOCK  512
#define BLOCKS 12
#define CUT    0x6401

static int fail(const char *what)
{
    printf("disk: %s: %s\n", what, strerror(errno));
    return 1;
}

int main(void)
{
    char bytes[BLOCK], found[BLOCK];
    int fd = open("/dev/disk", O_RDWR), lost = 0;

    if (fd < 0)
        return fail("open");
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < BLOCKS; i++) {
            memset(bytes, 'a' + i + round, BLOCK);
            if (pwrite(fd, bytes, BLOCK, i * BLOCK) != BLOCK)
                return fail("write");
        }
    if (fsync(fd))
        return fail("flush");
    if (ioctl(fd, CUT))
        return fail("cut");
    for (int i = 0; i < BLOCKS; i++) {
        memset(bytes, 'a' + i + 1, BLOCK);
        if (pread(fd, found, BLOCK, i * BLOCK) != BLOCK)
            return fail("read");
        if (memcmp(bytes, found, BLOCK)) {
            printf("block %d is lost\n", i);
            lost++;
        }
    }
    if (!lost)
        printf("all blocks are there\n");
    return lost > 0;
}
