/*
 * A disk with minfs on it: contents survive unmounting, holes and links work, space comes back.
 * Needs /dev/vda and mkfs-minfs's image on it; without a disk every test is skipped, saying so.
 */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int attach(void)
{
    return mount("/dev/vda", "/tmp/disk", "minfs", 0, NULL);
}

static void contents_survive(void)
{
    char buf[10000];
    struct stat st;

    CHECK(attach() == 0);
    CHECK(mkdir("/tmp/disk/dir", 0750) == 0);
    int fd = open("/tmp/disk/dir/file", O_RDWR | O_CREAT, 0640);
    for (int i = 0; i < 10000; i++)
        buf[i] = (char)(i * 7);
    CHECK(fd >= 0 && write(fd, buf, 10000) == 10000 && close(fd) == 0);
    CHECK(symlink("dir/file", "/tmp/disk/sym") == 0);
    CHECK(link("/tmp/disk/dir/file", "/tmp/disk/hard") == 0);
    CHECK(umount("/tmp/disk") == 0 && access("/tmp/disk/dir", F_OK) == -1);
    CHECK(attach() == 0 && stat("/tmp/disk/sym", &st) == 0 && st.st_size == 10000);
    CHECK((st.st_mode & 07777) == 0640 && st.st_nlink == 2);
    fd = open("/tmp/disk/hard", O_RDONLY);
    memset(buf, 0, sizeof(buf));
    CHECK(read(fd, buf, 10000) == 10000);
    for (int i = 0; i < 10000; i++)
        CHECK(buf[i] == (char)(i * 7));
    close(fd);
    CHECK(umount("/tmp/disk") == 0);
}

static void large_sparse_files_work(void)
{
    off_t places[] = {0, 9 * 4096, 10 * 4096, 1033 * 4096L, 1034 * 4096L, 9000 * 4096L};
    char name[] = "/tmp/disk/big", c = 0;

    CHECK(attach() == 0);
    int fd = open(name, O_RDWR | O_CREAT, 0600);
    for (unsigned i = 0; i < 6; i++) {
        c = (char)('a' + i);
        CHECK(pwrite(fd, &c, 1, places[i]) == 1);
    }
    CHECK(fsync(fd) == 0 && close(fd) == 0 && umount("/tmp/disk") == 0 && attach() == 0);
    fd = open(name, O_RDWR);
    for (unsigned i = 0; i < 6; i++)
        CHECK(pread(fd, &c, 1, places[i]) == 1 && c == (char)('a' + i));
    CHECK(pread(fd, &c, 1, 500 * 4096) == 1 && c == 0);
    CHECK(ftruncate(fd, 10) == 0 && lseek(fd, 0, SEEK_END) == 10);
    CHECK(close(fd) == 0 && unlink(name) == 0 && umount("/tmp/disk") == 0);
}

/* The cut may be in a block not read since the mount: its tail is stale on the disk. */
static void a_cut_tail_does_not_come_back(void)
{
    char name[] = "/tmp/disk/tail", buf[8192], *m;
    int fd;

    memset(buf, 'T', sizeof(buf));
    CHECK(attach() == 0);
    fd = open(name, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, buf, sizeof(buf)) == sizeof(buf) && close(fd) == 0);
    CHECK(umount("/tmp/disk") == 0 && attach() == 0 && truncate(name, 100) == 0);
    CHECK(umount("/tmp/disk") == 0 && attach() == 0 && truncate(name, sizeof(buf)) == 0);
    fd = open(name, O_RDWR);
    m = mmap(NULL, sizeof(buf), PROT_READ, MAP_SHARED, fd, 0);
    CHECK(m != MAP_FAILED && m[99] == 'T' && m[100] == 0 && m[4095] == 0 && m[8191] == 0);
    CHECK(munmap(m, sizeof(buf)) == 0 && close(fd) == 0);
    CHECK(unlink(name) == 0 && umount("/tmp/disk") == 0);
}

static void space_comes_back(void)
{
    struct statfs before, after;
    char name[64], page[4096] = {1};

    CHECK(attach() == 0 && statfs("/tmp/disk", &before) == 0);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "/tmp/disk/f%d", i);
        int fd = open(name, O_RDWR | O_CREAT, 0600);
        for (int j = 0; j < 15; j++)
            CHECK(write(fd, page, sizeof(page)) == sizeof(page));
        close(fd);
    }
    CHECK(statfs("/tmp/disk", &after) == 0 && after.f_bfree + 600 <= before.f_bfree);
    CHECK(rename("/tmp/disk/f0", "/tmp/disk/f1") == 0);
    for (int i = 1; i < 40; i++) {
        snprintf(name, sizeof(name), "/tmp/disk/f%d", i);
        CHECK(unlink(name) == 0);
    }
    sync();
    CHECK(statfs("/tmp/disk", &after) == 0 && after.f_ffree == before.f_ffree);
    CHECK(after.f_bfree + 3 >= before.f_bfree); /* the directory may have grown */
    CHECK(umount("/tmp/disk") == 0);
}

