/*
 * The process table: process and thread numbers, look-up, references, parents and children. Numbers
 * of processes and threads come from one sequence, as in Linux; a process number is that of its
 * first thread.
 */
#include "alloc.h"
#include "bugs.h"
#include "file.h"
#include "klib.h"
#include "proc.h"
#include "proc/internal.h"
#include "vm.h"

#define PID_MAX 32768

struct spinlock proc_lock = SPINLOCK_INIT("proc");
struct proc kernel_proc;
struct proc *init_proc;

struct list all_procs = LIST_INIT(all_procs);
struct list all_threads = LIST_INIT(all_threads);
static int last_pid = 1; /* 1 is init's */
static u64 next_proc_id = 1;

static void init_fields(struct proc *p)
{
    p->refs = 1;
    list_init(&p->children);
    list_init(&p->sibling);
    list_init(&p->in_all);
    list_init(&p->threads);
    list_init(&p->sigqueue);
    waitq_init(&p->child_wait);
    waitq_init(&p->thread_wait);
    waitq_init(&p->sig_wait);
    for (const struct proc_part *part = __proc_parts_start; part < __proc_parts_end; part++)
        if (part->init)
            part->init(p);
}

void proc_init(void)
{
    init_fields(&kernel_proc);
    strlcpy(kernel_proc.comm, "kernel", sizeof(kernel_proc.comm));
}

struct proc *proc_find(int pid)
{
    list_for_each(p, &all_procs, struct proc, in_all)
        if (p->pid == pid)
            return p;
    return NULL;
}

struct thread *thread_find(int tid)
{
    list_for_each(t, &all_threads, struct thread, in_all)
        if (t->tid == tid)
            return t;
    return NULL;
}

static bool pid_in_use(int pid)
{
    if (thread_find(pid))
        return true;
    list_for_each(p, &all_procs, struct proc, in_all)
        if (p->pid == pid || p->pgid == pid || p->sid == pid)
            return true;
    return false;
}

int pid_alloc(void)
{
    do
        last_pid = last_pid + 1 < PID_MAX ? last_pid + 1 : 2;
    while (pid_in_use(last_pid));
    return last_pid;
}

void thread_link(struct thread *t)
{
    list_push_back(&t->proc->threads, &t->in_proc);
    list_push_back(&all_threads, &t->in_all);
    t->proc->nthreads++;
    t->proc->nlive++;
}

void thread_unlink(struct thread *t)
{
    list_remove(&t->in_proc);
    list_remove(&t->in_all);
    t->proc->nthreads--;
}

struct proc *proc_alloc(void)
{
    struct proc *p = kzalloc(sizeof(*p));
    if (!p)
        return NULL;
    init_fields(p);
    p->id = atomic_add(&next_proc_id, 1);
    p->exit_signal = SIGCHLD;
    return p;
}

void proc_link(struct proc *p, struct proc *parent)
{
    p->parent = parent;
    if (parent)
        list_push_back(&parent->children, &p->sibling);
    list_push_back(&all_procs, &p->in_all);
}

struct proc *proc_get(struct proc *p)
{
    atomic_add(&p->refs, 1);
    return p;
}

void proc_put(struct proc *p)
{
    if (atomic_sub(&p->refs, 1) != 0)
        return;
    BUG_NOTE(signalfd_epoll, !list_empty(&p->sig_wait.waiters));
    signal_flush(&p->sigqueue);
    kfree(p);
}
