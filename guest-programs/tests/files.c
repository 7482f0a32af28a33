/* Names, contents and attributes of files: open, rename, link, seek and related calls. */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>

static char dir[64];

static int make(const char *name, const char *text)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

    if (fd >= 0 && write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        return -1;
    return fd;
}

static void open_creates_and_excludes(void)
{
    int fd = open("a", O_RDWR | O_CREAT | O_EXCL, 0640);
    struct stat st;

    CHECK(fd >= 0);
    CHECK(open("a", O_RDWR | O_CREAT | O_EXCL, 0640) == -1 && errno == EEXIST);
    CHECK(fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0777) == 0640);
    CHECK(st.st_nlink == 1 && st.st_size == 0);
    CHECK(close(fd) == 0 && close(fd) == -1 && errno == EBADF);
    CHECK(open("nowhere/a", O_RDWR | O_CREAT, 0640) == -1 && errno == ENOENT);
    CHECK(open("a/b", O_RDONLY) == -1 && errno == ENOTDIR);
    CHECK(open("a", O_RDONLY | O_DIRECTORY) == -1 && errno == ENOTDIR);
    CHECK(open(".", O_WRONLY) == -1 && errno == EISDIR);
    CHECK(open("", O_RDONLY) == -1 && errno == ENOENT);
    CHECK(unlink("a") == 0 && unlink("a") == -1 && errno == ENOENT);
}

static void positions_move(void)
{
    char buf[16] = "";
    int fd = make("p", "0123456789");

    CHECK(fd >= 0);
    CHECK(lseek(fd, 3, SEEK_SET) == 3 && read(fd, buf, 2) == 2 && !memcmp(buf, "34", 2));
    CHECK(lseek(fd, -1, SEEK_CUR) == 4 && lseek(fd, -4, SEEK_END) == 6);
    CHECK(lseek(fd, -1, SEEK_SET) == -1 && errno == EINVAL);
    CHECK(pread(fd, buf, 4, 8) == 2 && !memcmp(buf, "89", 2) && lseek(fd, 0, SEEK_CUR) == 6);
    CHECK(pwrite(fd, "xy", 2, 20) == 2);
    CHECK(pread(fd, buf, 12, 10) == 12 && !memcmp(buf, "\0\0\0\0\0\0\0\0\0\0xy", 12));
    CHECK(read(fd, buf, 0) == 0);
    CHECK(pread(fd, buf, 1, 100) == 0);
    close(fd);
    unlink("p");
}

static void append_goes_to_the_end(void)
{
    int fd = make("q", "abc"), two = open("q", O_WRONLY | O_APPEND);
    char buf[8];

    CHECK(two >= 0 && write(two, "de", 2) == 2 && lseek(two, 0, SEEK_SET) == 0);
    CHECK(write(two, "f", 1) == 1 && pread(fd, buf, 8, 0) == 6 && !memcmp(buf, "abcdef", 6));
    CHECK(read(two, buf, 1) == -1 && errno == EBADF);
    close(fd);
    close(two);
    unlink("q");
}

static void vectors_scatter_and_gather(void)
{
    char a[3], b[4];
    struct iovec out[3] = {{"ab", 2}, {"", 0}, {"cdefg", 5}}, in[2] = {{a, 3}, {b, 4}};
    int fd = make("v", "");

    CHECK(writev(fd, out, 3) == 7 && lseek(fd, 0, SEEK_SET) == 0);
    CHECK(readv(fd, in, 2) == 7 && !memcmp(a, "abc", 3) && !memcmp(b, "defg", 4));
    CHECK(writev(fd, out, -1) == -1 && errno == EINVAL);
    CHECK(write(fd, (void *)8, 4) == -1 && errno == EFAULT);
    close(fd);
    unlink("v");
}

static void truncate_cuts_and_grows(void)
{
    char buf[8192];
    int fd = make("t", "0123456789");

    CHECK(ftruncate(fd, 4) == 0 && lseek(fd, 0, SEEK_END) == 4);
    CHECK(ftruncate(fd, 8192) == 0 && pread(fd, buf, sizeof(buf), 0) == 8192);
    CHECK(!memcmp(buf, "0123\0\0\0", 7) && buf[8191] == 0);
    CHECK(truncate("t", 1) == 0 && pread(fd, buf, 8, 0) == 1);
    CHECK(ftruncate(fd, -1) == -1 && errno == EINVAL);
    close(fd);
    unlink("t");
}