static void mappings_reach_the_disk(void)
{
    CHECK(attach() == 0);
    int fd = open("/tmp/disk/map", O_RDWR | O_CREAT, 0600);
    CHECK(ftruncate(fd, 4096) == 0);
    char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), buf[8] = "";
    CHECK(m != MAP_FAILED);
    memcpy(m, "mapped", 6);
    CHECK(msync(m, 4096, MS_SYNC) == 0 && munmap(m, 4096) == 0 && close(fd) == 0);
    CHECK(umount("/tmp/disk") == 0 && attach() == 0);
    fd = open("/tmp/disk/map", O_RDONLY);
    CHECK(read(fd, buf, 6) == 6 && !memcmp(buf, "mapped", 6) && close(fd) == 0);
    CHECK(umount("/tmp/disk") == 0);
}

static void listings_end_at_far_positions(void)
{
    static const long far[] = {1L << 50, (1L << 58) + 2, (1L << 62) + 2, 0x7fffffffffffffff};
    char buf[512];

    CHECK(attach() == 0);
    for (int i = 0; i < 4; i++) {
        int fd = open("/tmp/disk", O_RDONLY | O_DIRECTORY);

        CHECK(lseek(fd, far[i], SEEK_SET) == far[i]);
        CHECK(syscall(SYS_getdents64, fd, buf, sizeof(buf)) == 0 && close(fd) == 0);
    }
    CHECK(umount("/tmp/disk") == 0);
}

static void read_only_is_read_only(void)
{
    CHECK(mount("/dev/vda", "/tmp/disk", "minfs", MS_RDONLY, NULL) == 0);
    CHECK(open("/tmp/disk/new", O_RDWR | O_CREAT, 0600) == -1 && errno == EROFS);
    CHECK(unlink("/tmp/disk/hard") == -1 && errno == EROFS && umount("/tmp/disk") == 0);
    CHECK(attach() == 0 && unlink("/tmp/disk/hard") == 0 && unlink("/tmp/disk/sym") == 0);
    CHECK(unlink("/tmp/disk/dir/file") == 0 && rmdir("/tmp/disk/dir") == 0);
    CHECK(unlink("/tmp/disk/map") == 0 && umount("/tmp/disk") == 0);
}

/* The format reaches 10 + 1024 + 1024 * 1024 blocks of 4 KiB. */
static void files_end_where_the_format_ends(void)
{
    const long end = (10 + 1024 + 1024L * 1024) * 4096;
    struct stat st;

    CHECK(attach() == 0);
    int fd = open("/tmp/disk/far", O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && ftruncate(fd, end) == 0 && pwrite(fd, "x", 1, end - 1) == 1);
    CHECK(ftruncate(fd, end + 1) == -1 && errno == EFBIG);
    CHECK(ftruncate(fd, 1L << 62) == -1 && errno == EFBIG);
    CHECK(pwrite(fd, "x", 1, end) == -1 && errno == EFBIG);
    CHECK(fstat(fd, &st) == 0 && st.st_size == end && fsync(fd) == 0 && close(fd) == 0);
    CHECK(unlink("/tmp/disk/far") == 0 && umount("/tmp/disk") == 0);
}

static void only_root_empties_the_cache(void)
{
    int status, fd = open("/dev/vda", O_RDONLY);

    CHECK(fd >= 0 && ioctl(fd, 0x1261 /* BLKFLSBUF */) == 0);
    pid_t pid = fork();
    if (!pid)
        _exit(setuid(1000) || ioctl(fd, 0x1261) != -1 || errno != EACCES);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0 && close(fd) == 0);
}

#define RUN_WITH_DISK(test)                                                                        \
    do {                                                                                           \
        if (access("/dev/vda", F_OK))                                                              \
            printf("ok %s # skipped: no disk attached\n", #test);                                  \
        else                                                                                       \
            RUN(test);                                                                             \
    } while (0)

int main(void)
{
    mkdir("/tmp/disk", 0755);
    RUN_WITH_DISK(contents_survive);
    RUN_WITH_DISK(large_sparse_files_work);
    RUN_WITH_DISK(a_cut_tail_does_not_come_back);
    RUN_WITH_DISK(space_comes_back);
    RUN_WITH_DISK(mappings_reach_the_disk);
    RUN_WITH_DISK(listings_end_at_far_positions);
    RUN_WITH_DISK(files_end_where_the_format_ends);
    RUN_WITH_DISK(only_root_empties_the_cache);
    RUN_WITH_DISK(read_only_is_read_only);
    rmdir("/tmp/disk");
    DONE();
}
