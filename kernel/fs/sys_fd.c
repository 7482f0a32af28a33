/*
 * sys_fd.c: the system calls about descriptors themselves: close, dup, ioctl.
 */
#include "open.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

long sys_close(u64 fd)
{
    return fd_close((int)fd);
}

long sys_dup(u64 fd)
{
    struct file *f = fd_get_any((int)fd);

    return f ? fd_install(f, 0) : -EBADF;
}

long sys_ioctl(u64 fd, u64 cmd, u64 arg)
{
    struct file *f = fd_get((int)fd);
    long result;

    if (!f)
        return -EBADF;
    result = ioctl_generic(f, (int)fd, (u32)cmd, arg);
    if (result == -ENOTTY && f->ops->ioctl)
        result = f->ops->ioctl(f, (u32)cmd, arg);
    file_put(f);
    return result;
}

#define IOCTL_MAX_SIZE 4096

struct ioctl_shape {
    bool in, out;
    u32 size;
};

/*
 * Copies in, calls the driver with the kernel copy, copies out. Size 0: the driver gets a pointer
 * to the argument itself.
 */
static long ioctl_copied(struct file *file, u32 cmd, u64 arg, ioctl_data_fn drv,
                         struct ioctl_shape shape)
{
    u64 small[8];
    void *data = small;
    long err = 0;

    if (!shape.size)
        return drv(file, cmd, &arg);
    if (shape.size > IOCTL_MAX_SIZE)
        return -ENOTTY;
    if (shape.size > sizeof(small))
        data = kmalloc(shape.size);
    if (!data)
        return -ENOMEM;
    memset(data, 0, shape.size);
    if (shape.in)
        err = copyin(data, arg, shape.size);
    if (!err)
        err = drv(file, cmd, data);
    if (!err && shape.out && copyout(arg, data, shape.size))
        err = -EFAULT;
    if (data != small)
        kfree(data);
    return err;
}

long ioctl_bsd(struct file *file, u32 cmd, u64 arg, ioctl_data_fn drv)
{
    struct ioctl_shape shape = {
        .in = cmd & BSD_IOC_IN,
        .out = cmd & BSD_IOC_OUT,
        .size = cmd >> 16 & 0x1fff,
    };
    int value = (int)arg;

    if (shape.in || shape.out)
        return ioctl_copied(file, cmd, arg, drv, shape);
    if (shape.size == sizeof(value))
        return drv(file, cmd, &value);
    return drv(file, cmd, &arg);
}

long ioctl_linux_encoded(struct file *file, u32 cmd, u64 arg, ioctl_data_fn drv)
{
    struct ioctl_shape shape = {
        .in = cmd & 0x40000000,
        .out = cmd & 0x80000000,
        .size = cmd >> 16 & 0x3fff,
    };

    return ioctl_copied(file, cmd, arg, drv, shape);
}
