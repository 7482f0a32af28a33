/*
 * The part of the stress test about remotes: attach and detach, and deferred work on behalf of
 * them. Part of stress.h.
 */
#pragma once
#include "dialect.h"
#ifdef DIALECT_NETBSD
#include <dev/usb/vhci.h>
#endif

static const unsigned char stick[] = {
    18, 1, 0x00, 0x02, 0, 0, 0, 8,    1,  2, 3, 4, 0, 1, 0, 0, 0,  1,
    9,  2, 25,   0,    1, 1, 0, 0xa0, 50, 9, 4, 0, 0, 0, 8, 6, 80, 0,
};

/* A device whose descriptors are only well-formed at the beginning; any result is fine. */
static inline void plug_stick(const char *node, int port)
{
    int fd = open(node, O_RDWR);
    char status[64];

    if (fd == -1)
        return;
#ifdef DIALECT_NETBSD
    struct vhci_ioc_set_port arg = {(unsigned int)port};
    (void)ioctl(fd, VHCI_IOC_SET_PORT, &arg);
    (void)!write(fd, stick, sizeof(stick));
    (void)ioctl(fd, VHCI_IOC_USB_ATTACH);
#else
    (void)port;
    (void)!write(fd, stick, sizeof(stick));
#endif
    (void)!read(fd, status, sizeof(status));
    close(fd);
}

/* Deferred work of this process: a device's interrupt and task. */
static inline void use_device(void)
{
    unsigned int n = 5;
    int fd = open("/dev/edu", O_RDWR);

    if (fd != -1) {
        (void)ioctl(fd, 0xc0044501u, &n); /* EDU_FACTORIAL */
        close(fd);
    }
}

/* Mailboxes get their area at the first attach, and keep it. */
static inline void make_mailboxes(void)
{
#ifdef DIALECT_NETBSD
    int fd = kcov_open();
    for (word port = 1; port <= 4; port++)
        (void)kcov_attach(fd, port);
    close(fd);
#endif
}

static inline int remote_operation(int fd, word random)
{
    int port = 1 + (int)(random >> 8 & 3);

    switch (random & 7) {
    case 0:
    case 1:
#if defined(DIALECT_NETBSD)
        return kcov_attach(fd, (word)port);
#elif defined(DIALECT_LINUX)
        return kcov_attach(fd, KCOV_SUBSYSTEM_USB | 1);
#elif defined(DIALECT_OPENBSD)
        return kcov_attach(fd, KCOV_REMOTE_COMMON);
#else
        return 0;
#endif
    case 2:
#if defined(DIALECT_NETBSD)
        return kcov_detach(fd);
#elif defined(DIALECT_LINUX)
    {
        char text[64];
        snprintf(text, sizeof(text), "0,512,0,%d", port);
        return kcov_remote(fd, text);
    }
#else
        return 0;
#endif
    case 3:
    case 4:
#if defined(DIALECT_NETBSD)
        plug_stick("/dev/vhci0", port);
#elif defined(DIALECT_LINUX)
        plug_stick("/dev/toyusb", port);
#endif
        return 0;
    default:
        use_device();
        return 0;
    }
}
