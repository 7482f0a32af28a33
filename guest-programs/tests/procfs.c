/* /proc of processes that change meanwhile: exiting, executing another program, closing files. */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CHILDREN 16
#define LOOKERS  3

static int wheel[CHILDREN]; /* process numbers to look at, by slot */
static volatile int done, looks;

/* Reads a whole text of /proc. The process may exit meanwhile: then ESRCH or ENOENT. */
static void look_at(int pid, const char *name)
{
    char path[64], buf[512];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    fd = open(path, O_RDONLY);
    while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
        looks++;
    if (fd >= 0)
        close(fd);
}

static void look_at_fds(int pid)
{
    char path[64], text[128];
    struct dirent *e;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    dir = opendir(path);
    while (dir && (e = readdir(dir)))
        if (readlinkat(dirfd(dir), e->d_name, text, sizeof(text)) > 0)
            looks++;
    if (dir)
        closedir(dir);
}

static void *look(void *arg)
{
    static const char *const texts[] = {"maps", "status", "stat", "statm", "cmdline", "comm"};
    char path[64], text[128];

    for (unsigned i = (unsigned)(long)arg; !done; i++) {
        int pid = wheel[i % CHILDREN];

        sched_yield(); /* with one hart the others shall not wait for the end of our slice */

        if (pid <= 0)
            continue;
        look_at(pid, texts[i % 6]);
        look_at_fds(pid);
        snprintf(path, sizeof(path), "/proc/%d/exe", pid);
        if (readlink(path, text, sizeof(text)) > 0)
            looks++;
    }
    return NULL;
}

static void start_lookers(pthread_t *t)
{
    done = 0;
    looks = 0;
    for (long i = 0; i < LOOKERS; i++)
        pthread_create(&t[i], NULL, look, (void *)i);
}

static void stop_lookers(pthread_t *t)
{
    done = 1;
    for (int i = 0; i < LOOKERS; i++)
        pthread_join(t[i], NULL);
    memset(wheel, 0, sizeof(wheel));
}

/* The resources of a short-lived process: pipes, a mapping, a second thread's worth of pages. */
static void live_and_die(int n)
{
    int p[2];
    char *m = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (int i = 0; i < n % 5; i++)
        if (pipe(p))
            _exit(1);
    for (int i = 0; m != MAP_FAILED && i < 65536; i += 4096)
        m[i] = 1;
    _exit(0);
}

static void processes_may_exit_while_looked_at(void)
{
    pthread_t t[LOOKERS];
    int status;

    start_lookers(t);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < CHILDREN; i++) {
            int pid = fork();

            if (!pid)
                live_and_die(i);
            wheel[i] = pid;
        }
        for (int i = 0; i < CHILDREN; i++)
            if (wheel[i] > 0 && waitpid(wheel[i], &status, 0) == wheel[i] && status)
                done = 2;
    }
    CHECK(done == 0);
    while (looks < 10) /* on a busy machine the lookers may come late: at ourselves, then */
        wheel[0] = getpid();
    stop_lookers(t);
}

static void execute_again(int left)
{
    char count[8];
    char *argv[] = {"procfs", "again", count, NULL};

    snprintf(count, sizeof(count), "%d", left);
    if (left)
        execv("/proc/self/exe", argv);
    _exit(left ? 1 : 0);
}

static void processes_may_exec_while_looked_at(void)
{
    pthread_t t[LOOKERS];
    int status;

    start_lookers(t);
    for (int i = 0; i < CHILDREN / 2; i++) {
        wheel[i] = fork();
        if (!wheel[i])
            execute_again(4);
    }
    for (int i = 0; i < CHILDREN / 2; i++)
        CHECK(waitpid(wheel[i], &status, 0) == wheel[i] && status == 0);
    stop_lookers(t);
}

/* The reader of /proc must not drop the last reference of the pipe. */
static void files_may_close_while_looked_at(void)
{
    pthread_t t[LOOKERS];
    char c;
    int p[2];

    start_lookers(t);
    wheel[0] = wheel[1] = wheel[2] = getpid();
    for (int i = 0; i < 100; i++) {
        CHECK(pipe(p) == 0 && close(p[1]) == 0);
        CHECK(read(p[0], &c, 1) == 0); /* no writer is left anywhere */
        close(p[0]);
    }
    stop_lookers(t);
}

