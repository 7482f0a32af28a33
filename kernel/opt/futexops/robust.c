/* robust.c: robust mutexes (set_robust_list(2)): those of a thread that ends are marked. */
#include "abi/errno.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"
#include "vm.h"
#include "opt/exec/exec.h"
#include "opt/futexops/futexops.h"

#define ROBUST_LIMIT 2048

struct robust_head {
    u64 next;
    i64 futex_offset;
    u64 pending;
};

static void robust_one(va_t entry, i64 offset, int tid)
{
    va_t word = (entry & ~1UL) + (u64)offset;
    u32 value, seen;
    if (get_user(value, word) || (value & FUTEX_TID_MASK) != (u32)tid)
        return;
    user_cmpxchg32(word, value, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED, &seen);
    if (value & FUTEX_WAITERS)
        futex_wake_addr(word, 1);
}

void futex_exit_robust(struct thread *t)
{
    struct robust_head head;
    if (!t->robust_list || !t->proc->vm || copyin(&head, t->robust_list, sizeof(head)))
        return;
    va_t entry = head.next;
    for (int i = 0; i < ROBUST_LIMIT && (entry & ~1UL) != t->robust_list; i++) {
        va_t next;
        if (get_user(next, entry & ~1UL))
            break;
        if (entry != head.pending)
            robust_one(entry, head.futex_offset, t->tid);
        entry = next;
    }
    if (head.pending)
        robust_one(head.pending, head.futex_offset, t->tid);
    t->robust_list = 0;
}

void robust_forget(struct thread *t)
{
    t->robust_list = 0;
}

long sys_set_robust_list(u64 head, u64 len)
{
    if (len != sizeof(struct robust_head))
        return -EINVAL;
    current->robust_list = head;
    return 0;
}

long sys_get_robust_list(u64 tid, u64 head_addr, u64 len_addr)
{
    spin_lock(&proc_lock);
    struct thread *t = tid ? thread_find((int)tid) : current;
    u64 head = t ? t->robust_list : 0, len = sizeof(struct robust_head);
    spin_unlock(&proc_lock);
    if (!t)
        return -ESRCH;
    return put_user(head_addr, head) || put_user(len_addr, len) ? -EFAULT : 0;
}
