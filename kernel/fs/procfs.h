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
};

extern const struct proc_row proc_top_rows[], proc_pid_rows[];
extern const u32 proc_top_count, proc_pid_count;

/* References of a live process's parts, or 0. */
struct files *proc_files_get(struct proc *p);
struct vm *proc_vm_get(struct proc *p);
