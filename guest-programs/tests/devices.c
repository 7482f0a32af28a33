/* Devices, mounts and /proc: the tree of files that the guest kernel provides. */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>

static void memory_devices_behave(void)
{
    char buf[64];
    int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR),
        full = open("/dev/full", O_RDWR), random = open("/dev/urandom", O_RDONLY);
    struct stat st;

    memset(buf, 1, sizeof(buf));
    CHECK(null >= 0 && write(null, buf, 64) == 64 && read(null, buf, 64) == 0);
    CHECK(zero >= 0 && read(zero, buf, 64) == 64 && buf[0] == 0 && buf[63] == 0);
    CHECK(full >= 0 && write(full, buf, 1) == -1 && errno == ENOSPC && read(full, buf, 4) == 4);
    CHECK(random >= 0 && read(random, buf, 64) == 64 && (buf[0] | buf[1] | buf[2] | buf[3]));
    CHECK(fstat(null, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
    char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    CHECK(m != MAP_FAILED && m[100] == 0);
    m[100] = 1;
    munmap(m, 4096);
    close(null), close(zero), close(full), close(random);
}

static void nodes_are_found_by_number(void)
{
    char buf[4];

    CHECK(mknod("/tmp/my-zero", S_IFCHR | 0600, makedev(1, 5)) == 0);
    int fd = open("/tmp/my-zero", O_RDONLY);
    CHECK(fd >= 0 && read(fd, buf, 4) == 4);
    close(fd);
    unlink("/tmp/my-zero");
    CHECK(mknod("/tmp/my-none", S_IFCHR | 0600, makedev(77, 5)) == 0);
    CHECK(open("/tmp/my-none", O_RDONLY) == -1 && errno == ENXIO);
    unlink("/tmp/my-none");
}

static void proc_tells_about_us(void)
{
    char buf[4096], want[64];
    int fd = open("/proc/self/status", O_RDONLY);
    ssize_t n = read(fd, buf, sizeof(buf) - 1);

    CHECK(n > 0);
    buf[n] = 0;
    snprintf(want, sizeof(want), "\nPid:\t%d\n", (int)getpid());
    CHECK(strstr(buf, want) && strstr(buf, "Name:\tdevices"));
    close(fd);
    fd = open("/proc/self/maps", O_RDONLY);
    CHECK((n = read(fd, buf, sizeof(buf) - 1)) > 0);
    buf[n] = 0;
    CHECK(strstr(buf, "[stack]") && strstr(buf, "r-xp"));
    close(fd);
    CHECK((n = readlink("/proc/self/exe", buf, sizeof(buf))) > 0 && buf[0] == '/');
    fd = open("/dev/null", O_RDONLY);
    snprintf(want, sizeof(want), "/proc/self/fd/%d", fd);
    CHECK(readlink(want, buf, sizeof(buf)) == 9 && !memcmp(buf, "/dev/null", 9));
    int again = open(want, O_WRONLY);
    CHECK(again >= 0 && write(again, "x", 1) == 1);
    close(fd), close(again);
    CHECK(open("/proc/999999/stat", O_RDONLY) == -1 && errno == ENOENT);
}

static void mounts_cover_and_uncover(void)
{
    struct stat a, b;

    CHECK(mkdir("/tmp/mnt", 0755) == 0 && close(creat("/tmp/mnt/under", 0644)) == 0);
    CHECK(stat("/tmp/mnt", &a) == 0 && mount("none", "/tmp/mnt", "tmpfs", 0, NULL) == 0);
    CHECK(stat("/tmp/mnt", &b) == 0 && a.st_dev != b.st_dev);
    CHECK(access("/tmp/mnt/under", F_OK) == -1 && errno == ENOENT);
    int fd = creat("/tmp/mnt/over", 0644);
    CHECK(fd >= 0 && umount("/tmp/mnt") == -1 && errno == EBUSY);
    CHECK(rename("/tmp/mnt/over", "/tmp/over") == -1 && errno == EXDEV);
    CHECK(rmdir("/tmp/mnt") == -1 && errno == EBUSY);
    CHECK(stat("/tmp/mnt/..", &a) == 0 && stat("/tmp", &b) == 0 && a.st_ino == b.st_ino);
    close(fd);
    CHECK(umount("/tmp/mnt") == 0 && access("/tmp/mnt/under", F_OK) == 0);
    CHECK(umount("/tmp/mnt") == -1 && errno == EINVAL);
    CHECK(mount("none", "/tmp/mnt", "nosuchfs", 0, NULL) == -1 && errno == ENODEV);
    CHECK(unlink("/tmp/mnt/under") == 0 && rmdir("/tmp/mnt") == 0);
}

static int is_mounted(const char *where)
{
    static char text[65536];
    int fd = open("/proc/mounts", O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = 0;
    close(fd);
    return strstr(text, where) != NULL;
}

static void a_detached_mount_takes_those_below_it_along(void)
{
    char path[400] = "/tmp/mnt";
    size_t length = strlen(path);

    for (int i = 0; i < 100; i++) {
        CHECK(mkdir(path, 0755) == 0 && mount("none", path, "tmpfs", 0, NULL) == 0);
        length += (size_t)snprintf(path + length, sizeof(path) - length, "/m");
    }
    CHECK(umount("/tmp/mnt") == -1 && errno == EBUSY && is_mounted(" /tmp/mnt/m/m "));
    int fd = creat(path, 0644); /* in the innermost */
    CHECK(fd >= 0 && umount2("/tmp/mnt", MNT_DETACH) == 0);
    CHECK(!is_mounted(" /tmp/mnt") && access("/tmp/mnt/m", F_OK) == -1 && errno == ENOENT);
    CHECK(write(fd, "x", 1) == 1 && close(fd) == 0 && rmdir("/tmp/mnt") == 0);
}

static void debugfs_mounts(void)
{
    CHECK(mount("none", "/sys/kernel/debug", "debugfs", 0, NULL) == 0);
    CHECK(access("/sys/kernel/debug", R_OK) == 0 && umount("/sys/kernel/debug") == 0);
}

/* Line editing and signals on, as after power-on; `kcovbox run` with piped input turns them off. */
static void make_cooked(int fd, struct termios *old)
{
    struct termios t;

    CHECK(tcgetattr(fd, old) == 0);
    t = *old;
    t.c_iflag |= ICRNL;
    t.c_lflag |= ICANON | ISIG | IEXTEN;
    t.c_lflag &= ~(tcflag_t)ECHO;
    CHECK(tcsetattr(fd, TCSAFLUSH, &t) == 0);
}

static void terminal_answers(void)
{
    struct termios t, old;
    struct winsize w = {30, 100, 0, 0}, got;
    int fd = open("/dev/console", O_RDWR), n;

    CHECK(fd >= 0 && isatty(fd) && tcgetattr(fd, &old) == 0);
    CHECK(old.c_cc[VINTR] == 3 && old.c_cc[VERASE] == 127);
    CHECK(lseek(fd, 0, SEEK_SET) == -1 && errno == ESPIPE);
    t = old;
    cfmakeraw(&t);
    t.c_cc[VMIN] = 0, t.c_cc[VTIME] = 0;
    CHECK(tcsetattr(fd, TCSANOW, &t) == 0);
    char c;
    while (read(fd, &c, 1) == 1)
        ;
    CHECK(ioctl(fd, TIOCSTI, "a") == 0 && ioctl(fd, TIOCSTI, "\r") == 0);
    CHECK(ioctl(fd, FIONREAD, &n) == 0 && n == 2 && read(fd, &c, 1) == 1 && c == 'a');
    CHECK(read(fd, &c, 1) == 1 && c == '\r' && read(fd, &c, 1) == 0);
    t.c_cc[VTIME] = 1;
    CHECK(tcsetattr(fd, TCSANOW, &t) == 0 && read(fd, &c, 1) == 0);
    CHECK(ioctl(fd, TIOCSWINSZ, &w) == 0 && ioctl(fd, TIOCGWINSZ, &got) == 0 && got.ws_col == 100);
    CHECK(tcsetattr(fd, TCSANOW, &old) == 0);
    close(fd);
}

static void type(int fd, const char *keys)
{
    for (; *keys; keys++)
        ioctl(fd, TIOCSTI, keys);
}

static void lines_are_edited(void)
{
    struct termios old;
    char buf[64];
    int fd = open("/dev/console", O_RDWR);

    make_cooked(fd, &old);
    type(fd, "helo\177lo wrong\027right\r");
    CHECK(read(fd, buf, sizeof(buf)) == 12 && !memcmp(buf, "hello right\n", 12));
    type(fd, "gone\025x\nsecond\n");
    CHECK(read(fd, buf, sizeof(buf)) == 2 && buf[0] == 'x');
    struct pollfd f = {fd, POLLIN, 0};
    CHECK(poll(&f, 1, 0) == 1 && read(fd, buf, 3) == 3 && read(fd, buf, 64) == 4);
    type(fd, "part\004\004");
    CHECK(read(fd, buf, sizeof(buf)) == 4 && read(fd, buf, sizeof(buf)) == 0);
    type(fd, "a\026\004b\n");
    CHECK(read(fd, buf, sizeof(buf)) == 4 && buf[1] == 4);
    CHECK(tcsetattr(fd, TCSANOW, &old) == 0);
    close(fd);
}

static void keys_signal_the_foreground(void)
{
    int status, ready[2], console = open("/dev/console", O_RDWR);
    struct termios old;
    char c;

    make_cooked(console, &old);
    CHECK(pipe(ready) == 0);
    pid_t pid = fork();
    if (!pid) {
        setsid();
        int fd = open("/dev/ttyS0", O_RDWR);
        if (fd < 0 || (tcgetsid(fd) != getpid() && ioctl(fd, TIOCSCTTY, 1)))
            _exit(3);
        if (tcgetpgrp(fd) != getpgrp() || write(ready[1], "r", 1) != 1)
            _exit(4);
        ioctl(fd, TIOCSTI, "\003");
        pause();
        _exit(5);
    }
    close(ready[1]);
    CHECK(read(ready[0], &c, 1) == 1);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    CHECK(tcsetattr(console, TCSANOW, &old) == 0);
    close(console), close(ready[0]);
}

int main(void)
{
    RUN_ON_KERNEL(memory_devices_behave);
    RUN_ON_KERNEL(nodes_are_found_by_number);
    RUN_ON_KERNEL(proc_tells_about_us);
    RUN_ON_KERNEL(mounts_cover_and_uncover);
    RUN_ON_KERNEL(a_detached_mount_takes_those_below_it_along);
    RUN_ON_KERNEL(debugfs_mounts);
    RUN_ON_KERNEL(terminal_answers);
    RUN_ON_KERNEL(lines_are_edited);
    RUN_ON_KERNEL(keys_signal_the_foreground);
    DONE();
}
