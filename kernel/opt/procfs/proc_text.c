/*
 * proc_text.c: the texts of /proc, in the formats of proc(5). One function per file, two tables at
 * the end.
 */
#include "opt/slab/slab.h"
#include "opt/limits/reserved.h"
#include "opt/hwprobe/isa.h"
#include "klib.h"
#include "opt/directories/path_string.h"
#include "opt/mounts/mounts.h"
#include "memlayout.h"
#include "proc.h"
#include "procfs.h"
#include "timeout.h"
#include "opt/terminal/tty.h"
#include "vm.h"
#include "opt/vmaccess/vmaccess.h"

#define HZ 100 /* clock ticks of user space (AT_CLKTCK) */

static u64 to_hz(u64 ticks)
{
    return ticks / (TICKS_PER_SEC / HZ);
}

static u64 kib(u64 pages)
{
    return pages * (PAGE_SIZE / 1024);
}

static void meminfo(struct textbuf *t, struct proc *p)
{
    u64 total = kib(pages_total_count()), free = kib(pages_free_count());

    text_printf(t, "MemTotal:       %8lu kB\n", total);
    text_printf(t, "MemFree:        %8lu kB\n", free);
    text_printf(t, "MemAvailable:   %8lu kB\n", free);
    text_printf(t, "Buffers:        %8u kB\n", 0);
    text_printf(t, "Cached:         %8u kB\n", 0);
    text_printf(t, "SwapTotal:      %8u kB\n", 0);
    text_printf(t, "SwapFree:       %8u kB\n", 0);
}

/* The columns of Linux's version 2.1 that exist here. */
static void slabinfo(struct textbuf *t, struct proc *p)
{
    struct kmalloc_stats s;

    text_printf(
        t, "slabinfo - version: 2.1\n"
           "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>\n");
    for (int class = 0; kmalloc_stats(class, &s); class ++)
        text_printf(t, "kmalloc-%-9lu %6lu %6lu %6lu %4lu    1\n", s.size, s.active, s.total,
                    s.size, PAGE_SIZE / s.size);
}

static void uptime(struct textbuf *t, struct proc *p)
{
    u64 now = to_hz(time_now());

    text_printf(t, "%lu.%02lu 0.00\n", now / HZ, now % HZ);
}

static void loadavg(struct textbuf *t, struct proc *p)
{
    text_printf(t, "0.00 0.00 0.00 1/1 %d\n", curproc->pid);
}

static void version(struct textbuf *t, struct proc *p)
{
    text_printf(t, "Linux version 6.1.0-kcovbox (riscv64)\n");
}

static void cmdline_text(struct textbuf *t, struct proc *p)
{
    text_put(t, cmdline, strlen(cmdline));
    text_put(t, "\n", 1);
}

static void stat_top(struct textbuf *t, struct proc *p)
{
    text_printf(t, "cpu  0 0 0 %lu 0 0 0 0 0 0\n", to_hz(time_now()));
    for (int i = 0; i < ncpus; i++)
        text_printf(t, "cpu%d 0 0 0 %lu 0 0 0 0 0 0\n", i, to_hz(time_now()));
    text_printf(t, "btime %lu\n", (time_wall_ns() - time_now_ns()) / 1000000000);
}

static void cpuinfo(struct textbuf *t, struct proc *p)
{
    const char *isa = isa_string();

    for (int i = 0; i < ncpus; i++) {
        text_printf(t, "processor\t: %d\nhart\t\t: %lu\nisa\t\t: ", i, cpus[i].hartid);
        text_put(t, isa, strlen(isa)); /* too long for one text_printf */
        text_printf(t, "\nmmu\t\t: sv39\n\n");
    }
}

static void filesystems(struct textbuf *t, struct proc *p)
{
    for (const struct fs_type *f = fs_type_list(); f; f = f->next)
        text_printf(t, "%s\t%s\n", f->nodev ? "nodev" : "", f->name);
}

