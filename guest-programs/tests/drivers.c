/*
 * The driver model from outside: unbinds, binds, removes and rescans devices through sysfs, with
 * open descriptors, sleeping pollers and I/O in flight. Prints which devices the board lacks.
 */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../../kernel/abi/edu.h"

#define EDU       "/sys/bus/platform/drivers/edu/"
#define EDU_NODE  "edu@4010000"
#define RNG       "/sys/bus/virtio/drivers/virtio_rng/"
#define BLK       "/sys/bus/virtio/drivers/virtio_blk/"
#define USERS     4
#define EXCHANGES 60

/* Writes a word into a file; 0 or the errno. */
static int put(const char *path, const char *word)
{
    int fd = open(path, O_WRONLY), err = 0;

    if (fd < 0)
        return errno;
    if (write(fd, word, strlen(word)) != (ssize_t)strlen(word))
        err = errno;
    close(fd);
    return err;
}

static int says(const char *path, const char *line)
{
    char text[300] = "";
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    return n > 0 && strstr(text, line) != NULL;
}

static int works(int fd)
{
    unsigned n = 5;

    return ioctl(fd, EDU_FACTORIAL, &n) == 0 && n == 120;
}

static void an_open_file_of_an_unbound_device_is_enodev(void)
{
    struct pollfd p = {.events = POLLIN};
    char byte;
    int fd = open("/dev/edu", O_RDWR), again;

    CHECK(fd >= 0 && works(fd));
    CHECK(says("/sys/bus/platform/devices/" EDU_NODE "/uevent", "DRIVER=edu\n"));
    CHECK(put(EDU "unbind", EDU_NODE "\n") == 0);
    CHECK(says("/sys/bus/platform/devices/" EDU_NODE "/uevent", "DRIVER=\n"));
    CHECK(open("/dev/edu", O_RDWR) < 0 && errno == ENOENT);
    CHECK(!works(fd) && errno == ENODEV);
    CHECK(pread(fd, &byte, 1, 0) < 0 && errno == ENODEV);
    CHECK(pwrite(fd, &byte, 1, 0) < 0 && errno == ENODEV);
    CHECK(lseek(fd, 0, SEEK_SET) < 0 && errno == ENODEV);
    p.fd = fd;
    CHECK(poll(&p, 1, 0) == 1 && p.revents == (POLLERR | POLLHUP));
    CHECK(put(EDU "unbind", EDU_NODE) == ENODEV);
    CHECK(put(EDU "bind", EDU_NODE) == 0);
    CHECK(put(EDU "bind", EDU_NODE) == EBUSY);
    again = open("/dev/edu", O_RDWR);
    CHECK(again >= 0 && works(again));
    CHECK(!works(fd) && errno == ENODEV); /* it was opened on the earlier binding */
    close(fd);
    CHECK(works(again));
    close(again);
}

static void a_node_of_mknod_finds_the_driver_that_is_bound_now(void)
{
    int fd;

    unlink("/tmp/edu");
    CHECK(mknod("/tmp/edu", S_IFCHR | 0600, 10 << 8 | 63) == 0);
    fd = open("/tmp/edu", O_RDWR);
    CHECK(fd >= 0 && works(fd));
    CHECK(put(EDU "unbind", EDU_NODE) == 0);
    CHECK(open("/tmp/edu", O_RDWR) < 0 && (errno == ENXIO || errno == ENODEV));
    CHECK(put(EDU "bind", EDU_NODE) == 0);
    CHECK(!works(fd));
    close(fd);
    fd = open("/tmp/edu", O_RDWR);
    CHECK(fd >= 0 && works(fd));
    close(fd);
}

static volatile int over, answered, refused, wrong;

static void *user(void *arg)
{
    while (!over) {
        int fd = open("/dev/edu", O_RDWR), ep = epoll_create1(0);
        struct epoll_event ev = {.events = EPOLLOUT};
        char page[512];

        if (fd >= 0) {
            epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
            for (int i = 0; i < 50; i++) {
                unsigned n = 6;
                int err = ioctl(fd, EDU_FACTORIAL, &n);

                if (!err && n == 720)
                    __atomic_add_fetch(&answered, 1, __ATOMIC_RELAXED);
                else if (err && errno == ENODEV)
                    break;
                else
                    __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
                if (pread(fd, page, sizeof(page), 0) < 0)
                    break;
                epoll_wait(ep, &ev, 1, 0);
            }
            __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
            if ((uintptr_t)arg & 1)
                close(fd); /* else with the epoll that watches it */
        }
        close(ep);
        if (fd >= 0 && !((uintptr_t)arg & 1))
            close(fd);
        if (fd < 0)
            usleep(100);
    }
    return NULL;
}

