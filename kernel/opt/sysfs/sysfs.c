/*
 * sysfs.c: devices and drivers as files, at Linux's paths. The first mount builds the tree, later
 * mounts add devices that have appeared since. Building it at boot would cost every run time.
 *
 *     /sys/bus/BUS/rescan                       write: look for devices again
 *     /sys/bus/BUS/drivers/DRIVER/bind          write the name of a device
 *     /sys/bus/BUS/drivers/DRIVER/unbind        the same; -EBUSY for the console
 *     /sys/bus/BUS/devices/DEVICE/uevent        read: DRIVER=, OF_NAME=, PRESENT=
 *     /sys/bus/BUS/devices/DEVICE/remove        write: the device is taken away, until a rescan
 *     /sys/kernel/debug                         for debugfs
 */
#include "abi/errno.h"
#include "opt/hotplug/model.h"
#include "fdt.h"
#include "fs.h"
#include "boot.h"
#include "klib.h"
#include "opt/mounts/mounts.h"
#include "fs/tmpfs.h"
#include "opt/hotplug/hotplug.h"
#include "opt/sysfs/bind.h"
#include "opt/virtio/virtio.h"

#define SYSFS_MAGIC 0x62656572
#define ROOT_ONLY   0200

static struct mutex tree_lock = MUTEX_INIT(tree_lock, "sysfs"); /* held while building it */
static struct super *tree;
static const struct bus *const buses[] = {
    &tree_bus,
#ifdef CONFIG_VIRTIO
    &virtio_bus,
#endif
};

/* The text of a write without its newline; false if it is too long or user memory faults. */
static bool take_word(struct iter *from, char *word, u64 size)
{
    u64 n = from->left;

    if (n >= size || iter_get(from, word, n) < n)
        return false;
    if (n && word[n - 1] == '\n')
        n--;
    word[n] = 0;
    return true;
}

static int sys_open(struct inode *inode, struct file *file)
{
    file->priv = inode->dev_priv;
    return 0;
}

static i64 change_binding(struct file *file, struct iter *from, bool binds)
{
    const struct driver_row *row = file->priv;
    char name[sizeof(((struct device *)0)->name)];
    i64 n = (i64)from->left;
    int err;

    if (!take_word(from, name, sizeof(name)))
        return -EINVAL;
    err = binds ? device_bind(bus_of(row->driver), row->name, name)
                : device_unbind(bus_of(row->driver), row->name, name);
    return err ? err : n;
}

static i64 bind_write(struct file *file, struct iter *from, i64 *pos)
{
    return change_binding(file, from, true);
}

static i64 unbind_write(struct file *file, struct iter *from, i64 *pos)
{
    return change_binding(file, from, false);
}

static i64 remove_write(struct file *file, struct iter *from, i64 *pos)
{
    struct device *dev = file->priv;
    int err = -ENODEV;

    mutex_lock(&driver_lock);
    if (dev->present)
        err = device_del(dev, false);
    mutex_unlock(&driver_lock);
    return err ? err : (i64)from->left;
}

static i64 rescan_write(struct file *file, struct iter *from, i64 *pos)
{
    const struct bus *bus = file->priv;

    mutex_lock(&driver_lock);
    if (bus->rescan)
        bus->rescan();
    devices_retry();
    mutex_unlock(&driver_lock);
    return (i64)from->left;
}

static i64 uevent_read(struct file *file, struct iter *to, i64 *pos)
{
    struct device *dev = file->priv;
    char text[160];
    u64 n, moved;

    mutex_lock(&driver_lock);
    n = (u64)ksnprintf(text, sizeof(text), "DRIVER=%s\nOF_NAME=%s\nPRESENT=%d\nDEFERRED=%d\n",
                       dev->driver ? dev->driver->name : "", fdt_node_name(dev->fdt_node),
                       dev->present, dev->deferred);
    mutex_unlock(&driver_lock);
    if ((u64)*pos >= n)
        return 0;
    moved = iter_put(to, text + *pos, MIN(n - (u64)*pos, to->left));
    *pos += (i64)moved;
    return moved || !to->left ? (i64)moved : -EFAULT;
}

static const struct file_ops bind_ops = {.open = sys_open, .write = bind_write};
static const struct file_ops unbind_ops = {.open = sys_open, .write = unbind_write};
static const struct file_ops remove_ops = {.open = sys_open, .write = remove_write};
static const struct file_ops rescan_ops = {.open = sys_open, .write = rescan_write};
static const struct file_ops uevent_ops = {.open = sys_open, .read = uevent_read};

/* The entry of this name, created if it is missing; it lives as long as the tree. (fs_lock) */
static struct inode *entry(struct inode *dir, const char *name, u32 mode)
{
    struct inode *inode = NULL;

    if (!dir ||
        (dir->ops->lookup(dir, name, &inode) && dir->ops->create(dir, name, mode, 0, &inode)))
        return NULL;
    inode_put(inode); /* the directory keeps it */
    return inode;
}

static struct inode *folder(struct inode *dir, const char *name)
{
    return entry(dir, name, S_IFDIR | 0755);
}

static void file_in(struct inode *dir, const char *name, u32 mode, const struct file_ops *ops,
                    const void *priv)
{
    struct inode *inode = entry(dir, name, S_IFREG | mode);

    if (!inode)
        return;
    inode->fops = ops;
    inode->dev_priv = (void *)priv;
}

static void build_bus(const struct bus *bus)
{
    struct inode *dir = folder(folder(tree->root, "bus"), bus->name);
    struct inode *drivers = folder(dir, "drivers"), *devices = folder(dir, "devices");

    file_in(dir, "rescan", ROOT_ONLY, &rescan_ops, bus);
    for (const struct driver_row *row = __drivers_start; row < __drivers_end; row++) {
        struct inode *driver = bus_of(row->driver) == bus ? folder(drivers, row->name) : NULL;

        file_in(driver, "bind", ROOT_ONLY, &bind_ops, row);
        file_in(driver, "unbind", ROOT_ONLY, &unbind_ops, row);
    }
    for (const struct device *dev = device_list(); dev; dev = dev->next) {
        struct inode *device = dev->bus == bus ? folder(devices, dev->name) : NULL;

        file_in(device, "uevent", 0444, &uevent_ops, dev);
        file_in(device, "remove", ROOT_ONLY, &remove_ops, dev);
    }
}

static int mount(const struct fs_type *type, const char *source, u32 flags, const char *data,
                 struct super **out)
{
    mutex_lock(&tree_lock);
    if (!tree)
        tree = tmpfs_super(SYSFS_MAGIC, 0555);
    if (tree) {
        mutex_lock(&fs_lock);
        for (u32 i = 0; i < ARRAY_LEN(buses); i++)
            build_bus(buses[i]);
        folder(folder(tree->root, "kernel"), "debug");
        mutex_unlock(&fs_lock);
        atomic_add(&tree->refs, 1);
    }
    *out = tree;
    mutex_unlock(&tree_lock);
    return tree ? 0 : -ENOMEM;
}

static struct fs_type sysfs_type = {.name = "sysfs", .nodev = true, .mount = mount};

static void sysfs_init(void)
{
    fs_register(&sysfs_type);
}
INITCALL(sysfs_init);
