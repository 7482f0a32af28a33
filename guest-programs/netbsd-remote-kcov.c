/*
 * Remote coverage on NetBSD: what the USB hub thread does when a device appears on one port.
 *
 *     kcovbox run --dialect netbsd guest-programs/netbsd-remote-kcov.c [-- PORT]
 *
 * A mailbox belongs to a bus and a port of the virtual host controller. Attaching a descriptor to
 * it makes enable, disable and mmap act on the mailbox; then each thread that works for that port
 * is recorded, and this one is not. /dev/vhci0 plays the device, with the descriptors that we
 * write.
 */
#include <sys/ioccom.h>
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>

#include <dev/usb/vhci.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAILBOX_BYTES (2 << 20) /* the same for every mailbox */

static const unsigned char keyboard[] = {
    18, 1, 0x00, 0x02, 0, 0, 0,  8,    1,  2, 3, 4, 0, 1, 0, 0, 0, 1, /* device */
    9,  2, 34,   0,    1, 1, 0,  0xa0, 50,                            /* configuration */
    9,  4, 0,    0,    1, 3, 1,  1,    0,                             /* interface: HID */
    7,  5, 0x81, 3,    8, 0, 10,                                      /* endpoint: interrupt, in */
};

int main(int argc, char *argv[])
{
    struct vhci_ioc_set_port port = {argc > 1 ? (u_int)atoi(argv[1]) : 1};
    struct kcov_ioc_remote_attach remote = {
        .subsystem = KCOV_REMOTE_VHCI,
        .id = KCOV_REMOTE_VHCI_ID(0, port.port),
    };
    int mode = KCOV_MODE_TRACE_PC, fd, bus;
    char status[64] = "";
    kcov_int_t *area;

    if ((fd = open("/dev/kcov", O_RDWR)) == -1)
        err(1, "open /dev/kcov");
    if (ioctl(fd, KCOV_IOC_REMOTE_ATTACH, &remote) == -1)
        err(1, "KCOV_IOC_REMOTE_ATTACH");
    area = mmap(NULL, MAILBOX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED)
        err(1, "mmap");
    if (ioctl(fd, KCOV_IOC_ENABLE, &mode) == -1)
        err(1, "KCOV_IOC_ENABLE");

    if ((bus = open("/dev/vhci0", O_RDWR)) == -1)
        err(1, "open /dev/vhci0");
    if (ioctl(bus, VHCI_IOC_SET_PORT, &port) == -1)
        err(1, "VHCI_IOC_SET_PORT");
    if (write(bus, keyboard, sizeof(keyboard)) != sizeof(keyboard))
        err(1, "write");
    if (ioctl(bus, VHCI_IOC_USB_ATTACH) == -1)
        err(1, "VHCI_IOC_USB_ATTACH");
    if (read(bus, status, sizeof(status) - 1) == -1) /* waits for the hub thread */
        err(1, "read");

    if (ioctl(fd, KCOV_IOC_DISABLE) == -1)
        err(1, "KCOV_IOC_DISABLE");
    fprintf(stderr, "port %u: %s", port.port, status);
    for (uint64_t i = 0; i < area[0]; i++)
        printf("%p\n", (void *)area[1 + i]);
    return area[0] ? 0 : 1;
}
