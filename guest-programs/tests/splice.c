/* Bytes that move without user memory: splice, tee, vmsplice, sendfile, copy_file_range; memfds. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

static int new_file(const char *text)
{
    int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? fd : -1;
}

static void splice_moves_between_file_and_pipe(void)
{
    int in = new_file("0123456789"), out = new_file(""), p[2];
    loff_t at = 2;
    char buf[32];

    CHECK(in >= 0 && out >= 0 && pipe(p) == 0);
    CHECK(splice(in, &at, p[1], NULL, 5, 0) == 5 && at == 7 && lseek(in, 0, SEEK_CUR) == 10);
    CHECK(splice(in, &at, p[1], NULL, 100, 0) == 3 && splice(in, &at, p[1], NULL, 9, 0) == 0);
    at = 4;
    CHECK(splice(p[0], NULL, out, &at, 6, 0) == 6 && at == 10);
    CHECK(splice(p[0], NULL, out, NULL, 100, 0) == 2 && lseek(out, 0, SEEK_CUR) == 2);
    CHECK(pread(out, buf, 32, 0) == 10 && !memcmp(buf, "89\0\000234567", 10));
    CHECK(splice(p[0], NULL, out, NULL, 1, SPLICE_F_NONBLOCK) == -1 && errno == EAGAIN);
    close(p[1]);
    CHECK(splice(p[0], NULL, out, NULL, 1, 0) == 0);
    close(p[0]), close(in), close(out);
}

static void splice_refuses_what_has_no_pipe(void)
{
    int in = new_file("x"), out = new_file(""), p[2];
    loff_t at = 0;

    CHECK(pipe(p) == 0 && splice(in, NULL, out, NULL, 1, 0) == -1 && errno == EINVAL);
    CHECK(splice(p[0], &at, out, NULL, 1, 0) == -1 && errno == ESPIPE);
    CHECK(splice(p[1], NULL, out, NULL, 1, 0) == -1 && errno == EBADF);
    CHECK(splice(-1, NULL, out, NULL, 1, 0) == -1 && errno == EBADF);
    CHECK(splice(p[0], NULL, p[1], NULL, 1, 0) == -1 && errno == EINVAL);
    CHECK(tee(in, p[1], 1, 0) == -1 && errno == EINVAL);
    CHECK(splice(in, NULL, p[1], NULL, 0, 0) == 0);
    close(p[0]), close(p[1]), close(in), close(out);
}

static void large_splices_wait_for_the_reader(void)
{
    enum { N = 300000 };
    char *big = malloc(N);
    int in = new_file(""), out = new_file(""), p[2], status;
    long moved = 0, n;

    for (int i = 0; i < N; i++)
        big[i] = (char)(i * 31);
    CHECK(pipe(p) == 0 && write(in, big, N) == N && lseek(in, 0, SEEK_SET) == 0);
    pid_t pid = fork();
    if (!pid) {
        close(p[0]);
        while ((n = splice(in, NULL, p[1], NULL, N, 0)) > 0)
            moved += n;
        _exit(moved == N ? 0 : 1);
    }
    close(p[1]);
    while ((n = splice(p[0], NULL, out, NULL, 70000, 0)) > 0)
        moved += n;
    CHECK(n == 0 && moved == N && waitpid(pid, &status, 0) == pid && status == 0);
    memset(big, 0, N);
    CHECK(pread(out, big, N, 0) == N);
    for (int i = 0; i < N; i++)
        CHECK(big[i] == (char)(i * 31));
    close(p[0]), close(in), close(out), free(big);
}

static void sockets_splice_too(void)
{
    int s[2], p[2];
    char buf[8];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && pipe(p) == 0);
    CHECK(write(s[0], "socket", 6) == 6 && splice(s[1], NULL, p[1], NULL, 100, 0) == 6);
    CHECK(splice(p[0], NULL, s[1], NULL, 3, 0) == 3 && read(s[0], buf, 8) == 3);
    CHECK(!memcmp(buf, "soc", 3) && read(p[0], buf, 8) == 3 && !memcmp(buf, "ket", 3));
    close(p[0]), close(p[1]), close(s[0]), close(s[1]);
}

static void tee_copies_and_keeps(void)
{
    int a[2], b[2];
    char buf[8];

    CHECK(pipe(a) == 0 && pipe(b) == 0 && write(a[1], "twice", 5) == 5);
    CHECK(tee(a[0], b[1], 3, 0) == 3 && read(b[0], buf, 8) == 3 && !memcmp(buf, "twi", 3));
    CHECK(splice(a[0], NULL, b[1], NULL, 4, 0) == 4 && read(b[0], buf, 8) == 4);
    CHECK(!memcmp(buf, "twic", 4) && read(a[0], buf, 8) == 1 && buf[0] == 'e');
    CHECK(tee(a[0], b[1], 3, SPLICE_F_NONBLOCK) == -1 && errno == EAGAIN);
    close(a[0]), close(a[1]), close(b[0]), close(b[1]);
}

static void vmsplice_is_readv_and_writev(void)
{
    char one[] = "one", two[] = "two", buf[8] = {0};
    struct iovec out[2] = {{one, 3}, {two, 3}}, in = {buf, 4};
    int p[2], file = new_file("x");

    CHECK(pipe(p) == 0 && vmsplice(p[1], out, 2, 0) == 6);
    CHECK(vmsplice(p[0], &in, 1, 0) == 4 && !memcmp(buf, "onet", 4) && read(p[0], buf, 8) == 2);
    CHECK(vmsplice(file, &in, 1, 0) == -1 && errno == EBADF);
    close(p[0]), close(p[1]), close(file);
}

static void sendfile_and_copy_file_range_copy(void)
{
    int in = new_file("abcdefgh"), out = new_file(""), p[2];
    loff_t from = 2, to = 1;
    off_t at = 5;
    char buf[16];

    CHECK(pipe(p) == 0 && sendfile(p[1], in, &at, 10) == 3 && at == 8);
    CHECK(read(p[0], buf, 16) == 3 && !memcmp(buf, "fgh", 3));
    CHECK(copy_file_range(in, &from, out, &to, 4, 0) == 4 && from == 6 && to == 5);
    CHECK(pread(out, buf, 16, 0) == 5 && !memcmp(buf, "\0cdef", 5));
    CHECK(copy_file_range(in, NULL, p[1], NULL, 4, 0) == -1 && errno == EINVAL);
    close(p[0]), close(p[1]), close(in), close(out);
}

static void vectors_have_positions(void)
{
    char a[3] = {0}, b[3] = {0};
    struct iovec v[2] = {{a, 3}, {b, 3}};
    int fd = new_file("0123456789");

    CHECK(preadv(fd, v, 2, 3) == 6 && !memcmp(a, "345", 3) && !memcmp(b, "678", 3));
    CHECK(lseek(fd, 8, SEEK_SET) == 8 && preadv2(fd, v, 2, -1, 0) == 2 && !memcmp(a, "89", 2));
    CHECK(pwritev(fd, v, 2, 1) == 6 && pread(fd, a, 3, 0) == 3 && !memcmp(a, "089", 3));
    close(fd);
}

static void vectors_have_flags(void)
{
    char a[3] = "abc", b[3] = "def";
    struct iovec v[2] = {{a, 3}, {b, 3}};
    int fd = new_file("0123456789");

    CHECK(pwritev2(fd, v, 2, 0, RWF_APPEND) == 6 && lseek(fd, 0, SEEK_END) == 16);
    CHECK(pwritev2(fd, v, 1, 0, RWF_DSYNC) == 3 && pread(fd, b, 2, 0) == 2 && b[0] == 'a');
    CHECK(preadv2(fd, v, 2, 0, 0x4000) == -1 && errno == EOPNOTSUPP);
    close(fd);
}

static void fallocate_extends_and_punches(void)
{
    char buf[4] = {0};
    struct stat st;
    int fd = new_file("full");

    CHECK(fallocate(fd, 0, 0, 12288) == 0 && fstat(fd, &st) == 0 && st.st_size == 12288);
    CHECK(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 99999) == 0 && fstat(fd, &st) == 0);
    CHECK(st.st_size == 12288 && pwrite(fd, "page", 4, 4096) == 4);
    CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1, 8190) == 0);
    CHECK(pread(fd, buf, 4, 0) == 4 && !memcmp(buf, "f\0\0\0", 4));
    CHECK(pread(fd, buf, 4, 4096) == 4 && !memcmp(buf, "\0\0\0\0", 4));
    CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 1) == -1 && errno == EOPNOTSUPP);
    CHECK(fallocate(fd, 0, -1, 1) == -1 && errno == EINVAL);
    close(fd);
}

static void a_punched_mapping_and_file_agree(void)
{
    int fd = new_file("");
    char *m, c = 9;

    CHECK(ftruncate(fd, 8192) == 0);
    m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    m[0] = m[4096] = 'm';
    CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0 && m[0] == 0);
    m[0] = 'n';
    CHECK(pread(fd, &c, 1, 0) == 1 && c == 'n' && m[4096] == 'm');
    munmap(m, 8192), close(fd);
}

static void memfds_are_files_without_a_name(void)
{
    char path[64], text[64] = {0};
    struct stat st;
    int fd = memfd_create("thing", MFD_CLOEXEC);

    CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC && fstat(fd, &st) == 0);
    CHECK(S_ISREG(st.st_mode) && st.st_nlink == 0 && write(fd, "memory", 6) == 6);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    CHECK(readlink(path, text, sizeof(text)) > 0 && !strcmp(text, "/memfd:thing (deleted)"));
    int again = open(path, O_RDONLY);
    CHECK(again >= 0 && read(again, text, 64) == 6 && !memcmp(text, "memory", 6));
    CHECK(fcntl(fd, F_GET_SEALS) == F_SEAL_SEAL);
    CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == -1 && errno == EPERM);
    CHECK(memfd_create("x", 0x4000) == -1 && errno == EINVAL);
    close(again), close(fd);
}

static void seals_hold(void)
{
    int fd = memfd_create("sealed", MFD_ALLOW_SEALING);
    char *m, c;

    CHECK(fd >= 0 && fcntl(fd, F_GET_SEALS) == 0 && ftruncate(fd, 4096) == 0);
    CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    CHECK(ftruncate(fd, 1) == -1 && errno == EPERM && ftruncate(fd, 9000) == -1);
    CHECK(pwrite(fd, "x", 1, 4096) == -1 && errno == EPERM && pwrite(fd, "x", 1, 0) == 1);
    m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(m != MAP_FAILED && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == -1 && errno == EBUSY);
    CHECK(munmap(m, 4096) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) == 0);
    CHECK(pwrite(fd, "y", 1, 0) == -1 && errno == EPERM && pread(fd, &c, 1, 0) == 1 && c == 'x');
    CHECK(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EPERM);
    m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    CHECK(m != MAP_FAILED && (m[0] = 'p') && munmap(m, 4096) == 0);
    CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == -1 && errno == EPERM);
    close(fd);
}

int main(void)
{
    RUN(splice_moves_between_file_and_pipe);
    RUN(splice_refuses_what_has_no_pipe);
    RUN(large_splices_wait_for_the_reader);
    RUN(sockets_splice_too);
    RUN(tee_copies_and_keeps);
    RUN(vmsplice_is_readv_and_writev);
    RUN(sendfile_and_copy_file_range_copy);
    RUN(vectors_have_positions);
    RUN_ON_KERNEL(vectors_have_flags);
    RUN(fallocate_extends_and_punches);
    RUN(a_punched_mapping_and_file_agree);
    RUN(memfds_are_files_without_a_name);
    RUN(seals_hold);
    DONE();
}
