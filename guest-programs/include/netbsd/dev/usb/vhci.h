/* NetBSD's <dev/usb/vhci.h>: the virtual USB host controller that kcov's mailboxes belong to. */
#ifndef _DEV_USB_VHCI_H_
#define _DEV_USB_VHCI_H_

#include <sys/types.h>
#include <sys/ioccom.h>

struct vhci_ioc_get_info {
    size_t nports;
    u_int port;
    int status;
    u_int8_t addr;
};

struct vhci_ioc_set_port {
    u_int port;
};

#define VHCI_IOC_GET_INFO   _IOR('V', 0, struct vhci_ioc_get_info)
#define VHCI_IOC_SET_PORT   _IOW('V', 1, struct vhci_ioc_set_port)
#define VHCI_IOC_USB_ATTACH _IO('V', 10)
#define VHCI_IOC_USB_DETACH _IO('V', 11)

#endif