static void sparse_files_read_zeros(void)
{
    off_t far = (off_t)1 << 33;
    char c = 1;
    int fd = make("s", "x");

    CHECK(pwrite(fd, "y", 1, far) == 1);
    CHECK(lseek(fd, 0, SEEK_END) == far + 1);
    CHECK(pread(fd, &c, 1, far / 2) == 1 && c == 0 && pread(fd, &c, 1, far) == 1 && c == 'y');
    close(fd);
    unlink("s");
}

static void links_share_an_inode(void)
{
    struct stat a, b;
    int fd = make("l1", "hello");

    CHECK(link("l1", "l2") == 0 && link("l1", "l2") == -1 && errno == EEXIST);
    CHECK(stat("l1", &a) == 0 && stat("l2", &b) == 0 && a.st_ino == b.st_ino && a.st_nlink == 2);
    CHECK(unlink("l1") == 0 && fstat(fd, &a) == 0 && a.st_nlink == 1);
    CHECK(unlink("l2") == 0 && fstat(fd, &a) == 0 && a.st_nlink == 0);
    CHECK(pwrite(fd, "J", 1, 0) == 1);
    CHECK(link(".", "l3") == -1 && errno == EPERM);
    close(fd);
}

static void symlinks_are_followed(void)
{
    char buf[64];
    struct stat st;
    int fd = make("real", "R");

    close(fd);
    CHECK(symlink("real", "sym") == 0 && readlink("sym", buf, sizeof(buf)) == 4);
    CHECK(!memcmp(buf, "real", 4) && readlink("sym", buf, 2) == 2);
    CHECK(lstat("sym", &st) == 0 && S_ISLNK(st.st_mode) && stat("sym", &st) == 0);
    CHECK(S_ISREG(st.st_mode) && open("sym", O_RDONLY | O_NOFOLLOW) == -1 && errno == ELOOP);
    CHECK(symlink("loop2", "loop1") == 0 && symlink("loop1", "loop2") == 0);
    CHECK(open("loop1", O_RDONLY) == -1 && errno == ELOOP);
    CHECK(symlink("made", "dangling") == 0 && open("dangling", O_RDONLY) == -1 && errno == ENOENT);
    fd = open("dangling", O_WRONLY | O_CREAT, 0644);
    CHECK(fd >= 0 && close(fd) == 0 && stat("made", &st) == 0);
    CHECK(open("dangling", O_WRONLY | O_CREAT | O_EXCL, 0644) == -1 && errno == EEXIST);
    CHECK(readlink("real", buf, sizeof(buf)) == -1 && errno == EINVAL);
    unlink("real"), unlink("sym"), unlink("loop1"), unlink("loop2"), unlink("dangling");
    unlink("made");
}

static void directories_nest(void)
{
    char cwd[PATH_MAX], want[PATH_MAX];
    struct stat st;

    CHECK(mkdir("d", 0755) == 0 && mkdir("d", 0755) == -1 && errno == EEXIST);
    CHECK(mkdir("d/e", 0755) == 0 && rmdir("d") == -1 && errno == ENOTEMPTY);
    CHECK(stat("d", &st) == 0 && S_ISDIR(st.st_mode));
    CHECK(chdir("d/e") == 0 && getcwd(cwd, sizeof(cwd)) == cwd);
    snprintf(want, sizeof(want), "%s/d/e", dir);
    CHECK(!strcmp(cwd, want) && getcwd(cwd, 3) == NULL && errno == ERANGE);
    CHECK(chdir("../..") == 0 && unlink("d") == -1 && errno == EISDIR);
    CHECK(rmdir("d/e/.") == -1 && errno == EINVAL);
    CHECK(rmdir("d/e") == 0 && rmdir("d") == 0);
}

static int count_entries(const char *name)
{
    DIR *d = opendir(name);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void listings_are_complete(void)
{
    char name[32];

    CHECK(mkdir("many", 0755) == 0);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "many/file-%d", i);
        close(make(name, ""));
    }
    CHECK(count_entries("many") == 302);
    for (int i = 0; i < 300; i += 2) {
        snprintf(name, sizeof(name), "many/file-%d", i);
        CHECK(unlink(name) == 0);
    }
    CHECK(count_entries("many") == 152);
    for (int i = 1; i < 300; i += 2) {
        snprintf(name, sizeof(name), "many/file-%d", i);
        CHECK(unlink(name) == 0);
    }
    CHECK(rmdir("many") == 0);
}

