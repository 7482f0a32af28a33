/*
 * For the first process of a Linux that is not kcovbox's own kernel: mounts what programs expect,
 * and reaches the board's finisher through /dev/mem, so the kernel needs CONFIG_DEVMEM.
 */
#ifndef OTHER_LINUX_H
#define OTHER_LINUX_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

#define FINISHER      ((volatile uint32_t *)0x10700000UL)
#define FINISHER_PA   0x100000UL
#define FINISHER_MARK 0x4d4bU
#define FINISHER_PASS 0x5555U
#define FINISHER_FAIL 0x3333U
#define LEVEL_WARNING 5 /* the console gets warnings and all that is worse */
#define ACTION_LEVEL  8 /* syslog(2): set the level of the console */

static void mount_at(const char *type, const char *where)
{
    mkdir(where, 0755);
    if (mount(type, where, type, 0, NULL)) {
        printf("fuzz agent: %s: %m\n", where);
        fflush(stdout);
    }
}

static void open_console(void)
{
    int console = open("/dev/console", O_RDWR);
    for (int fd = 0; fd < 3 && console >= 0; fd++)
        if (console != fd)
            dup2(console, fd);
    if (console > 2)
        close(console);
}

static void prepare_system(void)
{
    mount_at("devtmpfs", "/dev");
    open_console();
    mount_at("proc", "/proc");
    mount_at("sysfs", "/sys");
    mount_at("debugfs", "/sys/kernel/debug");
    mount_at("tmpfs", "/tmp");
    klogctl(ACTION_LEVEL, NULL, LEVEL_WARNING);
}

static void open_marker(void)
{
    int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
    void *p = fd < 0 ? MAP_FAILED
                     : mmap((void *)FINISHER, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                            fd, FINISHER_PA);
    if (p == MAP_FAILED) {
        printf("fuzz agent: /dev/mem: %m; the kernel needs CONFIG_DEVMEM\n");
        fflush(stdout);
        reboot(RB_POWER_OFF);
    }
    close(fd);
}

static inline void mark_finisher(uint32_t number)
{
    *FINISHER = FINISHER_MARK | number << 16;
}

/* The first process of Linux must not exit. */
static void end_system(int status)
{
    *FINISHER = status ? FINISHER_FAIL | (uint32_t)status << 16 : FINISHER_PASS;
    for (;;)
        pause();
}

#endif
