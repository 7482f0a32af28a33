/*
 * Runs the tests inside the kernel (kernel/include/ktest.h), each in a process of its own, and
 * prints TAP. `kcovbox ktest` compiles it; with coverage it is traced (kcov-self.h), and the host
 * takes the name of the running test from the line "# begin NAME".
 *
 *     ktest [-l] [pattern]      shell pattern of "suite.test", default *
 *
 * Standard output has the names or TAP alone. The host prints what the exit status means
 * (cli/verbs/ktest.ts).
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TESTS_MAX 1000

enum { FAILED = 1, SKIPPED = 2, BROKEN = 3 };

/* Exit statuses: no test has such a name; the configuration of this kernel lacks ktest. */
enum { NO_SUCH_TEST = 2, NO_TESTS = 3 };

static char text[1 << 16];
static const char *names[TESTS_MAX];

static int read_names(const char *pattern)
{
    int fd = open("/dev/ktest", O_RDONLY), n = 0;
    size_t used = 0;
    ssize_t got;

    if (fd < 0)
        return -1;
    while ((got = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
        used += (size_t)got;
    close(fd);
    for (char *name = strtok(text, "\n"); name && n < TESTS_MAX; name = strtok(NULL, "\n"))
        if (fnmatch(pattern, name, 0) == 0)
            names[n++] = name;
    return n;
}

/* In the child: runs one test in the kernel. */
static int run(const char *name)
{
    int fd = open("/dev/ktest", O_WRONLY);

    if (fd < 0)
        return BROKEN;
    if (write(fd, name, strlen(name)) == (ssize_t)strlen(name))
        return 0;
    return errno == EIO ? FAILED : errno == ECANCELED ? SKIPPED : BROKEN;
}

static int test(int number, const char *name)
{
    int status = 0;
    pid_t pid;

    printf("# begin %s\n", name);
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        _exit(run(name));
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        status = BROKEN << 8;
    status = WEXITSTATUS(status);
    printf("%s %d %s%s\n", status == 0 || status == SKIPPED ? "ok" : "not ok", number, name,
           status == SKIPPED ? " # SKIP" : "");
    fflush(stdout);
    return status == FAILED || status == BROKEN;
}

int main(int argc, char **argv)
{
    int lists = argc > 1 && !strcmp(argv[1], "-l"), failed = 0;
    const char *pattern = argc > 1 + lists ? argv[1 + lists] : "*";
    int n = read_names(pattern);

    if (n <= 0)
        return n < 0 ? NO_TESTS : NO_SUCH_TEST;
    if (lists) {
        for (int i = 0; i < n; i++)
            puts(names[i]);
        return 0;
    }
    printf("KTAP version 1\n1..%d\n", n);
    for (int i = 0; i < n; i++)
        failed += test(i + 1, names[i]);
    printf("# %d of %d failed\n", failed, n);
    return failed != 0;
}
