/* fcntl.c: the commands of fcntl(2) that are not about descriptors and status flags. */
#include "abi/errno.h"
#include "fs/open.h"
#include "fs/pipe.h"
#include "opt/filelock/filelock.h"
#include "opt/memfd/memfd.h"

#define F_GETLK      5
#define F_SETLK      6
#define F_SETLKW     7
#define F_SETOWN     8
#define F_GETOWN     9
#define F_SETPIPE_SZ 1031
#define F_GETPIPE_SZ 1032
#define F_ADD_SEALS  1033
#define F_GET_SEALS  1034

long fcntl_more(struct file *f, int cmd, u64 arg)
{
    switch (cmd) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
        return filelock_fcntl(f, cmd - F_GETLK, arg);
    case F_SETOWN:
    case F_GETOWN: /* SIGIO is not delivered, so no file has an owner */
        return 0;
    case F_ADD_SEALS:
    case F_GET_SEALS:
        return memfd_fcntl(f, cmd, arg);
    case F_SETPIPE_SZ:
    case F_GETPIPE_SZ:
        return pipe_fcntl_size(f, cmd == F_SETPIPE_SZ, arg);
    default:
        return -EINVAL;
    }
}
