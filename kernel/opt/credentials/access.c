/* access.c: what users and groups may do. */
#include "abi/errno.h"
#include "opt/credentials/access.h"
#include "abi/fcntl.h"
#include "fs/open.h"
#include "proc.h"
#include "opt/signals/signals.h"

bool in_group(u32 gid)
{
    struct proc *p = curproc;

    if (p->egid == gid)
        return true;
    for (u32 i = 0; i < p->ngroups; i++)
        if (p->groups[i] == gid)
            return true;
    return false;
}

/* want: 4 read, 2 write, 1 execute or search. The superuser needs a permission to execute only. */
int access_as(const struct inode *inode, u32 want, u32 uid, bool group)
{
    u32 mode = inode->mode;

    if (uid == 0)
        return want & 1 && !S_ISDIR(mode) && !(mode & 0111) ? -EACCES : 0;
    if (uid == inode->uid)
        mode >>= 6;
    else if (group)
        mode >>= 3;
    return want & ~mode & 7 ? -EACCES : 0;
}

int inode_access(const struct inode *inode, u32 want)
{
    return access_as(inode, want, curproc->euid, in_group(inode->gid));
}

/* A directory with S_ISGID passes its group on, and to directories the bit as well. */
void inode_own(struct inode *inode, const struct inode *dir)
{
    bool inherits = dir->mode & S_ISGID;

    inode->uid = curproc->euid;
    inode->gid = inherits ? dir->gid : curproc->egid;
    if (inherits && S_ISDIR(inode->mode))
        inode->mode |= S_ISGID;
}

bool signal_allowed(const struct proc *p)
{
    const struct proc *me = curproc;
    return me->euid == 0 || me->euid == p->uid || me->euid == p->suid || me->uid == p->uid ||
           me->uid == p->suid;
}