static void mount_table(struct textbuf *t, struct proc *p)
{
    mutex_lock(&fs_lock);
    for (struct mount *m = mounts; m; m = m->next)
        text_printf(t, "%s %s %s %s 0 0\n", m->source[0] ? m->source : "none", m->where,
                    m->sb->type->name, m->flags & 1 ? "ro" : "rw");
    mutex_unlock(&fs_lock);
}

static void mounts_link(struct textbuf *t, struct proc *p)
{
    text_printf(t, "self/mounts");
}

static char state_letter(const struct proc *p)
{
    char c = 'S';

    if (p->state != PROC_RUNNING)
        return p->state == PROC_ZOMBIE ? 'Z' : 'T';
    list_for_each(th, &p->threads, struct thread, in_proc)
        if (th->state == THREAD_RUNNABLE)
            c = 'R';
        else if ((th->state == THREAD_SLEEPING || th->state == THREAD_KILLABLE) && c != 'R')
            c = 'D';
    return c;
}

/* The data of a process for stat, statm and status, read under one lock. */
struct snapshot {
    int pid, ppid, pgid, sid, threads, tty_pgrp, nice, policy, rt_priority;
    u64 tty, utime, stime, cutime, cstime, start, pages, resident, peak, switches[2];
    char state, comm[16];
    u32 uid[3], gid[3];
    u64 sigpending, blocked;
};

static void take_snapshot(struct proc *p, struct snapshot *s)
{
    struct vm *vm = proc_vm_get(p);

    memset(s, 0, sizeof(*s));
    spin_lock(&proc_lock);
    s->pid = p->pid;
    s->ppid = p->parent ? p->parent->pid : 0;
    s->pgid = p->pgid;
    s->sid = p->sid;
    s->threads = MAX(p->nlive, 1);
    s->tty = p->tty ? p->tty->rdev : 0;
    s->tty_pgrp = p->tty ? p->tty->pgrp : -1;
    s->utime = p->utime;
    s->stime = p->stime;
    list_for_each(th, &p->threads, struct thread, in_proc) {
        if (th->in_proc.prev == &p->threads) {
            s->nice = th->nice;
            s->policy = th->policy;
            s->rt_priority = th->rt_priority;
            memcpy(s->switches, th->switches, sizeof(s->switches));
        }
        s->utime += th->utime;
        s->stime += th->stime;
        s->blocked |= th->blocked;
    }
    s->cutime = p->cutime;
    s->cstime = p->cstime;
    s->start = p->start_time;
    s->state = state_letter(p);
    s->sigpending = p->pending;
    memcpy(s->comm, p->comm, sizeof(s->comm));
    memcpy(s->uid, (u32[]){p->uid, p->euid, p->suid}, sizeof(s->uid));
    memcpy(s->gid, (u32[]){p->gid, p->egid, p->sgid}, sizeof(s->gid));
    spin_unlock(&proc_lock);
    if (vm) {
        mutex_lock(&vm->lock);
        s->pages = vm_reserved(vm) / PAGE_SIZE;
        mutex_unlock(&vm->lock);
        s->resident = vm->resident;
        s->peak = vm->peak;
        vm_put(vm);
    }
}

static void stat_pid(struct textbuf *t, struct proc *p)
{
    struct snapshot s;

    take_snapshot(p, &s);
    text_printf(t, "%d (%s) %c %d %d %d %lu %d 0 ", s.pid, s.comm, s.state, s.ppid, s.pgid, s.sid,
                s.tty, s.tty_pgrp);
    text_printf(t, "%lu 0 %lu 0 %lu %lu %lu %lu ", p->minflt, 0UL, to_hz(s.utime), to_hz(s.stime),
                to_hz(s.cutime), to_hz(s.cstime));
    text_printf(t, "%d %d %d 0 %lu %lu %lu ", s.rt_priority ? -1 - s.rt_priority : 20 + s.nice,
                s.nice, s.threads, to_hz(s.start), s.pages * PAGE_SIZE, s.resident);
    text_printf(t,
                "18446744073709551615 0 0 0 0 0 %lu %lu 0 0 0 0 0 17 0 %d %d 0 0 0 0 0 0 0 0 0 0 0 "
                "0\n",
                s.sigpending, s.blocked, s.rt_priority, s.policy);
}

