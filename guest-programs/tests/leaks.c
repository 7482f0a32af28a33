/*
 * Runs other test programs and looks at what they leave behind: after two runs, which may fill
 * caches, a third one must leave exactly as many free pages, objects of each size, processes and
 * open descriptors as it found.
 *
 *     leaks PROGRAM...        absolute paths; prints "ok no_leak_NAME" for each
 */
#include "check.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define SIZES 16

/* What the kernel has in use. */
struct use {
    long free_kib, objects[SIZES];
    int processes, descriptors;
};

static const char *contents(const char *path)
{
    static char text[4096];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static int count_numbers(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    for (struct dirent *e; dir && (e = readdir(dir));)
        n += isdigit((unsigned char)e->d_name[0]) != 0;
    closedir(dir);
    return n;
}

static struct use measure(void)
{
    struct use u = {.processes = count_numbers("/proc"),
                    .descriptors = count_numbers("/proc/self/fd")};
    const char *at = strstr(contents("/proc/meminfo"), "MemFree:");

    u.free_kib = at ? strtol(at + 8, NULL, 10) : -1;
    at = contents("/proc/slabinfo");
    for (int i = 0; i < SIZES && (at = strstr(at, "kmalloc-")); i++)
        sscanf(at += 8, "%*d %ld", &u.objects[i]);
    return u;
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
    while (waitpid(-1, NULL, 0) > 0) /* as process 1 we inherit orphans */
        ;
    return status;
}

/* The same after a while: a hart may still be freeing the last thread. */
static int is_back(const struct use *before, struct use *after)
{
    for (int i = 0; i < 100; i++) {
        *after = measure();
        if (!memcmp(before, after, sizeof(*after)))
            return 1;
        usleep(10000);
    }
    return 0;
}

static void report(const char *name, const struct use *before, const struct use *after)
{
    printf(
        "not ok no_leak_%s: %ld KiB free before, %ld after; %d, %d processes; %d, %d descriptors",
        name, before->free_kib, after->free_kib, before->processes, after->processes,
        before->descriptors, after->descriptors);
    for (int i = 0; i < SIZES; i++)
        if (before->objects[i] != after->objects[i])
            printf("; %d bytes: %ld, %ld objects", 16 << i, before->objects[i], after->objects[i]);
    printf("\n");
    check_failures++;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = strrchr(argv[i], '/') + 1;
        int status = run_quietly(argv[i]) | run_quietly(argv[i]);
        struct use before = measure(), after;

        status |= run_quietly(argv[i]);
        if (status) {
            printf("not ok no_leak_%s: status %x\n", name, status);
            check_failures++;
        } else if (!is_back(&before, &after)) {
            report(name, &before, &after);
        } else {
            printf("ok no_leak_%s\n", name);
        }
        fflush(stdout);
    }
    DONE();
}
