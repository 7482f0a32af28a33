/* stat_at.c: the place that the calls about attributes mean. */
#include "abi/errno.h"
#include "opt/attributes/stat_at.h"
#include "vm.h"

/* True for an open file without a status (NetBSD's kcov), named by dirfd and "". */
static bool has_no_stat(u64 dirfd, u64 path, u64 flags)
{
    char first = 0;

    if (!(flags & AT_EMPTY_PATH) || (path && (get_user(first, path) || first)))
        return false;
    struct file *f = fd_get_any((int)dirfd);
    bool refuses = f && f->fflags & FF_NO_STAT;
    if (f)
        file_put(f);
    return refuses;
}

/*
 * With AT_EMPTY_PATH, dirfd and "" mean the file itself, also a pipe or socket, which has no mount.
 */
long walk_for_stat(u64 dirfd, u64 path, u64 flags, struct path *at)
{
    if (flags & ~(u64)(STAT_FLAGS))
        return -EINVAL;
    if (has_no_stat(dirfd, path, flags))
        return -EOPNOTSUPP;
    if (flags & AT_EMPTY_PATH && !path) { /* newer C libraries pass NULL */
        struct file *f = fd_get_any((int)dirfd);

        if (!f)
            return -EBADF;
        *at = (struct path){f->mnt, f->inode};
        path_get(at);
        file_put(f);
        return 0;
    }
    return at_walk((int)dirfd, path, (u32)flags, flags & AT_SYMLINK_NOFOLLOW ? 0 : WALK_FOLLOW, at);
}
