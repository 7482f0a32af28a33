/* Uses what there is of the devices that a hostile twin may stand for; all errors are welcome. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../../kernel/abi/edu.h"

static void use_disk(void)
{
    char block[8192];
    int fd = open("/dev/vda", O_RDWR);

    if (fd < 0)
        return;
    memset(block, 'x', sizeof(block));
    printf("read %zd\n", pread(fd, block, sizeof(block), 0));
    printf("write %zd\n", pwrite(fd, block, 5000, 100));
    printf("sync %d\n", fsync(fd));
    printf("end %zd\n", pread(fd, block, sizeof(block), lseek(fd, -4096, SEEK_END)));
    close(fd);
}

static void use_random(void)
{
    char bytes[200];
    int fd = open("/dev/hwrng", O_RDONLY);

    if (fd < 0)
        return;
    printf("random %zd\n", read(fd, bytes, sizeof(bytes)));
    close(fd);
}

static void use_edu(void)
{
    char bytes[300];
    unsigned n = 5;
    int fd = open("/dev/edu", O_RDWR);

    if (fd < 0)
        return;
    printf("factorial %d\n", ioctl(fd, EDU_FACTORIAL, &n));
    printf("to device %zd\n", write(fd, bytes, sizeof(bytes)));
    printf("from device %zd\n", pread(fd, bytes, sizeof(bytes), 0));
    close(fd);
}

int main(int argc, char **argv)
{
    struct winsize size;

    use_disk();
    use_random();
    if (argc > 1)
        use_edu();
    printf("window %d\n", ioctl(0, TIOCGWINSZ, &size));
    return 0;
}
