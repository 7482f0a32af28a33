/* inotify: the events of files and directories, their order and their names. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Takes the oldest event; its parts as text "mask name", hex without 0x. "" when there is none. */
static char buffer[4096];
static size_t have, used;
static uint32_t cookie;

static const char *next(int in)
{
    static char text[300];
    struct inotify_event e;

    if (used == have) {
        ssize_t n = read(in, buffer, sizeof(buffer));

        used = 0;
        have = n > 0 ? (size_t)n : 0;
    }
    if (!have)
        return "";
    memcpy(&e, buffer + used, sizeof(e));
    snprintf(text, sizeof(text), "%d %x%s%s", e.wd, e.mask, e.len ? " " : "",
             e.len ? buffer + used + sizeof(e) : "");
    cookie = e.cookie;
    used += sizeof(e) + e.len;
    if (used == have)
        used = have = 0;
    return text;
}

#define NEXT(in, text) CHECK(!strcmp(next(in), text))

static int start(void)
{
    have = used = 0;
    if (mkdir("/tmp/test-watch", 0700) && errno != EEXIST)
        return -1;
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

static void end(int in)
{
    close(in);
    rmdir("/tmp/test-watch");
}

static void a_directory_tells_about_its_entries(void)
{
    int in = start(), fd;

    CHECK(in >= 0 && inotify_add_watch(in, "/tmp/test-watch", IN_ALL_EVENTS) == 1);
    fd = open("/tmp/test-watch/file", O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, "abc", 3) == 3 && pread(fd, buffer, 3, 0) == 3 && close(fd) == 0);
    CHECK(mkdir("/tmp/test-watch/sub", 0700) == 0);
    CHECK(rename("/tmp/test-watch/file", "/tmp/test-watch/new") == 0);
    CHECK(unlink("/tmp/test-watch/new") == 0 && rmdir("/tmp/test-watch/sub") == 0);
    NEXT(in, "1 100 file"); /* create */
    NEXT(in, "1 20 file");  /* open */
    NEXT(in, "1 2 file");   /* modify */
    NEXT(in, "1 1 file");   /* access */
    NEXT(in, "1 8 file");   /* close after writing */
    NEXT(in, "1 40000100 sub");
    NEXT(in, "1 40 file");
    uint32_t from = cookie;
    NEXT(in, "1 80 new");
    CHECK(from && from == cookie);
    NEXT(in, "1 200 new");
    CHECK(cookie == 0);
    NEXT(in, "1 40000200 sub");
    NEXT(in, "");
    CHECK(errno == EAGAIN);
    end(in);
}

static void a_file_tells_about_itself(void)
{
    int in = start(), fd = open("/tmp/test-watch/f", O_WRONLY | O_CREAT, 0600);

    CHECK(fd >= 0 && close(fd) == 0);
    CHECK(inotify_add_watch(in, "/tmp/test-watch/f", IN_ALL_EVENTS) == 1);
    fd = open("/tmp/test-watch/f", O_RDONLY);
    CHECK(fd >= 0 && close(fd) == 0 && truncate("/tmp/test-watch/f", 10) == 0);
    CHECK(chmod("/tmp/test-watch/f", 0640) == 0);
    CHECK(rename("/tmp/test-watch/f", "/tmp/test-watch/g") == 0);
    CHECK(unlink("/tmp/test-watch/g") == 0);
    NEXT(in, "1 20");
    NEXT(in, "1 10");
    NEXT(in, "1 2");
    NEXT(in, "1 4");
    NEXT(in, "1 800");
    NEXT(in, "1 4"); /* one link less */
    NEXT(in, "1 400");
    NEXT(in, "1 8000"); /* the watch is gone */
    NEXT(in, "");
    end(in);
}

static void attributes_and_sizes_by_path_have_names(void)
{
    int in = start(), fd = open("/tmp/test-watch/f", O_WRONLY | O_CREAT, 0600);
    struct timespec times[2] = {{1, 0}, {2, 0}};

    CHECK(symlink("f", "/tmp/test-watch/l") == 0);
    CHECK(inotify_add_watch(in, "/tmp/test-watch", IN_ATTRIB | IN_MODIFY) == 1);
    CHECK(chmod("/tmp/test-watch/l", 0640) == 0 && fchmod(fd, 0600) == 0);
    CHECK(truncate("/tmp/test-watch/f", 5) == 0 && ftruncate(fd, 0) == 0);
    CHECK(utimensat(AT_FDCWD, "/tmp/test-watch/f", times, 0) == 0 && futimens(fd, times) == 0);
    CHECK(mkdir("/tmp/test-watch/d", 0700) == 0 && chmod("/tmp/test-watch/d", 0750) == 0);
    NEXT(in, "1 4 f");
    NEXT(in, "1 2 f");
    NEXT(in, "1 4 f");
    NEXT(in, "1 40000004 d");
    NEXT(in, "");
    close(fd), unlink("/tmp/test-watch/f"), unlink("/tmp/test-watch/l");
    rmdir("/tmp/test-watch/d");
    end(in);
}

