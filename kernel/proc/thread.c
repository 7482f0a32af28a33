/*
 * Threads: memory, identity, kernel threads. A thread's user registers are saved at the top of its
 * kernel stack.
 */
#include "alloc.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "proc/internal.h"
#include "vm.h"

static u64 next_id = 1;

struct thread *thread_alloc(struct proc *p, const char *name)
{
    struct thread *t = kzalloc(sizeof(*t));
    va_t stack = t ? kstack_alloc() : 0;
    if (!stack) {
        kfree(t);
        return NULL;
    }
    t->stack = stack;
    t->tf = (struct trapframe *)(stack + KSTACK_SIZE - sizeof(struct trapframe));
    memset(t->tf, 0, sizeof(*t->tf));
    t->tf->syscall = ~0UL;
    t->kernel_sp = (u64)t->tf;
    t->ctx.ra = (u64)thread_entry;
    t->ctx.sp = t->kernel_sp;
    t->proc = p;
    t->id = atomic_add(&next_id, 1);
    t->state = THREAD_NEW;
    t->allowed_harts = ~0UL;
    altstack_disable(t);
    list_init(&t->run_link);
    list_init(&t->in_proc);
    list_init(&t->in_all);
    list_init(&t->sigqueue);
    strlcpy(t->name, name, sizeof(t->name));
    return t;
}

/* Called by the thread that runs next, or by a creator whose clone failed: never on t's stack. */
void thread_free(struct thread *t)
{
    for (int i = 0; i < MAX_HARTS; i++)
        if (cpus[i].fp_owner == t)
            cpus[i].fp_owner = NULL;
    kstack_free(t->stack);
    kfree(t);
}

struct thread *kthread_create(const char *name, void (*fn)(void *), void *arg)
{
    struct thread *t = thread_alloc(&kernel_proc, name);
    if (!t)
        return NULL;
    t->kthread_fn = fn;
    t->kthread_arg = arg;
    spin_lock(&proc_lock);
    t->tid = pid_alloc();
    thread_link(t);
    spin_unlock(&proc_lock);
    kcov_thread_start(t, current);
    sched_start(t);
    return t;
}
