/*
 * Triggers of a Linux kernel's work on behalf of a handle. The toy kernel has /dev/toyusb, whose
 * hub thread and completion belong to USB bus 1 and whose task carries the caller's common handle.
 * A real one has a virtual host controller (dummy_hcd) that a raw gadget plugs into, and vhost,
 * whose worker takes the common handle of the thread that becomes its owner.
 */
#pragma once
#include "dialect.h"
#include <linux/usb/ch9.h>
#include <linux/vhost.h>

#define REMOTE_WORDS (256UL << 10)

/* <linux/usb/raw_gadget.h>, which older header packages do not have. */
struct raw_init {
    uint8_t driver_name[128];
    uint8_t device_name[128];
    uint8_t speed;
};
#define RAW_INIT _IOW('U', 0, struct raw_init)
#define RAW_RUN  _IO('U', 1)

static const unsigned char mouse[] = {
    18, 1, 0x00, 0x02, 0,  0, 0, 8, 1, 2, 3, 4, 0, 1, 0, 0, 0,    1, 9, 2, 34, 0,
    1,  1, 0,    0xa0, 50, 9, 4, 0, 0, 1, 3, 1, 2, 0, 7, 5, 0x81, 3, 8, 0, 10,
};

/* False: there is no such device. */
static inline bool plug_toy(bool whole)
{
    char status[64] = "";
    int fd = open("/dev/toyusb", O_RDWR);

    if (fd == -1)
        return false;
    size_t length = whole ? sizeof(mouse) : 3;
    if (write(fd, mouse, length) != (ssize_t)length || read(fd, status, sizeof(status) - 1) <= 0)
        _exit(3);
    close(fd); /* waits for the log task */
    return true;
}

/* The hub enumerates a device that never answers, and later its removal. */
static inline void plug_real(void)
{
    struct raw_init init = {
        .driver_name = "dummy_udc", .device_name = "dummy_udc.0", .speed = USB_SPEED_HIGH};
    int fd = open("/dev/raw-gadget", O_RDWR);

    if (fd == -1 || ioctl(fd, RAW_INIT, &init) == -1 || ioctl(fd, RAW_RUN, 0) == -1) {
        perror("raw-gadget");
        _exit(3);
    }
    usleep(300000);
    close(fd);
    usleep(300000);
}

static inline void usb_traffic(bool whole)
{
    if (!plug_toy(whole))
        plug_real();
}

static inline void common_work(void)
{
    if (plug_toy(true))
        return;
    int fd = open("/dev/vhost-net", O_RDWR);
    if (fd == -1 || ioctl(fd, VHOST_SET_OWNER) == -1) {
        perror("vhost-net");
        _exit(3);
    }
    close(fd); /* waits for the worker */
}
