#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <sys/uio.h>

static int file_with(const char *text)
{
    int fd = open("/tmp-reads", O_RDWR | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        exit(99);
    return fd;
}

static void a_number_that_is_not_open(void)
{
    char c;

    CHECK(read(-1, &c, 1) == -1 && errno == EBADF);
    CHECK(write(77, &c, 1) == -1 && errno == EBADF);
    CHECK(lseek(77, 0, SEEK_SET) == -1 && errno == EBADF);
}

static void vectors(void)
{
    static struct iovec many[1025];
    char a[3] = "", b[8] = "";
    struct iovec two[2] = {{a, 2}, {b, 4}};
    struct iovec negative[2] = {{a, 2}, {b, (size_t)-1}};
    int fd = file_with("abcdef");

    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    CHECK(readv(fd, two, 2) == 6 && a[0] == 'a' && a[1] == 'b' && b[0] == 'c' && b[3] == 'f');
    CHECK(readv(fd, two, 0) == 0);
    CHECK(readv(fd, many, 1025) == -1 && errno == EINVAL);
    CHECK(readv(fd, many, 1024) == 0);
    CHECK(readv(fd, negative, 2) == -1 && errno == EINVAL);
    CHECK(readv(fd, (struct iovec *)8, 1) == -1 && errno == EFAULT);
    CHECK(writev(fd, two, 2) == 6);
    CHECK(lseek(fd, 0, SEEK_CUR) == 12);
    close(fd);
}

static void positions(void)
{
    char c = 0;
    int fd = file_with("abcdef"), pipes[2];

    CHECK(pread(fd, &c, 1, 3) == 1 && c == 'd');
    CHECK(pread(fd, &c, 1, 0) == 1 && c == 'a');
    CHECK(pread(fd, &c, 1, -1) == -1 && errno == EINVAL);
    CHECK(pwrite(fd, "X", 1, 2) == 1);
    CHECK(pwrite(fd, "X", 1, -1) == -1 && errno == EINVAL);
    CHECK(pread(fd, &c, 1, 2) == 1 && c == 'X');
    CHECK(lseek(fd, 0, SEEK_CUR) == 6);
    CHECK(pipe(pipes) == 0);
    CHECK(pread(pipes[0], &c, 1, 0) == -1 && errno == ESPIPE);
    CHECK(lseek(pipes[0], 0, SEEK_SET) == -1 && errno == ESPIPE);
    CHECK(write(pipes[1], "y", 1) == 1 && read(pipes[0], &c, 1) == 1 && c == 'y');
    close(fd);
}

static void seeking(void)
{
    int fd = file_with("abcdef"), null = open("/dev/null", O_RDWR);

    CHECK(lseek(null, 5, SEEK_SET) == 0);
    CHECK(lseek(fd, 6, SEEK_DATA) == -1 && errno == ENXIO);
    CHECK(lseek(fd, -1, SEEK_HOLE) == -1 && errno == ENXIO);
    CHECK(lseek(fd, 7, SEEK_SET) == 7);

    CHECK(lseek(fd, 2, SEEK_SET) == 2);
    CHECK(lseek(fd, 3, SEEK_CUR) == 5);
    CHECK(lseek(fd, -1, SEEK_END) == 5);
    CHECK(lseek(fd, -7, SEEK_END) == -1 && errno == EINVAL);
    CHECK(lseek(fd, -1, SEEK_SET) == -1 && errno == EINVAL);
    CHECK(lseek(fd, 0, 9) == -1 && errno == EINVAL);
    CHECK(lseek(fd, 0, SEEK_CUR) == 5);
    close(fd);
}

int main(void)
{
    RUN(a_number_that_is_not_open);
    RUN(vectors);
    RUN(positions);
    RUN(seeking);
    DONE();
}