static void statm(struct textbuf *t, struct proc *p)
{
    struct snapshot s;

    take_snapshot(p, &s);
    text_printf(t, "%lu %lu 0 0 0 %lu 0\n", s.pages, s.resident, s.pages);
}

static void status(struct textbuf *t, struct proc *p)
{
    static const char *const names[] = {['R'] = "running",
                                        ['S'] = "sleeping",
                                        ['D'] = "disk sleep",
                                        ['T'] = "stopped",
                                        ['Z'] = "zombie"};
    struct snapshot s;

    take_snapshot(p, &s);
    text_printf(t, "Name:\t%s\nUmask:\t0022\nState:\t%c (%s)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\n",
                s.comm, s.state, names[(u8)s.state], s.pid, s.pid);
    text_printf(t, "PPid:\t%d\nTracerPid:\t0\n", s.ppid);
    text_printf(t, "Uid:\t%u\t%u\t%u\t%u\n", s.uid[0], s.uid[1], s.uid[2], s.uid[1]);
    text_printf(t, "Gid:\t%u\t%u\t%u\t%u\n", s.gid[0], s.gid[1], s.gid[2], s.gid[1]);
    text_printf(t, "VmPeak:\t%8lu kB\nVmSize:\t%8lu kB\nVmRSS:\t%8lu kB\n",
                MAX(s.peak / 1024, kib(s.pages)), kib(s.pages), kib(s.resident));
    text_printf(t, "Threads:\t%d\nSigPnd:\t%016lx\nSigBlk:\t%016lx\n", s.threads, s.sigpending,
                s.blocked);
    text_printf(t, "voluntary_ctxt_switches:\t%lu\nnonvoluntary_ctxt_switches:\t%lu\n",
                s.switches[0], s.switches[1]);
}

static void comm(struct textbuf *t, struct proc *p)
{
    text_printf(t, "%s\n", p->comm);
}

/* The arguments or environment in another address space, up to a page that is not there. */
static void put_range(struct textbuf *t, struct proc *p, bool env)
{
    struct vm *vm = proc_vm_get(p);
    char chunk[128];
    va_t at, end;

    if (!vm)
        return;
    at = env ? vm->env_start : vm->arg_start;
    end = env ? vm->env_end : vm->arg_end;
    while (at < end) {
        u64 n = MIN(end - at, sizeof(chunk));

        if (vm_read(vm, chunk, at, n))
            break;
        text_put(t, chunk, n);
        at += n;
    }
    vm_put(vm);
}

static void cmdline_pid(struct textbuf *t, struct proc *p)
{
    put_range(t, p, false);
}

static void environ(struct textbuf *t, struct proc *p)
{
    put_range(t, p, true);
}

static const char *area_name(const struct vma *a)
{
    if (a->file)
        return a->file->path;
    return a->flags & VMA_HEAP ? "[heap]" : a->flags & VMA_STACK ? "[stack]" : "";
}

static void put_area(struct textbuf *t, const struct vma *a)
{
    const struct inode *inode = a->file ? a->file->inode : NULL;
    const char *name = area_name(a);

    text_printf(t, "%08lx-%08lx %c%c%c%c %08lx %02lx:%02lx %lu", a->start, a->end,
                a->prot & VM_READ ? 'r' : '-', a->prot & VM_WRITE ? 'w' : '-',
                a->prot & VM_EXEC ? 'x' : '-', a->flags & VMA_SHARED ? 's' : 'p', a->offset,
                inode && inode->sb ? inode->sb->dev >> 8 : 0,
                inode && inode->sb ? inode->sb->dev & 0xff : 0, inode ? inode->ino : 0);
    if (*name) {
        text_printf(t, "%20s", "");
        text_put(t, name, strlen(name));
    }
    text_put(t, "\n", 1);
}