static void links_name_what_is_open(void)
{
    char path[64], text[128];
    int fd = open("/proc/self/maps", O_RDONLY), p[2];
    ssize_t n;

    CHECK(fd >= 0 && pipe(p) == 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", p[0]);
    CHECK((n = readlink(path, text, sizeof(text))) > 6 && memcmp(text, "pipe:[", 6) == 0);
    close(p[0]), close(p[1]), close(fd);
    CHECK(readlink(path, text, sizeof(text)) == -1 && errno == ENOENT);
    CHECK(open("/proc/self/fd/9999", O_RDONLY) == -1 && errno == ENOENT);
}

static void exe_cwd_and_root_lead_to_the_place(void)
{
    char text[256], here[256];
    ssize_t n;
    int fd, null;

    CHECK(mkdir("/tmp/test-cwd", 0700) == 0 && symlink("/tmp/test-cwd", "/tmp/test-link") == 0);
    CHECK(chdir("/tmp/test-link") == 0 && rmdir("/tmp/test-cwd") == 0);
    fd = open("/proc/self/cwd", O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0 && close(fd) == 0); /* a place without a name can be opened */
    CHECK(chdir("/proc/self/root") == 0 && getcwd(here, sizeof(here)) && !strcmp(here, "/"));
    CHECK((n = readlink("/proc/self/cwd", text, sizeof(text))) == 1 && text[0] == '/');
    fd = open("/proc/self/exe", O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, 4) == 4 && !memcmp(text, "\177ELF", 4) && close(fd) == 0);
    unlink("/tmp/test-link");
    /* a link of /proc opened for creating is what is open there */
    null = open("/dev/null", O_WRONLY);
    snprintf(text, sizeof(text), "/proc/self/fd/%d", null);
    fd = open(text, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(null >= 0 && fd >= 0 && write(fd, "x", 1) == 1);
    close(fd), close(null);
}

/* Positions beyond every number: a system may refuse them, or find no entry there. */
static void listings_end_at_far_positions(void)
{
    static const long far[] = {0x80000002, 0x80000102, 0x180000002, 0x7ffffffffffffffe};
    static const char *const names[] = {"/proc", "/proc/self/fd"};
    char buf[512];

    for (int i = 0; i < 8; i++) {
        int fd = open(names[i % 2], O_RDONLY | O_DIRECTORY);

        CHECK(fd >= 0);
        if (lseek(fd, far[i / 2], SEEK_SET) == far[i / 2])
            CHECK(syscall(SYS_getdents64, fd, buf, sizeof(buf)) == 0);
        close(fd);
    }
}

/* /proc shows the place of an open file, not the name by which it was opened. */
static void open_files_show_their_real_path(void)
{
    static const char *const names[] = {"/tmp/test-way/../test-dir/file", "/tmp/test-way/file",
                                        "/tmp//test-dir/./file"};
    char path[64], text[256];
    ssize_t n;

    CHECK(mkdir("/tmp/test-dir", 0700) == 0 && symlink("test-dir", "/tmp/test-way") == 0);
    for (int i = 0; i < 3; i++) {
        int fd = open(names[i], O_RDWR | O_CREAT, 0600);

        CHECK(fd >= 0);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        n = readlink(path, text, sizeof(text) - 1);
        text[n < 0 ? 0 : n] = 0;
        CHECK(!strcmp(text, "/tmp/test-dir/file"));
        close(fd);
    }
    CHECK(unlink("/tmp/test-dir/file") == 0 && unlink("/tmp/test-way") == 0);
    CHECK(rmdir("/tmp/test-dir") == 0);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "again"))
        execute_again(atoi(argv[2]) - 1);
    RUN(links_name_what_is_open);
    RUN(open_files_show_their_real_path);
    RUN(exe_cwd_and_root_lead_to_the_place);
    RUN(listings_end_at_far_positions);
    RUN(files_may_close_while_looked_at);
    RUN(processes_may_exit_while_looked_at);
    RUN_ON_KERNEL(processes_may_exec_while_looked_at);
    DONE();
}
