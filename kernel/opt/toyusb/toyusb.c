/*
 * A toy USB host controller whose devices programs plug in: an open file chooses a port, write(2)
 * gives the descriptors of the imaginary device, and plugging it in makes the hub thread enumerate
 * it later. This is the deferred work that remote coverage exists for: the hub thread brackets the
 * enumeration of a port with a section of that port's name, so a program that traces its port gets
 * the coverage that its descriptors caused.
 *
 *     netbsd  /dev/vhci0   ioctls of NetBSD's vhci(4); section = (VHCI, bus << 32 | port)
 *     linux   /dev/toyusb  write plugs at once; hub thread and completion (soft interrupt) are
 *                          sections of USB | bus, a log task of the writer's common handle
 *     both                 read(2) waits until the port is quiet and returns its status as text
 *
 * Not modelled: transfers, addresses, hubs behind hubs.
 */
#include "toyusb.h"
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "kcov.h"
#include "klib.h"
#include "proc.h"
#include "wait.h"
#include "opt/sockets/errno.h"

#define PORTS           8 /* port 0 is the root hub itself */
#define DESCRIPTORS_MAX 256
#define BUS             1 /* linux counts buses from 1 */
#define USB_HANDLE(bus) (0x01UL << 56 | (bus))
#define SUBSYSTEM_VHCI  0

#define DT_DEVICE    1
#define DT_CONFIG    2
#define DT_STRING    3
#define DT_INTERFACE 4
#define DT_ENDPOINT  5

enum port_status { EMPTY, BAD, ATTACHED };

struct port {
    u8 data[DESCRIPTORS_MAX];
    u32 length;
    bool plugged, changed; /* (lock) changed: the hub thread has not enumerated it yet */
    enum port_status status;
    u32 interfaces, endpoints;
};

struct handle {
    u32 port;
    struct task log;
};

static struct port ports[PORTS];
static struct mutex lock = MUTEX_INIT(lock, "toyusb");
static struct waitq work = WAITQ_INIT(work), quiet = WAITQ_INIT(quiet);
static bool is_vhci;
static struct task completion;
static u64 completed, logged;

/* ---- Enumeration: parsing bytes that a driver must not trust ---- */

static bool device_descriptor(const u8 *d, u32 length)
{
    if (length < 18 || d[1] != DT_DEVICE)
        return false;
    u32 usb = d[2] | (u32)d[3] << 8;
    if (usb != 0x0100 && usb != 0x0110 && usb != 0x0200)
        return false;
    switch (d[7]) { /* packet size of endpoint 0 */
    case 8:
    case 16:
    case 32:
    case 64:
        return d[17] > 0;
    default:
        return false;
    }
}

static bool endpoint_descriptor(struct port *p, const u8 *d)
{
    u32 packet = d[4] | (u32)d[5] << 8;
    if ((d[2] & 0x0f) == 0 || (d[2] & 0x70))
        return false;
    if ((d[3] & 3) == 1 ? packet > 1023 : packet > 512)
        return false;
    p->endpoints++;
    return true;
}

static bool one_descriptor(struct port *p, const u8 *d, u32 length)
{
    switch (d[1]) {
    case DT_CONFIG:
        return length >= 9;
    case DT_INTERFACE:
        p->interfaces++;
        return length >= 9 && d[4] <= 15;
    case DT_ENDPOINT:
        return length >= 7 && p->interfaces && endpoint_descriptor(p, d);
    case DT_STRING:
        return length % 2 == 0;
    default:
        return true; /* class-specific: for a class driver, which is not modelled */
    }
}

static void enumerate(struct port *p)
{
    p->interfaces = p->endpoints = 0;
    p->status = EMPTY;
    if (!p->plugged)
        return;
    p->status = BAD;
    if (!device_descriptor(p->data, p->length))
        return;
    for (u32 at = 18; at < p->length;) {
        u32 length = p->data[at];
        if (length < 2 || at + length > p->length || !one_descriptor(p, p->data + at, length))
            return;
        at += length;
    }
    p->status = ATTACHED;
}

/* ---- Deferred work ---- */

/* Not inlined: a section around it must record this function's own entry. */
static __attribute__((noinline)) void complete_transfer(void)
{
    if (++completed % 2)
        completed += 2;
}

static void giveback(void *arg)
{
    kcov_section_enter(0, USB_HANDLE(BUS));
    complete_transfer();
    kcov_section_leave();
}

static void log_plug(void *arg)
{
    struct port *p = arg;
    if (p->length > 18)
        logged += p->length;
    else
        logged++;
}

static void explore(u32 n)
{
    kcov_section_enter(is_vhci ? SUBSYSTEM_VHCI : 0, is_vhci ? n : USB_HANDLE(BUS));
    enumerate(&ports[n]);
    kcov_section_leave();
    if (!is_vhci)
        softirq_raise(&completion);
}

