/*
 * xattr.c: extended attributes. No file system here stores any, and the calls answer as a Linux
 * file system without them does: what is to be looked at must exist, then reading, setting and
 * removing is EOPNOTSUPP, and the list is empty.
 */
#include "abi/errno.h"
#include "file.h"
#include "fs.h"
#include "open.h"
#include "syscall.h"
#include "vm.h"

#define XATTR_NAME_MAX 255
#define XATTR_SIZE_MAX 65536

/* The checks that Linux makes before it asks the file system. */
static long check_name(u64 name_addr)
{
    char name[XATTR_NAME_MAX + 1];
    long n = copyinstr(name, name_addr, sizeof name);

    return n == -ENAMETOOLONG || n == 0 ? -ERANGE : n < 0 ? n : 0;
}

static long check_set(u64 name, u64 size, u64 flags)
{
    if (flags & ~3UL)
        return -EINVAL;
    return size > XATTR_SIZE_MAX ? -E2BIG : check_name(name);
}

/* 0 when the path leads somewhere. */
static long exists(u64 path, u32 how)
{
    struct path at;
    long err = at_walk(AT_FDCWD, path, 0, how, &at);

    if (!err)
        path_put(&at);
    return err;
}

static long is_open(u64 fd)
{
    struct file *f = fd_get((int)fd);
    long err = f ? 0 : -EBADF;

    file_put(f);
    return err;
}

static long first_of(long a, long b)
{
    return a ? a : b ? b : -EOPNOTSUPP;
}

long sys_setxattr(u64 path, u64 name, u64 value, u64 size, u64 flags)
{
    return first_of(exists(path, WALK_FOLLOW), check_set(name, size, flags));
}

long sys_lsetxattr(u64 path, u64 name, u64 value, u64 size, u64 flags)
{
    return first_of(exists(path, 0), check_set(name, size, flags));
}

long sys_fsetxattr(u64 fd, u64 name, u64 value, u64 size, u64 flags)
{
    return first_of(is_open(fd), check_set(name, size, flags));
}

long sys_getxattr(u64 path, u64 name, u64 value, u64 size)
{
    return first_of(exists(path, WALK_FOLLOW), check_name(name));
}

long sys_lgetxattr(u64 path, u64 name, u64 value, u64 size)
{
    return first_of(exists(path, 0), check_name(name));
}

long sys_fgetxattr(u64 fd, u64 name, u64 value, u64 size)
{
    return first_of(is_open(fd), check_name(name));
}

long sys_listxattr(u64 path, u64 list, u64 size)
{
    return exists(path, WALK_FOLLOW);
}

long sys_llistxattr(u64 path, u64 list, u64 size)
{
    return exists(path, 0);
}

long sys_flistxattr(u64 fd, u64 list, u64 size)
{
    return is_open(fd);
}

long sys_removexattr(u64 path, u64 name)
{
    return first_of(exists(path, WALK_FOLLOW), check_name(name));
}

long sys_lremovexattr(u64 path, u64 name)
{
    return first_of(exists(path, 0), check_name(name));
}

long sys_fremovexattr(u64 fd, u64 name)
{
    return first_of(is_open(fd), check_name(name));
}
