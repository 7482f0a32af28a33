/* execveat.c: execveat(2). */
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "proc.h"
#include "opt/exec/exec.h"
#include "syscall.h"
#include "vm.h"

/*
 * Copies the path in; one relative to a descriptor goes through that descriptor's link in /proc.
 */
static long exec_path(int dirfd, va_t addr, bool may_be_empty, char *path)
{
    char name[64];
    long n = copyinstr(path, addr, PATH_LEN_MAX);
    if (n < 0)
        return n;
    if (n == 0 && !may_be_empty)
        return -ENOENT;
    if (path[0] == '/' || dirfd == AT_FDCWD)
        return 0;
    struct file *file = fd_get_any(dirfd);
    if (!file)
        return -EBADF;
    file_put(file);
    size_t front = (size_t)ksnprintf(name, sizeof(name), "/proc/self/fd/%d%s", dirfd, n ? "/" : "");
    if (front + (size_t)n + 1 > PATH_LEN_MAX)
        return -ENAMETOOLONG;
    memmove(path + front, path, (size_t)n + 1);
    memcpy(path, name, front);
    return 0;
}

long sys_execveat(u64 dirfd, u64 path_addr, u64 argv, u64 envp, u64 flags)
{
    if (flags & ~(u64)AT_EMPTY_PATH)
        return -EINVAL;
    char *path = kmalloc(PATH_LEN_MAX);
    long error = path ? exec_path((int)dirfd, path_addr, flags & AT_EMPTY_PATH, path) : -ENOMEM;
    if (error == 0)
        error = exec_user(path, argv, envp);
    kfree(path);
    return error;
}