static void maps(struct textbuf *t, struct proc *p)
{
    struct vm *vm = proc_vm_get(p);

    if (!vm)
        return;
    mutex_lock(&vm->lock);
    list_for_each(a, &vm->areas, struct vma, link)
        put_area(t, a);
    mutex_unlock(&vm->lock);
    vm_put(vm);
}

static void exe(struct textbuf *t, struct proc *p)
{
    spin_lock(&proc_lock);
    if (p->exe && p->exe->path)
        text_put(t, p->exe->path, strlen(p->exe->path));
    spin_unlock(&proc_lock);
}

static void path_text(struct textbuf *t, const struct path *which)
{
    char *buf = kmalloc(PATH_LEN_MAX);

    if (buf && which->inode && !path_string(which, buf, PATH_LEN_MAX))
        text_put(t, buf, strlen(buf));
    kfree(buf);
}

/* The current directory or root of a process. */
static void place(struct textbuf *t, struct proc *p, bool of_cwd)
{
    struct fsctx *fs;

    spin_lock(&proc_lock);
    fs = p->fs ? fsctx_share(p->fs) : NULL;
    spin_unlock(&proc_lock);
    if (fs)
        path_text(t, of_cwd ? &fs->cwd : &fs->root);
    fsctx_put(fs);
}

static void cwd(struct textbuf *t, struct proc *p)
{
    place(t, p, true);
}

static void root(struct textbuf *t, struct proc *p)
{
    place(t, p, false);
}

static bool give_place(struct mount *mnt, struct inode *inode, struct path *at)
{
    *at = (struct path){mnt, inode};
    if (inode)
        path_get(at);
    return inode;
}

static bool exe_place(const struct proc *p, struct path *at)
{
    return p->exe && give_place(p->exe->mnt, p->exe->inode, at);
}

static bool cwd_place(const struct proc *p, struct path *at)
{
    return p->fs && give_place(p->fs->cwd.mnt, p->fs->cwd.inode, at);
}

static bool root_place(const struct proc *p, struct path *at)
{
    return p->fs && give_place(p->fs->root.mnt, p->fs->root.inode, at);
}

#define TEXT(name, mode, fn)  {name, S_IFREG | (mode), fn, NULL}
#define LINK(name, fn, place) {name, S_IFLNK | 0777, fn, place}

const struct proc_row proc_top_rows[] = {
    TEXT("cmdline", 0444, cmdline_text),    TEXT("cpuinfo", 0444, cpuinfo),
    TEXT("filesystems", 0444, filesystems), TEXT("loadavg", 0444, loadavg),
    TEXT("meminfo", 0444, meminfo),         LINK("mounts", mounts_link, NULL),
    TEXT("slabinfo", 0400, slabinfo),       TEXT("stat", 0444, stat_top),
    TEXT("uptime", 0444, uptime),           TEXT("version", 0444, version),
};
const u32 proc_top_count = ARRAY_LEN(proc_top_rows);

const struct proc_row proc_pid_rows[] = {
    TEXT("cmdline", 0444, cmdline_pid), TEXT("comm", 0444, comm),
    LINK("cwd", cwd, cwd_place),        TEXT("environ", 0400, environ),
    LINK("exe", exe, exe_place),        {"fd", S_IFDIR | 0500, NULL, NULL},
    TEXT("maps", 0444, maps),           TEXT("mounts", 0444, mount_table),
    LINK("root", root, root_place),     TEXT("stat", 0444, stat_pid),
    TEXT("statm", 0444, statm),         TEXT("status", 0444, status),
};
const u32 proc_pid_count = ARRAY_LEN(proc_pid_rows);

static void note_start(struct proc *p)
{
    p->start_time = time_now();
}

PROC_PART(procfs) = {.init = note_start};
