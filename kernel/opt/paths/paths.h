/* paths.h: opening files, and the arguments of all ...at calls. */
#pragma once

#include "fs/open.h"
#include "abi/fcntl.h"

int vfs_open_at(const struct path *base, const char *name, u32 flags, u32 mode, struct file **out);
/* The same with the RESOLVE_* of namei.h. */
int vfs_open_how(const struct path *base, const char *name, u32 flags, u32 mode, u32 resolve,
                 struct file **out);

/*
 * The first two arguments of every ...at call. On success name is a kernel copy of the path (kfree)
 * and base the place of dirfd, empty for AT_FDCWD and absolute paths.
 */
struct at_args {
    char *name;
    struct path base;
};
int at_begin(struct at_args *a, int dirfd, u64 user_path);
int at_take_base(struct at_args *a, int dirfd); /* also for an absolute path */
void at_end(struct at_args *a);
static inline const struct path *at_base(const struct at_args *a)
{
    return a->base.inode ? &a->base : NULL;
}

int copy_path(u64 user_path, char **out); /* kfree */

/* As file_open_path, with O_PATH. */
int file_open_place(const struct path *at, u32 oflags, const char *shown, struct file **out);

/* opt/fileio */
OPTIONAL(CONFIG_FILEIO, int, make_tmpfile, (struct path *at, u32 mode), -EOPNOTSUPP)

struct open_how { /* ABI; grows */
    u64 flags, mode, resolve;
};
long open_at(u64 dirfd, u64 path, const struct open_how *how);