static bool any_changed(void)
{
    for (u32 i = 0; i < PORTS; i++)
        if (ports[i].changed)
            return true;
    return false;
}

static void hub_thread(void *arg)
{
    for (;;) {
        wait_event(&work, any_changed());
        mutex_lock(&lock);
        for (u32 i = 0; i < PORTS; i++) {
            if (!ports[i].changed)
                continue;
            explore(i);
            ports[i].changed = false;
        }
        mutex_unlock(&lock);
        wake_up(&quiet);
    }
}

/* ---- The file ---- */

static int usb_open(struct inode *inode, struct file *file)
{
    struct handle *h = kzalloc(sizeof(*h));
    if (!h)
        return -ENOMEM;
    h->port = 1;
    task_init(&h->log, log_plug, &ports[1]);
    file->priv = h;
    file->fflags |= FF_STREAM;
    return 0;
}

static void usb_release(struct file *file)
{
    struct handle *h = file->priv;
    if (!is_vhci)
        taskq_barrier(system_taskq); /* h->log must have run before h is freed */
    kfree(h);
}

static void plug(u32 n, bool in)
{
    ports[n].plugged = in;
    ports[n].changed = true;
    wake_up(&work);
}

static i64 usb_write(struct file *file, struct iter *from, i64 *pos)
{
    struct handle *h = file->priv;
    struct port *p = &ports[h->port];
    u64 wanted = from->left;

    if (wanted > DESCRIPTORS_MAX)
        return -EMSGSIZE;
    mutex_lock(&lock);
    u64 got = iter_get(from, p->data, wanted);
    p->length = (u32)got;
    if (!is_vhci && got == wanted)
        plug(h->port, wanted != 0);
    mutex_unlock(&lock);
    if (got != wanted)
        return -EFAULT;
    if (!is_vhci)
        task_add(system_taskq, &h->log);
    return (i64)got;
}

static i64 usb_read(struct file *file, struct iter *to, i64 *pos)
{
    static const char *const names[] = {"empty", "bad", "attached"};
    struct handle *h = file->priv;
    struct port *p = &ports[h->port];
    char text[64];

    long interrupted = wait_event_interruptible(&quiet, !p->changed);

    if (interrupted)
        return interrupted;
    mutex_lock(&lock);
    int n =
        ksnprintf(text, sizeof(text), "%s %u %u\n", names[p->status], p->interfaces, p->endpoints);
    mutex_unlock(&lock);
    u64 put = iter_put(to, text, (u64)n);
    return put || !to->left ? (i64)put : -EFAULT;
}

static const struct file_ops gadget_ops = {
    .open = usb_open,
    .release = usb_release,
    .read = usb_read,
    .write = usb_write,
};

void toyusb_init_gadget(void)
{
    task_init(&completion, giveback, NULL);
    if (!kthread_create("usbhub", hub_thread, NULL) || devfs_register("toyusb", &gadget_ops, 0600))
        kprintf("toyusb: no node\n");
}

/* NetBSD's <dev/usb/vhci.h>. */
struct vhci_ioc_get_info {
    u64 nports;
    u32 port;
    i32 status;
    u8 addr;
};
#define VHCI_IOC_GET_INFO   0x40185600
#define VHCI_IOC_SET_PORT   0x80045601
#define VHCI_IOC_USB_ATTACH 0x2000560a
#define VHCI_IOC_USB_DETACH 0x2000560b

static long vhci_command(struct file *file, u32 cmd, void *data)
{
    struct handle *h = file->priv;
    struct vhci_ioc_get_info *info = data;

    switch (cmd) {
    case VHCI_IOC_GET_INFO:
        info->nports = PORTS;
        info->port = h->port;
        info->status = ports[h->port].status;
        return 0;
    case VHCI_IOC_SET_PORT:
        if (*(u32 *)data == 0 || *(u32 *)data >= PORTS)
            return -EINVAL;
        h->port = *(u32 *)data;
        return 0;
    case VHCI_IOC_USB_ATTACH:
    case VHCI_IOC_USB_DETACH:
        mutex_lock(&lock);
        plug(h->port, cmd == VHCI_IOC_USB_ATTACH);
        mutex_unlock(&lock);
        return 0;
    default:
        return -EINVAL;
    }
}

static long vhci_ioctl(struct file *file, u32 cmd, u64 arg)
{
    return ioctl_bsd(file, cmd, arg, vhci_command);
}

static const struct file_ops vhci_ops = {
    .open = usb_open,
    .release = usb_release,
    .read = usb_read,
    .write = usb_write,
    .ioctl = vhci_ioctl,
};

void toyusb_init_vhci(void)
{
    is_vhci = true;
    for (u32 port = 0; port < PORTS; port++)
        kcov_remote_register(SUBSYSTEM_VHCI, port); /* bus 0: the id is the port alone */
    if (!kthread_create("usbhub", hub_thread, NULL) || devfs_register("vhci0", &vhci_ops, 0600))
        kprintf("vhci0: no node\n");
}