static void it_goes_with_io_in_flight(void)
{
    pthread_t threads[USERS];
    int fd;

    over = answered = refused = wrong = 0;
    for (uintptr_t i = 0; i < USERS; i++)
        CHECK(pthread_create(&threads[i], NULL, user, (void *)i) == 0);
    for (int i = 0; i < EXCHANGES; i++) {
        usleep(200 + i * 37 % 700);
        if (i % 3) {
            CHECK(put(EDU "unbind", EDU_NODE) == 0);
            CHECK(put(EDU "bind", EDU_NODE) == 0);
        } else {
            CHECK(put("/sys/bus/platform/devices/" EDU_NODE "/remove", "1") == 0);
            CHECK(put("/sys/bus/platform/rescan", "1") == 0);
        }
    }
    over = 1;
    for (int i = 0; i < USERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(wrong == 0 && answered > 0 && refused > 0);
    fd = open("/dev/edu", O_RDWR);
    CHECK(fd >= 0 && works(fd));
    close(fd);
}

static void a_removed_device_comes_back_with_a_rescan(void)
{
    CHECK(put("/sys/bus/platform/devices/" EDU_NODE "/remove", "1") == 0);
    CHECK(says("/sys/bus/platform/devices/" EDU_NODE "/uevent", "PRESENT=0\n"));
    CHECK(put("/sys/bus/platform/devices/" EDU_NODE "/remove", "1") == ENODEV);
    CHECK(put(EDU "bind", EDU_NODE) == ENODEV);
    CHECK(put("/sys/bus/platform/rescan", "1") == 0);
    CHECK(access("/dev/edu", F_OK) == 0);
}

static void the_console_stays(void)
{
    CHECK(put("/sys/bus/platform/drivers/uart/unbind", "serial@10000000") == EBUSY);
    CHECK(put(EDU "bind", "serial@10000000") == EBUSY);
    CHECK(put(EDU "bind", "nothing@0") == ENODEV);
}

/* The name of the device of a virtio driver, found by the DRIVER line of its uevent. */
static int virtio_device(const char *driver, char *name)
{
    char path[100], line[40];

    snprintf(line, sizeof(line), "DRIVER=%s\n", driver);
    for (unsigned slot = 0; slot < 8; slot++) {
        snprintf(name, 32, "virtio@%x", 0x10001000 + slot * 0x1000);
        snprintf(path, sizeof(path), "/sys/bus/virtio/devices/%s/uevent", name);
        if (access(path, F_OK) == 0 && says(path, line))
            return 1;
    }
    return 0;
}

static void the_entropy_device_goes_while_it_is_read(void)
{
    char name[32], bytes[4096];
    int status;

    CHECK(virtio_device("virtio_rng", name));
    for (int i = 0; i < 10; i++) {
        pid_t pid = fork();
        if (!pid) {
            int fd = open("/dev/hwrng", O_RDONLY);
            while (read(fd, bytes, sizeof(bytes)) > 0)
                ;
            _exit(errno != ENODEV && errno != EIO);
        }
        usleep(500 + i * 100);
        CHECK(put(RNG "unbind", name) == 0);
        CHECK(put(RNG "bind", name) == 0);
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
}

static void a_disk_goes_while_it_is_mounted(void)
{
    char name[32], text[5] = "";
    int fd;

    CHECK(virtio_device("virtio_blk", name));
    mkdir("/mnt", 0755);
    CHECK(mount("/dev/vda", "/mnt", "minfs", 0, NULL) == 0);
    fd = open("/mnt/kept", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, "kept", 4) == 4 && fsync(fd) == 0);
    CHECK(put(BLK "unbind", name) == 0);
    CHECK(access("/dev/vda", F_OK) < 0);
    CHECK(mount("/dev/vda", "/tmp", "minfs", 0, NULL) < 0);
    CHECK(write(fd, "lost", 4) < 0 || fsync(fd) < 0);
    close(fd);
    umount("/mnt");
    CHECK(put(BLK "bind", name) == 0);
    CHECK(mount("/dev/vda", "/mnt", "minfs", 0, NULL) == 0);
    fd = open("/mnt/kept", O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, 4) == 4 && !strcmp(text, "kept"));
    close(fd);
    CHECK(umount("/mnt") == 0);
}

#define RUN_WITH(path, test)                                                                       \
    do {                                                                                           \
        if (access(path, F_OK))                                                                    \
            printf("ok %s # skipped: the machine has no %s\n", #test, path);                       \
        else                                                                                       \
            RUN(test);                                                                             \
    } while (0)

int main(void)
{
    if (mount("sysfs", "/sys", "sysfs", 0, NULL))
        printf("not ok mount: errno %d\n", errno);
    RUN(the_console_stays);
    RUN_WITH("/dev/edu", an_open_file_of_an_unbound_device_is_enodev);
    RUN_WITH("/dev/edu", a_node_of_mknod_finds_the_driver_that_is_bound_now);
    RUN_WITH("/dev/edu", a_removed_device_comes_back_with_a_rescan);
    RUN_WITH("/dev/edu", it_goes_with_io_in_flight);
    RUN_WITH("/dev/hwrng", the_entropy_device_goes_while_it_is_read);
    RUN_WITH("/dev/vda", a_disk_goes_while_it_is_mounted);
    DONE();
}
