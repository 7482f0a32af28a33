/* procfs.h: the rows of /proc and the texts behind them. */
#pragma once

#include "fs.h"
#include "opt/procfs/text.h"

struct proc;

/* Makes the whole text of a file; p is NULL for files outside /proc/PID. */
typedef void (*proc_text_fn)(struct textbuf *t, struct proc *p);

struct proc_row {
    const char *name;
    u32 mode; /* S_IFREG: text; S_IFLNK: link; S_IFDIR: fd, fdinfo */
    proc_text_fn text;
    /* links: the place to which one leads, with references; under proc_lock and fs_lock */
    bool (*place)(const struct proc *p, struct path *at);
};

extern const struct proc_row proc_top_rows[], proc_pid_rows[];
extern const u32 proc_top_count, proc_pid_count;

/* The process of an open /proc/PID, with one reference; -EBADF: not such a directory; -ESRCH. */
int procfs_proc(const struct file *file, struct proc **out);
/* The address space of a process with one reference; NULL after its exit. */
struct vm *proc_vm_get(struct proc *p);
