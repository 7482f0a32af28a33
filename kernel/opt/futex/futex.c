/*
 * futex.c: sleeping on a user word, in a kernel without the option FUTEX_OPS. A waiter joins the
 * list first and reads the word afterwards, so a waker that changed the word finds it. Words of
 * memory that processes share are refused: they would need another name than their address.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"
#include "vm.h"

#ifndef CONFIG_FUTEX_OPS

struct futex_waiter {
    struct list link; /* (futex_lock) */
    struct vm *vm;
    va_t addr;
    struct waitq queue; /* of this waiter alone */
    bool woken;
};

static struct spinlock futex_lock = SPINLOCK_INIT("futex");
static struct list waiters = LIST_INIT(waiters);

/* Threads wait on private words only: -EFAULT, nothing is at addr; -ENOSYS, processes share it. */
static long check_word(struct vm *vm, va_t addr)
{
    mutex_lock(&vm->lock);
    struct vma *vma = vm_find(vm, addr);
    long error = !vma ? -EFAULT : vma->flags & VMA_SHARED ? -ENOSYS : 0;
    mutex_unlock(&vm->lock);
    return error;
}

static long futex_wait(va_t addr, u32 expected, u64 deadline)
{
    struct futex_waiter w = {.vm = curproc->vm, .addr = addr};
    u32 value;
    waitq_init(&w.queue);
    spin_lock(&futex_lock);
    list_push_back(&waiters, &w.link);
    spin_unlock(&futex_lock);
    long error = user_read32(addr, &value);
    if (!error && value != expected)
        error = -EAGAIN;
    if (!error)
        error = wait_event_timeout(&w.queue, atomic_load(&w.woken), deadline);
    spin_lock(&futex_lock); /* from here on no waker has it */
    list_remove(&w.link);
    spin_unlock(&futex_lock);
    return w.woken ? 0 : error;
}

long futex_wake_addr(va_t addr, int n)
{
    int woken = 0;
    spin_lock(&futex_lock);
    list_for_each_safe(w, &waiters, struct futex_waiter, link) {
        if (woken >= n || w->vm != curproc->vm || w->addr != addr)
            continue;
        list_remove(&w->link);
        atomic_store(&w->woken, true);
        wake_up(&w->queue);
        woken++;
    }
    spin_unlock(&futex_lock);
    return woken;
}

/* WAIT takes a relative time on the monotonic clock, WAIT_BITSET an absolute one. */
static long wait_deadline(va_t addr, u64 op, u64 *deadline)
{
    struct timespec ts;
    *deadline = WAIT_FOREVER;
    if (!addr)
        return 0;
    if (get_user(ts, addr))
        return -EFAULT;
    if (!timespec_ok(&ts))
        return -EINVAL;
    bool absolute = (op & 0x7f) == FUTEX_WAIT_BITSET;
    bool wall_time = absolute && op & FUTEX_CLOCK_REALTIME;
    *deadline =
        deadline_from(ts.sec, ts.nsec, absolute, wall_time ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    return 0;
}

long sys_futex(u64 addr, u64 op, u64 value, u64 timeout, u64 addr2, u64 bits)
{
    u64 deadline, command = op & 0x7f;
    if (addr & 3)
        return -EINVAL;
    if (command != FUTEX_WAIT && command != FUTEX_WAKE &&
        (command != FUTEX_WAIT_BITSET || (u32)bits != FUTEX_ANY))
        return -ENOSYS;
    long error = check_word(curproc->vm, addr);
    if (!error && command == FUTEX_WAKE)
        return futex_wake_addr(addr, (int)value);
    if (!error)
        error = wait_deadline(timeout, op, &deadline);
    return error ? error : futex_wait(addr, (u32)value, deadline);
}

#endif
