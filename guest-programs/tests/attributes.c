/* Extended attributes of files: set, read, listed, removed; sizes, permissions, and their end. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define NOBODY 29999
#define BIG    65536
static char dir[64], file[96], link_[96], text[BIG + 1];

/* A real Linux has a tmpfs there; the guest's whole tree is one. */
static void choose_place(void)
{
    snprintf(dir, sizeof(dir), "%s/test-attr", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    snprintf(file, sizeof(file), "%s/f", dir);
    snprintf(link_, sizeof(link_), "%s/l", dir);
}

static void begins(void)
{
    int fd;

    CHECK(mkdir(dir, 0755) == 0 && (fd = open(file, O_WRONLY | O_CREAT, 0644)) >= 0);
    CHECK(close(fd) == 0 && symlink("f", link_) == 0 && listxattr(file, NULL, 0) == 0);
}

static void ends(void)
{
    CHECK(unlink(file) == 0 && unlink(link_) == 0 && rmdir(dir) == 0);
}

/* Whether a list of names contains this one. */
static int lists(const char *path, const char *name)
{
    static char names[BIG];
    ssize_t n = listxattr(path, names, sizeof(names));

    for (char *at = names; at < names + n; at += strlen(at) + 1)
        if (!strcmp(at, name))
            return 1;
    return 0;
}

static void values_are_kept(void)
{
    char got[32];

    CHECK(setxattr(file, "user.a", "one", 3, 0) == 0 && setxattr(file, "user.b", "", 0, 0) == 0);
    CHECK(getxattr(file, "user.a", got, 32) == 3 && !memcmp(got, "one", 3));
    CHECK(getxattr(file, "user.b", got, 32) == 0 && getxattr(file, "user.b", NULL, 0) == 0);
    CHECK(setxattr(file, "user.a", "longer one", 10, 0) == 0);
    CHECK(getxattr(file, "user.a", NULL, 0) == 10 && getxattr(file, "user.a", got, 10) == 10);
    CHECK(getxattr(file, "user.a", got, 9) == -1 && errno == ERANGE);
    CHECK(getxattr(file, "user.c", got, 9) == -1 && errno == ENODATA);
    CHECK(setxattr(dir, "user.dir", "d", 1, 0) == 0 && lists(dir, "user.dir"));
    CHECK(lists(file, "user.a") && lists(file, "user.b") && !lists(file, "user.dir"));
    CHECK(listxattr(file, NULL, 0) == 14 && listxattr(file, got, 13) == -1 && errno == ERANGE);
    CHECK(removexattr(file, "user.a") == 0 && removexattr(file, "user.b") == 0);
    CHECK(removexattr(file, "user.a") == -1 && errno == ENODATA && listxattr(file, got, 32) == 0);
}

static void flags_say_what_must_be_there(void)
{
    CHECK(setxattr(file, "user.a", "x", 1, XATTR_REPLACE) == -1 && errno == ENODATA);
    CHECK(setxattr(file, "user.a", "x", 1, XATTR_CREATE) == 0);
    CHECK(setxattr(file, "user.a", "y", 1, XATTR_CREATE) == -1 && errno == EEXIST);
    CHECK(setxattr(file, "user.a", "z", 1, XATTR_REPLACE) == 0);
    CHECK(setxattr(file, "user.a", "x", 1, 4) == -1 && errno == EINVAL);
    CHECK(getxattr(file, "user.a", text, 8) == 1 && text[0] == 'z');
    CHECK(removexattr(file, "user.a") == 0);
}

static void names_have_a_prefix_and_a_length(void)
{
    char name[260];

    memset(name, 'n', sizeof(name));
    memcpy(name, "user.", 5);
    name[256] = 0;
    CHECK(setxattr(file, name, "x", 1, 0) == -1 && errno == ERANGE);
    name[255] = 0;
    CHECK(setxattr(file, name, "x", 1, 0) == 0 && getxattr(file, name, NULL, 0) == 1);
    CHECK(removexattr(file, name) == 0);
    CHECK(setxattr(file, "", "x", 1, 0) == -1 && errno == ERANGE);
    CHECK(setxattr(file, "user.", "x", 1, 0) == -1 && errno == EINVAL);
    CHECK(setxattr(file, "other.a", "x", 1, 0) == -1 && errno == EOPNOTSUPP);
    CHECK(getxattr(file, "other.a", text, 1) == -1 && errno == EOPNOTSUPP);
    CHECK(setxattr(file, (char *)8, "x", 1, 0) == -1 && errno == EFAULT);
    CHECK(setxattr(file, "user.a", (char *)8, 1, 0) == -1 && errno == EFAULT);
    CHECK(listxattr(file, NULL, 0) == 0);
}

static void sizes_are_bounded(void)
{
    static const char *const names[] = {"user.1", "user.2", "user.3", "user.4"};
    int i;

    memset(text, 'v', sizeof(text));
    CHECK(setxattr(file, "user.a", text, BIG + 1, 0) == -1 && errno == E2BIG);
    CHECK(setxattr(file, "user.a", text, BIG, 0) == 0 &&
          getxattr(file, "user.a", text, BIG) == BIG);
    CHECK(getxattr(file, "user.a", text, BIG + 1) == BIG && removexattr(file, "user.a") == 0);
    for (i = 0; i < 4 && setxattr(file, names[i], text, BIG / 2 + 1000, 0) == 0; i++)
        ;
    CHECK(i >= 3 && (i == 4 || errno == ENOSPC));
    while (i--)
        CHECK(removexattr(file, names[i]) == 0);
    CHECK(setxattr(file, "user.a", text, BIG, 0) == 0 && removexattr(file, "user.a") == 0);
}

static void links_have_their_own(void)
{
    char got[8];
    int fd = open(file, O_RDONLY);

    CHECK(setxattr(link_, "user.a", "x", 1, 0) == 0 && lists(file, "user.a"));
    CHECK(lsetxattr(link_, "user.a", "x", 1, 0) == -1 && errno == EPERM);
    CHECK(lgetxattr(link_, "user.a", got, 8) == -1 && errno == ENODATA);
    if (!getuid()) {
        CHECK(lsetxattr(link_, "trusted.a", "tr", 2, 0) == 0 && llistxattr(link_, NULL, 0) == 10);
        CHECK(lgetxattr(link_, "trusted.a", got, 8) == 2 && !lists(file, "trusted.a"));
        CHECK(lremovexattr(link_, "trusted.a") == 0);
    }
    CHECK(fd >= 0 && fgetxattr(fd, "user.a", got, 8) == 1 && flistxattr(fd, got, 8) == 7);
    CHECK(fsetxattr(fd, "user.a", "fd", 2, XATTR_REPLACE) == 0 && fremovexattr(fd, "user.a") == 0);
    CHECK(close(fd) == 0 && fgetxattr(fd, "user.a", got, 8) == -1 && errno == EBADF);
    CHECK(setxattr("/dev/null", "user.a", "x", 1, 0) == -1 && errno == EPERM);
    CHECK(getxattr("/dev/null", "user.a", got, 8) == -1 && errno == ENODATA);
    CHECK(setxattr("/proc/self/status", "trusted.a", "x", 1, 0) == -1 && errno == EOPNOTSUPP);
}

static int fails(int result, int error)
{
    return result == -1 && errno == error;
}

static int as_nobody(void)
{
    char got[8];

    if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
        return 1;
    if (!fails(setxattr(file, "user.a", "y", 1, 0), EACCES) ||
        getxattr(file, "user.a", got, 8) != 1)
        return 2;
    if (!fails(setxattr(file, "trusted.a", "y", 1, 0), EPERM))
        return 3;
    if (!fails(getxattr(file, "trusted.a", got, 8), ENODATA) || lists(file, "trusted.a"))
        return 4;
    if (!fails(setxattr(file, "security.a", "y", 1, 0), EPERM))
        return 5;
    if (getxattr(file, "security.a", got, 8) != 1 || !lists(file, "security.a"))
        return 6;
    if (!fails(removexattr(file, "security.a"), EPERM))
        return 7;
    if (!fails(removexattr(file, "user.a"), EACCES))
        return 8;
    return !fails(setxattr(dir, "user.a", "y", 1, 0), EPERM) ? 9 : 0; /* another's sticky one */
}

static void permissions_depend_on_the_name(void)
{
    int status;

    CHECK(setxattr(file, "user.a", "x", 1, 0) == 0 && setxattr(file, "trusted.a", "x", 1, 0) == 0);
    CHECK(setxattr(file, "security.a", "x", 1, 0) == 0 && lists(file, "trusted.a"));
    CHECK(chmod(dir, 01777) == 0);
    pid_t pid = fork();
    if (!pid)
        _exit(as_nobody());
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(chmod(file, 0600) == 0 && chmod(dir, 0755) == 0);
    CHECK(removexattr(file, "user.a") == 0 && removexattr(file, "trusted.a") == 0);
    CHECK(removexattr(file, "security.a") == 0);
}

static void changes_are_told(void)
{
    struct inotify_event got;
    int in = inotify_init1(IN_NONBLOCK), id = inotify_add_watch(in, file, IN_ATTRIB);

    CHECK(in >= 0 && id >= 0 && setxattr(file, "user.a", "x", 1, 0) == 0);
    CHECK(read(in, &got, sizeof(got)) > 0 && got.wd == id && got.mask == IN_ATTRIB);
    CHECK(removexattr(file, "user.a") == 0 && read(in, &got, sizeof(got)) > 0);
    CHECK(removexattr(file, "user.a") == -1 && read(in, &got, sizeof(got)) == -1);
    CHECK(errno == EAGAIN && close(in) == 0);
}

static void they_stay_with_the_file(void)
{
    char other[100];
    int fd;

    snprintf(other, sizeof(other), "%s/g", dir);
    CHECK(setxattr(file, "user.a", "x", 1, 0) == 0 && link(file, other) == 0);
    CHECK(lists(other, "user.a") && unlink(file) == 0 && rename(other, file) == 0);
    CHECK(lists(file, "user.a") && (fd = open(file, O_RDWR | O_TRUNC)) >= 0 && unlink(file) == 0);
    CHECK(flistxattr(fd, NULL, 0) == 7 && fsetxattr(fd, "user.b", "x", 1, 0) == 0);
    CHECK(close(fd) == 0 && (fd = open(file, O_RDWR | O_CREAT, 0644)) >= 0);
    CHECK(flistxattr(fd, NULL, 0) == 0 && close(fd) == 0);
}

int main(void)
{
    choose_place();
    RUN(begins);
    RUN(values_are_kept);
    RUN(flags_say_what_must_be_there);
    RUN(names_have_a_prefix_and_a_length);
    RUN(sizes_are_bounded);
    RUN(links_have_their_own);
    if (getuid())
        printf("ok permissions_depend_on_the_name # skipped: needs root\n");
    else
        RUN(permissions_depend_on_the_name);
    RUN(changes_are_told);
    RUN(they_stay_with_the_file);
    RUN(ends);
    DONE();
}
