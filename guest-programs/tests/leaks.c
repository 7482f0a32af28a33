/*
 * Runs other test programs and looks for leaks: after two runs, which may fill caches, a third one
 * must leave exactly as many free pages, objects of each size, processes and open descriptors as it
 * found.
 *
 *     leaks PROGRAM...        absolute paths; prints "ok no_leak_NAME" for each
 */
#include "check.h"
#include "memory-use.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* The resources in use. */
struct use {
    struct memory_use memory;
    int processes, descriptors;
};

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
    return (struct use){.memory = memory_use(),
                        .processes = count_numbers("/proc"),
                        .descriptors = count_numbers("/proc/self/fd")};
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
        name, before->memory.free_kib, after->memory.free_kib, before->processes, after->processes,
        before->descriptors, after->descriptors);
    for (int i = 0; i < SIZES; i++)
        if (before->memory.objects[i] != after->memory.objects[i])
            printf("; %ld bytes: %ld, %ld objects", before->memory.bytes[i],
                   before->memory.objects[i], after->memory.objects[i]);
    printf("\n");
    check_failures++;
}

/*
 * The kernel keeps stacks of dead threads for new ones, as many as there ever were at once, which
 * with several harts varies from run to run. So a program may leave something behind a few times; a
 * leak does so every time.
 */
#define TRIES 5

static void look_for_leaks(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    int status = run_quietly(path) | run_quietly(path);
    struct use before, after;

    for (int i = 0; i < TRIES && !status; i++) {
        before = measure();
        status = run_quietly(path);
        if (!status && is_back(&before, &after)) {
            printf("ok no_leak_%s\n", name);
            return;
        }
    }
    if (status) {
        printf("not ok no_leak_%s: status %x\n", name, status);
        check_failures++;
    } else {
        report(name, &before, &after);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        look_for_leaks(argv[i]);
        fflush(stdout);
    }
    DONE();
}