static void rename_replaces(void)
{
    struct stat st;

    close(make("old", "1"));
    close(make("new", "22"));
    CHECK(rename("old", "new") == 0 && stat("new", &st) == 0 && st.st_size == 1);
    CHECK(stat("old", &st) == -1 && errno == ENOENT);
    CHECK(mkdir("x", 0755) == 0 && mkdir("x/y", 0755) == 0);
    CHECK(rename("x", "x/y/z") == -1 && errno == EINVAL);
    CHECK(rename("new", "x") == -1 && errno == EISDIR && rename("x", "new") == -1);
    CHECK(errno == ENOTDIR && rename("x/y", "moved") == 0 && stat("moved", &st) == 0);
    CHECK(rename("new", "new") == 0);
    CHECK(renameat2(AT_FDCWD, "moved", AT_FDCWD, "x", RENAME_NOREPLACE) == -1 && errno == EEXIST);
    CHECK(rmdir("x") == 0 && rmdir("moved") == 0 && unlink("new") == 0);
}

static void descriptors_share_positions(void)
{
    int fd = make("dup", "abcdef"), two = dup(fd), three;
    char c;

    CHECK(two > fd && lseek(fd, 2, SEEK_SET) == 2 && read(two, &c, 1) == 1 && c == 'c');
    three = fcntl(fd, F_DUPFD_CLOEXEC, 50);
    CHECK(three == 50 && fcntl(three, F_GETFD) == FD_CLOEXEC && fcntl(two, F_GETFD) == 0);
    CHECK(dup2(fd, 60) == 60 && dup2(fd, fd) == fd && dup3(fd, fd, 0) == -1 && errno == EINVAL);
    CHECK(dup2(999, 60) == -1 && errno == EBADF && fcntl(60, F_GETFL) >= 0);
    CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR && fcntl(fd, F_SETFL, O_APPEND) == 0);
    CHECK(fcntl(two, F_GETFL) & O_APPEND);
    close(fd), close(two), close(three), close(60);
    unlink("dup");
}

static void attributes_change(void)
{
    struct timespec times[2] = {{1000, 5}, {2000, 7}};
    struct stat st;
    int fd = make("attr", "");

    CHECK(fchmod(fd, 0600) == 0 && fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0600);
    CHECK(chmod("attr", 04755) == 0 && stat("attr", &st) == 0 && (st.st_mode & 07777) == 04755);
    CHECK(futimens(fd, times) == 0 && fstat(fd, &st) == 0);
    CHECK(st.st_atim.tv_sec == 1000 && st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 7);
    CHECK(access("attr", R_OK | W_OK) == 0 && access("missing", F_OK) == -1 && errno == ENOENT);
    CHECK(umask(077) == 022 || umask(022) >= 0);
    umask(022);
    close(fd);
    unlink("attr");
}

static void statx_agrees_with_stat(void)
{
    struct statx x;
    struct statfs fs;
    struct stat st;
    int fd = make("sx", "12345");

    CHECK(fstat(fd, &st) == 0 && statx(AT_FDCWD, "sx", 0, STATX_BASIC_STATS, &x) == 0);
    CHECK(x.stx_size == 5 && x.stx_ino == st.st_ino && x.stx_mode == st.st_mode);
    CHECK(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x) == 0 && x.stx_size == 5);
    CHECK(statfs(".", &fs) == 0 && fs.f_bsize > 0);
    close(fd);
    unlink("sx");
}

static void files_copy_inside_the_kernel(void)
{
    char buf[16] = "";
    int in = make("in", "0123456789"), out = make("out", "");
    off_t at = 2;

    CHECK(sendfile(out, in, &at, 3) == 3 && at == 5);
    CHECK(copy_file_range(in, &at, out, NULL, 100, 0) == 5);
    CHECK(pread(out, buf, 16, 0) == 8 && !memcmp(buf, "23456789", 8));
    close(in), close(out);
    unlink("in"), unlink("out");
}

static void mappings_see_the_file(void)
{
    int fd = make("map", "mapped");
    char *shared, *private, buf[8];

    CHECK(ftruncate(fd, 8192) == 0);
    shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    private = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    CHECK(shared != MAP_FAILED && private != MAP_FAILED && !memcmp(shared, "mapped", 6));
    shared[0] = 'M';
    CHECK(pread(fd, buf, 6, 0) == 6 && buf[0] == 'M' && private[0] == 'M');
    private[1] = 'X';
    CHECK(pread(fd, buf, 6, 0) == 6 && buf[1] == 'a' && shared[1] == 'a');
    CHECK(pwrite(fd, "Z", 1, 5000) == 1 && shared[5000] == 'Z');
    CHECK(read(fd, shared, 8) >= 0); /* a buffer that is the file itself */
    close(fd);
    shared[2] = '!';
    CHECK(munmap(shared, 8192) == 0 && munmap(private, 8192) == 0);
    unlink("map");
}

