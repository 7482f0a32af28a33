/* ioctl.c: ioctls that mean the same for every file. */
#include "opt/fcntl/cloexec.h"
#include "abi/errno.h"
#include "fs.h"
#include "fs/open.h"
#include "vm.h"

#define FIONREAD 0x541b
#define FIONBIO  0x5421
#define FIOASYNC 0x5452
#define FIOCLEX  0x5451
#define FIONCLEX 0x5450
#define FIOQSIZE 0x5460

long ioctl_generic(struct file *f, int fd, u32 cmd, u64 arg)
{
    int value;

    switch (cmd) {
    case FIOCLEX:
    case FIONCLEX:
        return fd_set_cloexec(fd, cmd == FIOCLEX);
    case FIONBIO:
        if (get_user(value, arg))
            return -EFAULT;
        f->oflags = value ? f->oflags | O_NONBLOCK : f->oflags & ~O_NONBLOCK;
        return 0;
    case FIOASYNC:
        return get_user(value, arg) ? -EFAULT : 0;
    case FIONREAD:
        if (!S_ISREG(f->inode->mode))
            return -ENOTTY;
        value = MIN(f->inode->size - f->pos, 0x7fffffff);
        return put_user(arg, value);
    case FIOQSIZE:
        return S_ISREG(f->inode->mode) || S_ISDIR(f->inode->mode) ? put_user(arg, f->inode->size)
                                                                  : -ENOTTY;
    default:
        return -ENOTTY;
    }
}