static void only_what_was_asked_is_told(void)
{
    int in = start(), fd;

    CHECK(inotify_add_watch(in, "/tmp/test-watch", IN_CREATE | IN_ONESHOT) == 1);
    fd = open("/tmp/test-watch/a", O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && close(fd) == 0 && unlink("/tmp/test-watch/a") == 0);
    NEXT(in, "1 100 a");
    NEXT(in, "1 8000");
    NEXT(in, "");
    CHECK(inotify_add_watch(in, "/tmp/test-watch", IN_DELETE) == 2);
    CHECK(inotify_add_watch(in, "/tmp/test-watch", IN_CREATE | IN_MASK_ADD) == 2);
    CHECK(mkdir("/tmp/test-watch/d", 0700) == 0 && rmdir("/tmp/test-watch/d") == 0);
    NEXT(in, "2 40000100 d");
    NEXT(in, "2 40000200 d");
    CHECK(inotify_rm_watch(in, 2) == 0);
    NEXT(in, "2 8000");
    CHECK(inotify_rm_watch(in, 2) == -1 && errno == EINVAL);
    CHECK(mkdir("/tmp/test-watch/d", 0700) == 0 && rmdir("/tmp/test-watch/d") == 0);
    NEXT(in, "");
    end(in);
}

static void equal_neighbours_are_one_event(void)
{
    int in = start(), fd = open("/tmp/test-watch/f", O_WRONLY | O_CREAT, 0600), n;

    CHECK(inotify_add_watch(in, "/tmp/test-watch", IN_MODIFY) == 1);
    CHECK(write(fd, "a", 1) == 1 && write(fd, "b", 1) == 1);
    CHECK(ioctl(in, FIONREAD, &n) == 0 && n == 32); /* 16 and the padded name */
    CHECK(read(in, buffer, 31) == -1 && errno == EINVAL);
    NEXT(in, "1 2 f");
    NEXT(in, "");
    close(fd), unlink("/tmp/test-watch/f"), end(in);
}

static void readers_wait_and_poll_tells(void)
{
    int in = start(), status;
    struct pollfd p = {in, POLLIN, 0};

    CHECK(inotify_add_watch(in, "/tmp/test-watch", IN_CREATE) == 1 && poll(&p, 1, 0) == 0);
    CHECK(fcntl(in, F_SETFL, 0) == 0);
    pid_t pid = fork();
    if (!pid) {
        usleep(3000);
        _exit(mkdir("/tmp/test-watch/late", 0700) ? 1 : 0);
    }
    NEXT(in, "1 40000100 late");
    CHECK(waitpid(pid, &status, 0) == pid && status == 0 && poll(&p, 1, 0) == 0);
    CHECK(rmdir("/tmp/test-watch/late") == 0);
    end(in);
}

/* The path of the directory is longer than any buffer for it. */
static void deep_directories_tell_names_too(void)
{
    int in = start(), depth = 0, fd;
    char name[251];

    memset(name, 'd', 250), name[250] = 0;
    CHECK(chdir("/tmp/test-watch") == 0);
    for (; depth < 20; depth++)
        CHECK(mkdir(name, 0700) == 0 && chdir(name) == 0);
    CHECK(inotify_add_watch(in, ".", IN_OPEN) == 1);
    CHECK((fd = open("file", O_WRONLY | O_CREAT, 0600)) >= 0);
    NEXT(in, "1 20 file");
    CHECK(close(fd) == 0 && unlink("file") == 0);
    for (; depth; depth--)
        CHECK(chdir("..") == 0 && rmdir(name) == 0);
    CHECK(chdir("/") == 0);
    end(in);
}

static void wrong_arguments_are_refused(void)
{
    int in = start();

    CHECK(inotify_add_watch(in, "/tmp/test-watch", 0) == -1 && errno == EINVAL);
    CHECK(inotify_add_watch(in, "/tmp/absent", IN_OPEN) == -1 && errno == ENOENT);
    CHECK(inotify_add_watch(0, "/tmp", IN_OPEN) == -1 && errno == EINVAL);
    CHECK(inotify_add_watch(-1, "/tmp", IN_OPEN) == -1 && errno == EBADF);
    CHECK(inotify_add_watch(in, "/dev/null", IN_OPEN | IN_ONLYDIR) == -1 && errno == ENOTDIR);
    CHECK(inotify_init1(0x40) == -1 && errno == EINVAL);
    end(in);
}

int main(void)
{
    RUN(a_directory_tells_about_its_entries);
    RUN(a_file_tells_about_itself);
    RUN(attributes_and_sizes_by_path_have_names);
    RUN(only_what_was_asked_is_told);
    RUN(equal_neighbours_are_one_event);
    RUN(readers_wait_and_poll_tells);
    RUN(deep_directories_tell_names_too);
    RUN(wrong_arguments_are_refused);
    DONE();
}
