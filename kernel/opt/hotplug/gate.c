/*
 * gate.c: device nodes that survive the removal of their device. Each operation of an open file
 * passes a gate that enters the binding of the file's open(2): a removal waits for operations
 * inside, and later ones get -ENODEV.
 *
 * A node is never freed, because inodes and open files point to its operations: there is one per
 * pair of name and driver. A new binding reuses it; older files keep the binding of their open(2).
 */
#include "abi/errno.h"
#include "alloc.h"
#include "opt/hotplug/model.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "opt/hotplug/hotplug.h"
#include "poll.h"
#include "vm.h"

struct node {
    struct node *next;
    struct file_ops gate;
    const struct file_ops *ops;
    char name[32];
    struct binding *binding; /* (node_lock) 0: no device at the moment */
    void *priv;              /* (node_lock) */
};

static struct node *nodes; /* (driver_lock) */
static struct spinlock node_lock = SPINLOCK_INIT("node");

static const struct file_ops *ops_of(const struct file *file)
{
    return container_of(file->ops, struct node, gate)->ops;
}

/* The result of a call, or `gone` when the device has been removed. */
#define GATED(file, gone, call)                                                                    \
    ({                                                                                             \
        struct binding *b_ = (file)->binding;                                                      \
        const struct file_ops *ops = ops_of(file);                                                 \
        __typeof__(call) result_ = (gone);                                                         \
        if (binding_enter(b_)) {                                                                   \
            result_ = (call);                                                                      \
            binding_leave(b_);                                                                     \
        }                                                                                          \
        result_;                                                                                   \
    })

static int gate_open(struct inode *inode, struct file *file)
{
    struct node *n = container_of(file->ops, struct node, gate);
    int err = -ENODEV;

    spin_lock(&node_lock);
    file->binding = n->binding ? binding_get(n->binding) : NULL;
    file->priv = n->priv;
    spin_unlock(&node_lock);
    if (file->binding)
        err = GATED(file, -ENODEV, ops->open ? ops->open(inode, file) : 0);
    if (err) {
        binding_put(file->binding);
        file->binding = NULL;
    }
    return err;
}

/* Not gated: it must free the data of open even when the device has been removed. */
static void gate_release(struct file *file)
{
    if (ops_of(file)->release)
        ops_of(file)->release(file);
    binding_put(file->binding);
}

static int gate_flush(struct file *file)
{
    return GATED(file, 0, ops->flush(file));
}

static i64 gate_read(struct file *file, struct iter *to, i64 *pos)
{
    return GATED(file, -ENODEV, ops->read(file, to, pos));
}

static i64 gate_write(struct file *file, struct iter *from, i64 *pos)
{
    return GATED(file, -ENODEV, ops->write(file, from, pos));
}

static long gate_ioctl(struct file *file, u32 cmd, u64 arg)
{
    return GATED(file, -ENODEV, ops->ioctl(file, cmd, arg));
}

static int gate_mmap(struct file *file, struct vma *vma)
{
    int err = GATED(file, -ENODEV, ops->mmap(file, vma));

    KASSERT(err || !vma->ops || vma->flags & VMA_DEVICE); /* see dev_node */
    return err;
}

static u32 gate_poll(struct file *file, struct poll_table *pt)
{
    return GATED(file, POLLERR | POLLHUP, ops->poll(file, pt));
}

static i64 gate_available(struct file *file)
{
    return GATED(file, 0, ops->available(file));
}

static i64 gate_lseek(struct file *file, i64 offset, int whence)
{
    return GATED(file, -ENODEV, ops->lseek(file, offset, whence));
}

static int gate_fsync(struct file *file)
{
    return GATED(file, -ENODEV, ops->fsync(file));
}

/* For drivers without poll: their pollers, too, must learn that the device is gone. */
static u32 gate_always_ready(struct file *file, struct poll_table *pt)
{
    bool gone = atomic_load(&file->binding->dead);

    return gone ? POLLERR | POLLHUP : POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
}

static struct file_ops gate_of(const struct file_ops *ops)
{
    return (struct file_ops){
        .open = gate_open,
        .release = gate_release,
        .flush = ops->flush ? gate_flush : NULL,
        .read = ops->read ? gate_read : NULL,
        .write = ops->write ? gate_write : NULL,
        .ioctl = ops->ioctl ? gate_ioctl : NULL,
        .mmap = ops->mmap ? gate_mmap : NULL,
        .poll = ops->poll ? gate_poll : gate_always_ready,
        .available = ops->available ? gate_available : NULL,
        .lseek = ops->lseek ? gate_lseek : NULL,
        .fsync = ops->fsync ? gate_fsync : NULL,
    };
}

static struct node *node_for(const char *name, const struct file_ops *ops)
{
    struct node *n;

    for (n = nodes; n; n = n->next)
        if (n->ops == ops && !strcmp(n->name, name))
            return n;
    n = strlen(name) < sizeof(n->name) ? kzalloc(sizeof(*n)) : NULL;
    if (!n)
        return NULL;
    n->gate = gate_of(ops);
    n->ops = ops;
    strlcpy(n->name, name, sizeof(n->name));
    n->next = nodes;
    nodes = n;
    return n;
}

static void set_binding(struct node *n, struct binding *b, void *priv)
{
    spin_lock(&node_lock);
    n->binding = b;
    n->priv = priv;
    spin_unlock(&node_lock);
}

int node_gate_open(struct device *dev, const char *name, const struct file_ops **ops, void *priv)
{
    struct node *n = node_for(name, *ops);

    if (!n)
        return -ENOMEM;
    if (n->binding)
        return -EEXIST;
    set_binding(n, dev->binding, priv);
    *ops = &n->gate;
    return 0;
}

void node_gate_close(const struct file_ops *gate)
{
    set_binding(container_of(gate, struct node, gate), NULL, NULL);
}
