/*
 * The end of threads and processes. A thread frees its own resources; the last one of a process
 * frees the shared ones, hands children to init, and leaves a zombie for the parent's wait.
 */
#include "file.h"
#include "irq.h"
#include "klib.h"
#include "proc.h"
#include "riscv.h"
#include "proc/internal.h"
#include "syscall.h"
#include "serial.h"
#include "vm.h"

/*
 * Releases everything that a process owns except its place in the tree. /proc reads the fields of
 * other processes, so each pointer is cleared under proc_lock before its reference is dropped. The
 * address space is last: closing a file may still touch it.
 */
static void release_resources(struct proc *p)
{
    spin_lock(&proc_lock);
    struct files *files = p->files;
    struct fsctx *fs = p->fs;
    struct file *exe = p->exe;
    p->files = NULL;
    p->fs = NULL;
    p->exe = NULL;
    spin_unlock(&proc_lock);
    files_put(files);
    fsctx_put(fs);
    file_put(exe);
    spin_lock(&proc_lock);
    struct vm *vm = p->vm;
    p->vm = NULL;
    if (p == curproc)
        vm_activate(NULL);
    spin_unlock(&proc_lock);
    if (vm)
        vm_put(vm);
}

void proc_discard(struct proc *p)
{
    release_resources(p);
    sigacts_put(p->sigacts);
    proc_put(p);
}

/* Wakes pthread_join and waiters of robust mutexes, while the address space is still there. */
static void release_user_state(struct thread *t)
{
    int zero = 0;
    futex_exit_robust(t);
    if (t->clear_tid && t->proc->vm && put_user(t->clear_tid, zero) == 0)
        futex_wake_addr(t->clear_tid, 1);
    t->clear_tid = 0;
}

/* proc_lock held. True if the parent does not wait for its children: nobody would reap p. */
static bool parent_ignores(struct proc *p)
{
    if (p->exit_signal != SIGCHLD)
        return false;
    const struct k_sigaction *act = sigaction_of(p->parent, SIGCHLD);
    return act->handler == SIG_IGN || act->flags & SA_NOCLDWAIT;
}

/* proc_lock held. Tells the parent of p that p has ended. True if nobody would reap p. */
static bool tell_parent(struct proc *p)
{
    bool reap = false;
    if (p->exit_signal) {
        siginfo_t info;
        siginfo_child(&info, p);
        reap = parent_ignores(p);
        signal_send_proc_locked(p->parent, p->exit_signal, &info);
    }
    wake_up(&p->parent->child_wait);
    return reap;
}

/* proc_lock held. Children of p become init's, which hears of the zombies among them. */
static void reparent_children(struct proc *p)
{
    list_for_each_safe(c, &p->children, struct proc, sibling) {
        list_remove(&c->sibling);
        c->parent = init_proc;
        c->exit_signal = SIGCHLD;
        list_push_back(&init_proc->children, &c->sibling);
        signal_orphan(c);
        if (c->state == PROC_ZOMBIE && tell_parent(c)) {
            proc_unlink(c);
            proc_put(c);
        }
    }
}

/* proc_lock held. Takes p out of every list; the caller drops the tree's reference afterwards. */
void proc_unlink(struct proc *p)
{
    list_remove(&p->sibling);
    list_remove(&p->in_all);
    p->parent = NULL;
    tty_forget(p);
}

static __noreturn void init_died(int wait_status)
{
    int signal = wait_status & 0x7f;
    if (signal)
        kprintf("init: killed by signal %d\n", signal);
    power_off(signal ? 128 + signal : wait_status >> 8 & 0xff);
}

static void become_zombie(struct proc *p)
{
    struct sigactions *acts = p->sigacts;
    spin_lock(&proc_lock);
    account_exit(p, current);
    reparent_children(p);
    signal_flush(&p->sigqueue);
    p->state = PROC_ZOMBIE;
    p->sigacts = NULL;
    proc_tell(p, PROC_EXITED, p->wait_status);
    pidfd_tell_end(p);
    thread_unlink(current);
    bool reap = tell_parent(p);
    if (reap)
        proc_unlink(p);
    /* Once the lock is released the parent may free p, while this thread still runs. */
    current->proc = &kernel_proc;
    spin_unlock(&proc_lock);
    sigacts_put(acts);
    if (reap)
        proc_put(p);
}

static void leave_proc(struct proc *p)
{
    spin_lock(&proc_lock);
    account_exit(p, current);
    thread_unlink(current);
    current->proc = &kernel_proc;
    wake_up(&p->thread_wait);
    spin_unlock(&proc_lock);
}

void thread_exit(int status)
{
    struct thread *t = current;
    struct proc *p = t->proc;
    if (irq_depth())
        panic("thread %d exits inside an interrupt", t->tid);
    kcov_thread_exit(t);
    if (p != &kernel_proc)
        release_user_state(t);
    spin_lock(&proc_lock);
    bool last = --p->nlive == 0;
    if (last && p != &kernel_proc)
        p->wait_status = p->group_exit ? p->group_exit_status : status;
    signal_flush(&t->sigqueue);
    spin_unlock(&proc_lock);
    if (last && p == init_proc)
        init_died(p->wait_status);
    if (last && p != &kernel_proc) {
        /* The other threads are past --nlive, but not yet unlinked. */
        wait_event(&p->thread_wait, atomic_load(&p->nthreads) == 1);
        itimer_stop(p);
        posix_timers_delete(p);
        release_resources(p);
        vfork_release(p);
        tty_session_exit(p);
        become_zombie(p);
    } else {
        leave_proc(p);
    }
    irq_disable();
    vm_activate(NULL);
    t->state = THREAD_DEAD;
    schedule();
    panic("a dead thread runs");
}

/* proc_lock held. Asks every other thread of the process to exit. */
void proc_kill_others(struct proc *p)
{
    list_for_each(t, &p->threads, struct thread, in_proc) {
        if (t == current)
            continue;
        t->exiting = true;
        thread_continue(t);
        sched_kick(t);
    }
}

void proc_exit_group(int wait_status)
{
    struct proc *p = curproc;
    spin_lock(&proc_lock);
    if (!p->group_exit) {
        p->group_exit = true;
        p->group_exit_status = wait_status;
        proc_kill_others(p);
    }
    spin_unlock(&proc_lock);
    thread_exit(wait_status);
}

long sys_exit(u64 code)
{
    thread_exit((int)(code & 0xff) << 8);
}

long sys_exit_group(u64 code)
{
    proc_exit_group((int)(code & 0xff) << 8);
}
