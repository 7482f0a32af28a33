/* tables.c: what a new program keeps of the tables of its process. */
#include "opt/exec/tables.h"
#include "abi/errno.h"
#include "fs/files.h"
#include "klib.h"
#include "proc.h"
#include "opt/clone/clone.h"

void files_close_on_exec(struct files *t)
{
    for (int fd = 0; fd < t->cap; fd++) {
        struct file *f = t->slots[fd].cloexec ? files_take(t, fd) : NULL;

        if (f)
            files_release_slot(t, fd, f);
    }
}

int files_unshare(struct files **files, struct files *spare)
{
    struct files *old = *files;
    bool shared = atomic_load(&old->refs) > 1;
    int err = 0;

    if (shared && atomic_load(&curproc->nthreads) > 1)
        err = -EINVAL; /* other threads may be using the old table without a reference */
    else if (shared && (!spare || !files_fill(spare, old)))
        err = -ENOMEM;
    if (err || !shared) {
        files_put(spare);
        return err;
    }
    spin_lock(&proc_lock); /* procfs finds the table through the process */
    *files = spare;
    spin_unlock(&proc_lock);
    files_put(old);
    return 0;
}

void sigacts_exec(struct proc *p, struct sigactions *spare)
{
    struct sigactions *unused = spare;
    spin_lock(&proc_lock); /* senders read the dispositions of p */
    if (atomic_load(&p->sigacts->refs) > 1) {
        memcpy(spare->act, p->sigacts->act, sizeof(spare->act));
        unused = p->sigacts;
        p->sigacts = spare;
    }
    for (int i = 0; i < NSIG; i++) {
        struct k_sigaction *a = &p->sigacts->act[i];
        *a = (struct k_sigaction){.handler = a->handler == SIG_IGN ? SIG_IGN : SIG_DFL};
    }
    spin_unlock(&proc_lock);
    sigacts_put(unused);
}
