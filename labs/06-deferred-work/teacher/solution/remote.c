#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EDU_FACTORIAL 0xc0044501u
#define WORDS         16384UL

int main(int argc, char **argv)
{
    unsigned int n = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) % 13 : 5;
    struct kcov_remote_arg arg = {.trace_mode = KCOV_TRACE_PC, .area_size = WORDS};
    int kcov = open("/sys/kernel/debug/kcov", O_RDWR), fd = open("/dev/edu", O_RDWR);
    unsigned long *area, count;

    if (kcov < 0 || fd < 0 || ioctl(kcov, KCOV_INIT_TRACE, WORDS))
        return 1;
    area = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, kcov, 0);
    arg.common_handle = kcov_remote_handle(KCOV_SUBSYSTEM_COMMON, 7);
    if (area == MAP_FAILED || ioctl(kcov, KCOV_REMOTE_ENABLE, &arg))
        return 1;
    if (ioctl(fd, EDU_FACTORIAL, &n))
        return 1;
    usleep(1000); /* the section ends a moment after the task has woken us */
    if (ioctl(kcov, KCOV_DISABLE, 0))
        return 1;
    count = __atomic_load_n(&area[0], __ATOMIC_RELAXED);
    for (unsigned long i = 0; i < count; i++)
        printf("0x%lx\n", area[1 + i]);
    return 0;
}
