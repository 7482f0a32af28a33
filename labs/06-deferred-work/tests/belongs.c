/* Lists what kcov records of the work that the device does for this process, and for no other. */
#include "../check.h"
#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define EDU_FACTORIAL 0xc0044501u
#define WORDS         16384UL

static int ask(unsigned n)
{
    int fd = open("/dev/edu", O_RDWR);
    int result = fd < 0 || ioctl(fd, EDU_FACTORIAL, &n) != 0;

    close(fd);
    usleep(1000); /* sections end a moment after the sleeper is woken */
    return result;
}

int main(void)
{
    struct kcov_remote_arg arg = {.trace_mode = KCOV_TRACE_PC, .area_size = WORDS};
    int kcov = open("/sys/kernel/debug/kcov", O_RDWR), status, way[2];
    unsigned long *area;
    pid_t other;
    char c;

    if (pipe(way) != 0 || (other = fork()) < 0)
        return 1;
    if (other == 0) { /* it waits, and then asks without a handle */
        close(way[1]);
        _exit(read(way[0], &c, 1) != 0 || ask(4));
    }
    close(way[0]);
    if (kcov < 0 || ioctl(kcov, KCOV_INIT_TRACE, WORDS))
        return 1;
    area = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, kcov, 0);
    arg.common_handle = kcov_remote_handle(KCOV_SUBSYSTEM_COMMON, 3);
    if (area == MAP_FAILED || ioctl(kcov, KCOV_REMOTE_ENABLE, &arg))
        return 1;
    close(way[1]);
    if (waitpid(other, &status, 0) != other || status != 0)
        return 1;
    if (area[0] != 0) {
        printf("not ok: %lu records of work for another process\n", area[0]);
        return 1;
    }
    if (ask(6) != 0)
        return 1;
    if (area[0] == 0) {
        puts("not ok: no record of the work for this process");
        return 1;
    }
    if (ioctl(kcov, KCOV_DISABLE, 0))
        return 1;
    for (unsigned long i = 0; i < area[0]; i++)
        printf("0x%lx\n", area[1 + i]);
    return 0;
}
