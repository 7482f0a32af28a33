/* Identity: process and thread numbers. */
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
