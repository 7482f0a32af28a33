/*
 * Identity: process and thread numbers, process groups, sessions, users and groups. Users exist as
 * numbers with Linux's rules; user 0 may do everything.
 */
#include "klib.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

long sys_getpid(void)
{
    return curproc->pid;
}

long sys_gettid(void)
{
    return current->tid;
}

long sys_getppid(void)
{
    spin_lock(&proc_lock);
    long pid = curproc->parent ? curproc->parent->pid : 0;
    spin_unlock(&proc_lock);
    return pid;
}

long sys_set_tid_address(u64 addr)
{
    current->clear_tid = addr;
    return current->tid;
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
