/* procfs.h: the rows of /proc and the texts behind them. */
#pragma once

#include "fs.h"

struct proc;

/* Makes the whole text of a file; p is 0 for files outside /proc/PID. */
typedef void (*proc_text_fn)(struct textbuf *t, struct proc *p);

struct proc_row {
    const char *name;
    u32 mode; /* S_IFREG: text; S_IFLNK: link; S_IFDIR: fd, fdinfo */
    proc_text_fn text;
    /* links: where following one leads, with references; under proc_lock and fs_lock */
    bool (*place)(const struct proc *p, struct path *at);
};

extern const struct proc_row proc_top_rows[], proc_pid_rows[];
extern const u32 proc_top_count, proc_pid_count;

/* The process whose directory in /proc is open, with a reference; -EBADF: it is none; -ESRCH. */
int procfs_proc(const struct file *file, struct proc **out);
/* A reference of a live process's address space, or 0. */
struct vm *proc_vm_get(struct proc *p);
