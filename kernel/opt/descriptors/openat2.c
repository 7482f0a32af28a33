/* openat2.c: openat2(2): refuses unknown flags, and restricts where the path may lead. */
#include "abi/errno.h"
#include "abi/fcntl.h"
#include "opt/paths/namei.h"
#include "opt/paths/paths.h"
#include "syscall.h"
#include "vm.h"
#include "opt/exec/copyin_struct.h"

#define OPEN_FLAGS_KNOWN                                                                           \
    (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_DSYNC |         \
     O_ASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC |         \
     O_PATH | O_TMPFILE | 04000000 /* O_SYNC */)

long sys_openat2(u64 dirfd, u64 path, u64 how_addr, u64 size)
{
    bool creates;
    struct open_how how;
    long err = size < sizeof(how) ? -EINVAL : copyin_struct(&how, sizeof(how), how_addr, size);

    if (err)
        return err;
    creates = how.flags & O_CREAT || (how.flags & O_TMPFILE) == O_TMPFILE;
    if (how.flags & ~(u64)OPEN_FLAGS_KNOWN || how.resolve & ~(u64)RESOLVE_ALL ||
        how.mode & ~07777UL || (how.mode && !creates) ||
        (how.resolve & RESOLVE_BENEATH && how.resolve & RESOLVE_IN_ROOT) ||
        (how.flags & O_PATH &&
         how.flags & ~(u64)(O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_LARGEFILE)))
        return -EINVAL;
    return open_at(dirfd, path, &how);
}
