/*
 * Runs other test programs and looks at the kernel's free memory: after a first run, which may fill
 * caches, a second one must leave exactly as many free pages as it found.
 *
 *     leaks PROGRAM...        absolute paths; prints "ok no_leak_NAME" for each
 */
#include "check.h"
#include <fcntl.h>
#include <sys/wait.h>

static long free_kib(void)
{
    char buf[512], *at;
    int fd = open("/proc/meminfo", O_RDONLY);
    ssize_t n = read(fd, buf, sizeof(buf) - 1);

    close(fd);
    buf[n > 0 ? n : 0] = 0;
    at = strstr(buf, "MemFree:");
    return at ? strtol(at + 8, NULL, 10) : -1;
}

static int run_quietly(const char *path)
{
    int status = -1;
    pid_t pid = fork();

    if (!pid) {
        dup2(open("/dev/null", O_WRONLY), 1);
        execl(path, path, NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = strrchr(argv[i], '/') + 1;
        int first = run_quietly(argv[i]), second, third;
        second = run_quietly(argv[i]);
        long before = free_kib();
        third = run_quietly(argv[i]);
        long after = free_kib();

        if (first || second || third || before != after) {
            printf("not ok no_leak_%s: status %x, %ld KiB free before, %ld after\n", name,
                   first | second | third, before, after);
            check_failures++;
        } else {
            printf("ok no_leak_%s\n", name);
        }
        fflush(stdout);
    }
    DONE();
}