static void record_locks_exclude(void)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 10};
    int fd = make("lock", "x");

    CHECK(fcntl(fd, F_SETLK, &fl) == 0);
    fl.l_start = 5;
    CHECK(fcntl(fd, F_GETLK, &fl) == 0 && fl.l_type == F_UNLCK); /* our own do not conflict */
    fl.l_type = F_UNLCK;
    CHECK(fcntl(fd, F_SETLK, &fl) == 0);
    CHECK(lseek(fd, 100, SEEK_SET) == 100); /* ranges that no offset can name */
    fl = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = 0x7fffffffffffffff};
    CHECK(fcntl(fd, F_SETLK, &fl) == -1 && errno == EOVERFLOW);
    fl = (struct flock){.l_type = F_WRLCK, .l_start = 9, .l_len = 0x7fffffffffffffff};
    CHECK(fcntl(fd, F_SETLK, &fl) == -1 && errno == EOVERFLOW);
    fl = (struct flock){.l_type = F_WRLCK, .l_start = 9, .l_len = -10};
    CHECK(fcntl(fd, F_SETLK, &fl) == -1 && errno == EINVAL);
    close(fd);
    unlink("lock");
}

/* O_PATH names a place: calls that need an open file fail with EBADF. */
static void places_are_no_open_files(void)
{
    int fd = open("/tmp", O_PATH | O_DIRECTORY), file, copy;
    struct stat st;
    char c;

    CHECK(fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && fchdir(fd) == 0);
    CHECK((file = openat(fd, "test-place", O_RDWR | O_CREAT, 0600)) >= 0 && close(file) == 0);
    CHECK((file = openat(fd, "test-place", O_PATH)) >= 0 && (copy = dup(file)) >= 0);
    CHECK(read(file, &c, 1) == -1 && errno == EBADF && write(file, &c, 1) == -1);
    CHECK(fchmod(file, 0640) == -1 && errno == EBADF && ftruncate(file, 0) == -1);
    CHECK(lseek(file, 0, SEEK_SET) == -1 && errno == EBADF && fsync(copy) == -1);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED && errno == EBADF);
    CHECK(fcntl(file, F_GETFL) & O_PATH && fcntl(file, F_SETFL, O_APPEND) == -1);
    CHECK(errno == EBADF && fcntl(copy, F_SETFD, FD_CLOEXEC) == 0);
    CHECK(unlinkat(fd, "test-place", 0) == 0 && chdir("/") == 0);
    close(fd), close(file), close(copy);
}

static void holes_are_found(void)
{
    const long page = 65536; /* more than any file system's block */
    int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);

    CHECK(fd >= 0 && ftruncate(fd, 8 * page) == 0 && pwrite(fd, "data", 4, 4 * page) == 4);
    CHECK(lseek(fd, 5, SEEK_HOLE) == 5 && lseek(fd, 5, SEEK_DATA) == 4 * page);
    CHECK(lseek(fd, 4 * page + 1, SEEK_DATA) == 4 * page + 1);
    long hole = lseek(fd, 4 * page, SEEK_HOLE);
    CHECK(hole > 4 * page && hole <= 5 * page && lseek(fd, 0, SEEK_CUR) == hole);
    CHECK(lseek(fd, 6 * page, SEEK_DATA) == -1 && errno == ENXIO);
    CHECK(lseek(fd, 8 * page, SEEK_HOLE) == -1 && errno == ENXIO);
    CHECK(pwrite(fd, "e", 1, 8 * page - 1) == 1);
    CHECK(lseek(fd, 8 * page - 1, SEEK_HOLE) == 8 * page);
    CHECK(ftruncate(fd, 1L << 39) == 0 && pwrite(fd, "f", 1, 1L << 38) == 1);
    CHECK(lseek(fd, 8 * page, SEEK_DATA) == 1L << 38 && lseek(fd, 8 * page, SEEK_HOLE) == 8 * page);
    CHECK(lseek(fd, (1L << 38) + page, SEEK_DATA) == -1 && errno == ENXIO);
    close(fd);
}

