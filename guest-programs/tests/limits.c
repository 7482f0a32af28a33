/* Memory that runs out: the limit of a tmpfs, and the victim when a page fault finds no memory. */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#define WHERE "/tmp/limited"
#define PAGE  4096UL

static bool mounted_with(const char *options)
{
    mkdir(WHERE, 0755);
    return mount("none", WHERE, "tmpfs", 0, options) == 0;
}

static bool gone(void)
{
    return umount(WHERE) == 0 && rmdir(WHERE) == 0;
}

static void a_tmpfs_takes_half_of_ram(void)
{
    struct statfs fs;
    struct sysinfo info;
    CHECK(mounted_with(NULL) && statfs(WHERE, &fs) == 0 && sysinfo(&info) == 0);
    CHECK(fs.f_blocks == info.totalram * info.mem_unit / PAGE / 2);
    CHECK(fs.f_bfree == fs.f_blocks && fs.f_ffree == fs.f_files - 1);
    CHECK(gone());
}

static void a_full_tmpfs_has_no_space(void)
{
    static char data[64 << 10];
    struct statfs fs;
    CHECK(mounted_with("size=64k") && statfs(WHERE, &fs) == 0 && fs.f_blocks == 16);
    int fd = open(WHERE "/file", O_CREAT | O_RDWR, 0600),
        more = open(WHERE "/more", O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0 && more >= 0);
    CHECK(write(fd, data, sizeof(data)) == sizeof(data));
    CHECK(statfs(WHERE, &fs) == 0 && fs.f_bfree == 0);
    CHECK(write(more, data, 1) == -1 && errno == ENOSPC);
    CHECK(pwrite(fd, "x", 1, 5) == 1); /* what is there can change */
    CHECK(ftruncate(fd, 60 << 10) == 0 && write(more, data, 4097) == 4096);
    close(fd);
    close(more);
    CHECK(unlink(WHERE "/file") == 0 && statfs(WHERE, &fs) == 0 && fs.f_bfree == 15);
    CHECK(gone());
}

static void a_mapping_beyond_the_limit_is_a_bus_error(void)
{
    int status;
    CHECK(mounted_with("nr_blocks=4"));
    int fd = open(WHERE "/file", O_CREAT | O_RDWR, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 8 * PAGE) == 0);
    pid_t child = fork();
    if (child == 0) {
        volatile char *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        for (int i = 0; i < 8; i++)
            p[i * PAGE] = 1;
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    close(fd);
    CHECK(gone());
}

static void inodes_are_limited(void)
{
    CHECK(mounted_with("nr_inodes=3"));
    CHECK(mkdir(WHERE "/a", 0700) == 0 && symlink("a", WHERE "/b") == 0);
    CHECK(mkdir(WHERE "/c", 0700) == -1 && errno == ENOSPC);
    CHECK(link(WHERE "/b", WHERE "/d") == 0); /* a name, not an inode */
    CHECK(rmdir(WHERE "/a") == 0 && mkdir(WHERE "/c", 0700) == 0);
    CHECK(gone());
}

static void options_are_checked(void)
{
    static const char *const wrong[] = {
        "size=x", "size", "size=", "size=4k3", "nonsense=1", "mode=9"};
    struct stat st;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK(!mounted_with(wrong[i]) && errno == EINVAL);
    CHECK(mounted_with("mode=0710,uid=5,gid=6,size=50%") && stat(WHERE, &st) == 0);
    CHECK((st.st_mode & 07777) == 0710 && st.st_uid == 5 && st.st_gid == 6);
    CHECK(gone());
}

/* Takes page after page until it is killed. */
static void take_all(void)
{
    for (;;) {
        char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            _exit(1);
        memset(p, 1, 1 << 20);
    }
}

static void the_largest_process_is_killed(void)
{
    int status, to_small[2];
    CHECK(pipe(to_small) == 0);
    pid_t small = fork();
    if (small == 0) {
        static char more[64 << 10];
        char byte;
        close(to_small[1]);
        while (read(to_small[0], &byte, 1) == 1) /* needs memory while there is none */
            memset(more, byte, sizeof(more));
        _exit(more[5] == 7 ? 0 : 1);
    }
    pid_t large = fork();
    if (large == 0)
        take_all();
    while (waitpid(large, &status, WNOHANG) == 0)
        CHECK(write(to_small[1], "\7", 1) == 1);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(to_small[1]);
    CHECK(waitpid(small, &status, 0) == small && status == 0);
}

int main(void)
{
    RUN_ON_KERNEL(a_tmpfs_takes_half_of_ram);
    RUN_ON_KERNEL(a_full_tmpfs_has_no_space);
    RUN_ON_KERNEL(a_mapping_beyond_the_limit_is_a_bus_error);
    RUN_ON_KERNEL(inodes_are_limited);
    RUN_ON_KERNEL(options_are_checked);
    RUN_ON_KERNEL(the_largest_process_is_killed);
    DONE();
}
