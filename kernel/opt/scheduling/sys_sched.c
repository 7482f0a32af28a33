/*
 * System calls about harts: yield, affinity, the current hart, memory barriers on all harts.
 */
#include "abi/errno.h"
#include "irq.h"
#include "klib.h"
#include "proc.h"
#include "riscv.h"
#include "syscall.h"
#include "vm.h"

long sys_sched_yield(void)
{
    schedule();
    return 0;
}

long sys_sched_getaffinity(u64 pid, u64 size, u64 addr)
{
    if (size < 8 || size & 7)
        return -EINVAL;
    spin_lock(&proc_lock);
    struct thread *t = pid ? thread_find((int)pid) : current;
    u64 mask = t ? t->allowed_harts & harts_online() : 0;
    spin_unlock(&proc_lock);
    if (!t)
        return -ESRCH;
    return put_user(addr, mask) ? -EFAULT : 8;
}

long sys_sched_setaffinity(u64 pid, u64 size, u64 addr)
{
    u64 mask = 0;
    if (copyin(&mask, addr, MIN(size, 8)))
        return -EFAULT;
    if (!(mask & harts_online()))
        return -EINVAL;
    spin_lock(&proc_lock);
    struct thread *t = pid ? thread_find((int)pid) : current;
    long error = !t ? -ESRCH : curproc->euid && curproc->euid != t->proc->uid ? -EPERM : 0;
    if (!error)
        sched_set_affinity(t, mask);
    spin_unlock(&proc_lock);
    return error; /* current itself moves on its way to user mode, if it must */
}

long sys_getcpu(u64 cpu_addr, u64 node_addr)
{
    irq_push_off();
    u32 cpu = this_cpu()->index, node = 0;
    irq_pop_off();
    if (cpu_addr && put_user(cpu_addr, cpu))
        return -EFAULT;
    return node_addr ? put_user(node_addr, node) : 0;
}

/* membarrier(2): commands are bits. Every command works unregistered, so registering is a no-op. */
#define MEMBARRIER_GLOBAL                     1
#define MEMBARRIER_GLOBAL_EXPEDITED           2
#define MEMBARRIER_REGISTER_GLOBAL            4
#define MEMBARRIER_PRIVATE                    8
#define MEMBARRIER_REGISTER_PRIVATE           16
#define MEMBARRIER_PRIVATE_SYNC_CORE          32
#define MEMBARRIER_REGISTER_PRIVATE_SYNC_CORE 64
#define MEMBARRIER_ALL                        127

static void barrier_here(void *sync_core)
{
    mb();
    if (sync_core)
        fence_i();
}

long sys_membarrier(u64 command, u64 flags, u64 cpu)
{
    (void)cpu;
    if (flags || command & ~(u64)MEMBARRIER_ALL || command & (command - 1))
        return -EINVAL;
    if (command == 0)
        return MEMBARRIER_ALL;
    if (command & (MEMBARRIER_REGISTER_GLOBAL | MEMBARRIER_REGISTER_PRIVATE |
                   MEMBARRIER_REGISTER_PRIVATE_SYNC_CORE))
        return 0;
    bool sync_core = command == MEMBARRIER_PRIVATE_SYNC_CORE;
    barrier_here(sync_core ? &sync_core : NULL);
    ipi_call((u32)harts_online(), barrier_here, sync_core ? &sync_core : NULL);
    return 0;
}
