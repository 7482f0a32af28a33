/* Asks the kernel which constants it compares an argument with: lseek(2) gets a wrong third
 * argument, and the comparison mode of kcov shows the right ones. This is how
 * fuzzers find magic numbers. For the Linux dialect. */
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = 4096, MARK = 0x5a5a };

int main(void)
{
    int fd = open("/sys/kernel/debug/kcov", O_RDWR);
    int file = open("/tmp/file", O_RDWR | O_CREAT, 0600);

    if (fd == -1 || file == -1 || ioctl(fd, KCOV_INIT_TRACE, WORDS))
        return 1;
    unsigned long *buffer = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (buffer == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_CMP))
        return 1;
    buffer[0] = 0;
    lseek(file, 0, MARK);
    unsigned long count = buffer[0];
    ioctl(fd, KCOV_DISABLE, 0);

    /* A record has four words: type, two operands, and the address of the comparison. */
    for (unsigned long i = 0; i < count; i++) {
        unsigned long *record = buffer + 1 + 4 * i;
        if ((record[0] & KCOV_CMP_CONST) && record[2] == MARK)
            printf("compared with %lu\n", record[1]);
        else if ((record[0] & KCOV_CMP_CONST) && record[1] == MARK)
            printf("compared with %lu\n", record[2]);
    }
    return 0;
}
