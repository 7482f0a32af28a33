/*
 * execve.c: execve(2): a program that replaces another one. Memory for private tables is allocated
 * before the sibling threads are ended.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "opt/exec/tables.h"
#include "proc.h"
#include "opt/exec/exec.h"
#include "opt/clone/clone.h"
#include "syscall.h"

static int add_user_strings(struct exec_strings *s, va_t array, u32 *count)
{
    for (va_t at = array; array; at += 8, ++*count) {
        va_t text;
        if (get_user(text, at))
            return -EFAULT;
        if (!text)
            break;
        if (*count >= ARGS_MAX)
            return -E2BIG;
        long n = copyinstr(s->bytes + s->used, text, ARG_BYTES_MAX - s->used);
        if (n < 0)
            return n == -ENAMETOOLONG ? -E2BIG : (int)n;
        s->used += (size_t)n + 1;
    }
    return 0;
}

/* Ends every other thread of the process; the survivor takes over the process number. */
static int become_single(struct proc *p)
{
    spin_lock(&proc_lock);
    if (p->group_exit || current->exiting) {
        spin_unlock(&proc_lock);
        return -EAGAIN;
    }
    proc_kill_others(p);
    spin_unlock(&proc_lock);
    wait_event(&p->thread_wait, atomic_load(&p->nthreads) == 1);
    current->tid = p->pid;
    return 0;
}

/* A sibling may share the tables until it is ended, so memory for copies is always allocated. */
int exec_prepare(struct proc *p, struct exec_spares *mine)
{
    mine->files = files_spare(p->files);
    mine->sigacts = sigacts_new();
    return mine->files && mine->sigacts ? become_single(p) : -ENOMEM;
}

void exec_give_up(struct exec_spares *mine)
{
    files_put(mine->files);
    sigacts_put(mine->sigacts);
}

/*
 * One allocation is left: another process may have made the shared descriptor table larger since
 * the spare was allocated. Without memory for it the process is killed, because it can neither go
 * back nor close the other's descriptors.
 */
void exec_leave_old(struct proc *p, struct exec_spares *mine)
{
    if (files_unshare(&p->files, mine->files)) {
        spin_lock(&proc_lock);
        signal_send_proc_locked(p, SIGKILL, NULL);
        spin_unlock(&proc_lock);
    } else {
        files_close_on_exec(p->files);
    }
    sigacts_exec(p, mine->sigacts);
    posix_timers_delete(p);
    p->execed = true;
}

/* argv and envp are arrays of the program's memory. */
long exec_user(const char *path, va_t argv, va_t envp)
{
    struct exec_strings s = {.bytes = kmalloc(ARG_BYTES_MAX)};
    long error = s.bytes ? 0 : -ENOMEM;
    if (error == 0)
        error = add_user_strings(&s, argv, &s.argc);
    if (error == 0)
        error = add_user_strings(&s, envp, &s.envc);
    if (error == 0)
        error = exec_with(path, &s);
    kfree(s.bytes);
    return error;
}

long sys_execve(u64 path_addr, u64 argv, u64 envp)
{
    char *path = kmalloc(PATH_LEN_MAX);
    long n = path ? copyinstr(path, path_addr, PATH_LEN_MAX) : -ENOMEM;
    long error = n < 0 ? n : n == 0 ? -ENOENT : exec_user(path, argv, envp);
    kfree(path);
    return error;
}
