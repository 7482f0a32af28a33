/*
 * sys_fd.c: the system calls about descriptors themselves: close, dup, fcntl, ioctl.
 */
#include "open.h"
#include "abi/errno.h"
#include "abi/sched.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define F_DUPFD         0
#define F_GETFD         1
#define F_SETFD         2
#define F_GETFL         3
#define F_SETFL         4
#define F_DUPFD_CLOEXEC 1030

#define FD_CLOEXEC    1
#define SETFL_MASK    (O_APPEND | O_NONBLOCK | O_ASYNC | O_DIRECT | O_NOATIME)
#define RLIMIT_NOFILE 7

long sys_close(u64 fd)
{
    return fd_close((int)fd);
}

long sys_dup(u64 fd)
{
    struct file *f = fd_get_any((int)fd);

    return f ? fd_install(f, 0) : -EBADF;
}

static long dup_from(struct file *f, u64 min, bool cloexec)
{
    if (min >= rlimit_get(RLIMIT_NOFILE))
        return -EINVAL;
    return fd_install_from(file_get(f), (int)min, cloexec);
}

static long set_status_flags(struct file *f, u32 flags)
{
    f->oflags = (f->oflags & ~SETFL_MASK) | (flags & SETFL_MASK);
    return 0;
}

static long fcntl_file(struct file *f, int fd, int cmd, u64 arg)
{
    switch (cmd) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return dup_from(f, arg, cmd == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return fd_get_cloexec(fd);
    case F_SETFD:
        return fd_set_cloexec(fd, arg & FD_CLOEXEC);
    case F_GETFL:
        return f->oflags | O_LARGEFILE;
    }
    if (f->fflags & FF_PATH)
        return -EBADF;
    return cmd == F_SETFL ? set_status_flags(f, arg) : fcntl_more(f, cmd, arg);
}

long sys_fcntl(u64 fd, u64 cmd, u64 arg)
{
    struct file *f = fd_get_any((int)fd);
    long result;

    if (!f)
        return -EBADF;
    result = fcntl_file(f, (int)fd, (int)cmd, arg);
    file_put(f);
    return result;
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
