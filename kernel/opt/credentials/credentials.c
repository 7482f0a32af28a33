/*
 * credentials.c: users and groups as numbers with the rules of Linux (credentials(7)); user 0 may
 * do everything.
 */
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define UNCHANGED ((u32) - 1)

static void copy_credentials(struct proc *child, const struct proc *parent)
{
    child->uid = parent->uid, child->euid = parent->euid, child->suid = parent->suid;
    child->gid = parent->gid, child->egid = parent->egid, child->sgid = parent->sgid;
    child->ngroups = parent->ngroups;
    memcpy(child->groups, parent->groups, sizeof(child->groups));
}

PROC_PART(credentials) = {.copy = copy_credentials};

static bool is_one_of(u32 id, u32 a, u32 b, u32 c)
{
    return id == UNCHANGED || id == a || id == b || id == c;
}

long sys_getuid(void)
{
    return curproc->uid;
}

long sys_geteuid(void)
{
    return curproc->euid;
}

long sys_getgid(void)
{
    return curproc->gid;
}

long sys_getegid(void)
{
    return curproc->egid;
}

long sys_setresuid(u64 r, u64 e, u64 s)
{
    struct proc *p = curproc;
    u32 ruid = (u32)r, euid = (u32)e, suid = (u32)s;
    if (p->euid &&
        (!is_one_of(ruid, p->uid, p->euid, p->suid) || !is_one_of(euid, p->uid, p->euid, p->suid) ||
         !is_one_of(suid, p->uid, p->euid, p->suid)))
        return -EPERM;
    p->uid = ruid == UNCHANGED ? p->uid : ruid;
    p->euid = euid == UNCHANGED ? p->euid : euid;
    p->suid = suid == UNCHANGED ? p->suid : suid;
    return 0;
}

long sys_setresgid(u64 r, u64 e, u64 s)
{
    struct proc *p = curproc;
    u32 rgid = (u32)r, egid = (u32)e, sgid = (u32)s;
    if (p->euid &&
        (!is_one_of(rgid, p->gid, p->egid, p->sgid) || !is_one_of(egid, p->gid, p->egid, p->sgid) ||
         !is_one_of(sgid, p->gid, p->egid, p->sgid)))
        return -EPERM;
    p->gid = rgid == UNCHANGED ? p->gid : rgid;
    p->egid = egid == UNCHANGED ? p->egid : egid;
    p->sgid = sgid == UNCHANGED ? p->sgid : sgid;
    return 0;
}

long sys_setuid(u64 uid)
{
    return curproc->euid ? sys_setresuid(UNCHANGED, uid, UNCHANGED) : sys_setresuid(uid, uid, uid);
}

long sys_setgid(u64 gid)
{
    return curproc->euid ? sys_setresgid(UNCHANGED, gid, UNCHANGED) : sys_setresgid(gid, gid, gid);
}

long sys_setreuid(u64 r, u64 e)
{
    bool save = (u32)r != UNCHANGED || ((u32)e != UNCHANGED && (u32)e != curproc->uid);
    return sys_setresuid(r, e, !save ? UNCHANGED : (u32)e != UNCHANGED ? e : curproc->euid);
}

long sys_setregid(u64 r, u64 e)
{
    bool save = (u32)r != UNCHANGED || ((u32)e != UNCHANGED && (u32)e != curproc->gid);
    return sys_setresgid(r, e, !save ? UNCHANGED : (u32)e != UNCHANGED ? e : curproc->egid);
}

long sys_getresuid(u64 r, u64 e, u64 s)
{
    struct proc *p = curproc;
    return put_user(r, p->uid) || put_user(e, p->euid) || put_user(s, p->suid) ? -EFAULT : 0;
}

long sys_getresgid(u64 r, u64 e, u64 s)
{
    struct proc *p = curproc;
    return put_user(r, p->gid) || put_user(e, p->egid) || put_user(s, p->sgid) ? -EFAULT : 0;
}

/* File access is checked with the effective ids; a separate id for it cannot be set. */
long sys_setfsuid(u64 uid)
{
    (void)uid;
    return curproc->euid;
}

long sys_setfsgid(u64 gid)
{
    (void)gid;
    return curproc->egid;
}

long sys_getgroups(u64 size, u64 list)
{
    u32 n = curproc->ngroups;
    if ((int)size == 0)
        return n;
    if ((int)size < (int)n)
        return -EINVAL;
    return copyout(list, curproc->groups, n * sizeof(u32)) ? -EFAULT : (long)n;
}

long sys_setgroups(u64 size, u64 list)
{
    u32 groups[ARRAY_LEN(curproc->groups)];
    if (curproc->euid)
        return -EPERM;
    if (size > ARRAY_LEN(groups))
        return -EINVAL;
    if (copyin(groups, list, size * sizeof(u32)))
        return -EFAULT;
    memcpy(curproc->groups, groups, size * sizeof(u32));
    curproc->ngroups = (u32)size;
    return 0;
}