static void positions_have_a_largest_one(void)
{
    char buf[16] = "";
    int fd = make("o", "0123456789"), here = open(".", O_RDONLY);
    struct stat st;

    CHECK(lseek(fd, LONG_MAX, SEEK_CUR) == -1 && errno == EINVAL);
    CHECK(lseek(fd, LONG_MAX, SEEK_END) == -1 && errno == EINVAL);
    CHECK(lseek(here, 2, SEEK_SET) == 2 && lseek(here, LONG_MAX, SEEK_CUR) == -1);
    CHECK(pwrite(fd, buf, 10, LONG_MAX - 4) == -1 && errno == EINVAL);
    CHECK(pread(fd, buf, 10, LONG_MAX - 4) == -1 && errno == EINVAL);
    CHECK(fstat(fd, &st) == 0 && st.st_size == 10);
    close(fd), close(here);
    unlink("o");
}

static void holes_of_any_size_are_punched(void)
{
    const long far = 1L << 38;
    const int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    char buf[3];

    CHECK(fd >= 0 && ftruncate(fd, 2 * far) == 0 && pwrite(fd, "abc", 3, far) == 3);
    CHECK(fallocate(fd, punch, 1, far) == 0 && pread(fd, buf, 3, far) == 3);
    CHECK(!memcmp(buf, "\0bc", 3));
    CHECK(fallocate(fd, punch, far / 2, far) == 0 && pread(fd, buf, 3, far) == 3);
    CHECK(!memcmp(buf, "\0\0\0", 3) && lseek(fd, 0, SEEK_DATA) == -1 && errno == ENXIO);
    close(fd);
}

/* In a child: a user makes nodes of every type. The status tells the step that failed. */
static int makes_nodes(void)
{
    struct stat st;
    int fd;

    if (setgid(500) || setuid(500))
        return 1;
    fd = open("f", O_RDWR | O_CREAT, 0600);
    if (fstat(fd, &st) || st.st_uid != 500 || st.st_gid != 500 || fchmod(fd, 0400))
        return 2;
    if (mkdir("d", 0700) || stat("d", &st) || st.st_uid != 500 || st.st_gid != 500)
        return 3;
    if (symlink("f", "l") || lstat("l", &st) || st.st_uid != 500)
        return 4;
    if (mkdir("group/d", 0700) || stat("group/d", &st) || st.st_gid != 7 || !(st.st_mode & S_ISGID))
        return 5;
    if (mknod("c", S_IFCHR | 0600, makedev(1, 3)) != -1 || errno != EPERM)
        return 6;
    return rmdir("group/d") || rmdir("d") || unlink("l") || unlink("f") ? 7 : 0;
}

static void nodes_belong_to_their_maker(void)
{
    int status;
    pid_t pid;

    CHECK(mkdir("own", 0700) == 0 && chmod("own", 0777) == 0 && chdir("own") == 0);
    CHECK(mkdir("group", 0700) == 0 && chown("group", 0, 7) == 0 && chmod("group", 02777) == 0);
    pid = fork();
    if (!pid)
        _exit(makes_nodes());
    CHECK(waitpid(pid, &status, 0) == pid);
    errno = WEXITSTATUS(status);
    CHECK(status == 0 && rmdir("group") == 0 && chdir(dir) == 0 && rmdir("own") == 0);
}

int main(void)
{
    snprintf(dir, sizeof(dir), "/tmp/files-test-%d", (int)getpid());
    if (mkdir(dir, 0755) || chdir(dir))
        return 1;
    RUN(open_creates_and_excludes);
    RUN(positions_move);
    RUN(append_goes_to_the_end);
    RUN(vectors_scatter_and_gather);
    RUN(truncate_cuts_and_grows);
    RUN(sparse_files_read_zeros);
    RUN(links_share_an_inode);
    RUN(symlinks_are_followed);
    RUN(directories_nest);
    RUN(listings_are_complete);
    RUN(rename_replaces);
    RUN(descriptors_share_positions);
    RUN(attributes_change);
    RUN(statx_agrees_with_stat);
    RUN(files_copy_inside_the_kernel);
    RUN(mappings_see_the_file);
    RUN(record_locks_exclude);
    RUN(positions_have_a_largest_one);
    if (getuid())
        printf("ok nodes_belong_to_their_maker # skipped: needs root\n");
    else
        RUN(nodes_belong_to_their_maker);
    chdir("/");
    rmdir(dir);
    RUN(places_are_no_open_files);
    RUN(holes_are_found);
    RUN(holes_of_any_size_are_punched);
    DONE();
}
