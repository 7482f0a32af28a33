/*
 * procfs.c: the tree of /proc. Nothing is stored: each lookup makes an inode, which names its
 * subject by (process, row, descriptor). Texts are made once per open (proc_text.c).
 *
 *     /proc/NAME           proc_top_rows
 *     /proc/self           link to the caller's directory
 *     /proc/PID/NAME       proc_pid_rows
 *     /proc/PID/fd/N       magic links, as are exe, cwd and root: following one leads to the open
 *                          inode itself, not to the path that readlink(2) shows
 *
 * An inode holds no reference of its process: every use looks the number up again, so lookups in an
 * open directory of a dead process fail.
 */
#include "procfs.h"
#include "opt/directories/list.h"
#include "abi/errno.h"
#include "alloc.h"
#include "boot.h"
#include "klib.h"
#include "opt/descriptors/look.h"
#include "opt/mounts/mounts.h"
#include "memlayout.h"
#include "proc.h"
#include "proc/each.h"
#include "fs/tmpfs.h"
#include "vm.h"

#define PROC_MAGIC 0x9fa0

enum kind { ROOT, SELF, TOP_FILE, PID_DIR, PID_FILE, FD_DIR, FD_LINK };

struct pnode {
    enum kind kind;
    int pid, fd;
    const struct proc_row *row;
    u64 proc_id; /* of the process that had the number when the inode was made */
};

static const struct inode_ops proc_ops, proc_link_ops;
static const struct file_ops text_fops;
static struct super *proc_super;

static const struct pnode *node_of(const struct inode *inode)
{
    return inode->priv;
}

/* The process of a number with one reference, or NULL. */
static struct proc *find_proc(int pid)
{
    struct proc *p;

    spin_lock(&proc_lock);
    p = proc_find(pid);
    if (p)
        proc_get(p);
    spin_unlock(&proc_lock);
    return p;
}

struct vm *proc_vm_get(struct proc *p)
{
    struct vm *vm;

    spin_lock(&proc_lock);
    vm = p->vm;
    if (vm)
        vm_get(vm);
    spin_unlock(&proc_lock);
    return vm;
}

int procfs_proc(const struct file *file, struct proc **out)
{
    const struct pnode *n = file->inode->ops == &proc_ops ? node_of(file->inode) : NULL;
    struct proc *p;

    if (!n || n->kind != PID_DIR)
        return -EBADF;
    p = find_proc(n->pid);
    if (p && p->id != n->proc_id) { /* another process has the number now */
        proc_put(p);
        p = NULL;
    }
    *out = p;
    return p ? 0 : -ESRCH;
}

static u64 number_of(const struct pnode *n)
{
    u64 row = n->row ? (u64)(n->row - (n->kind == TOP_FILE ? proc_top_rows : proc_pid_rows)) : 0;

    return (u64)(u32)n->pid << 24 | (u64)n->kind << 20 | (n->kind == FD_LINK ? (u32)n->fd : row);
}

static int make_inode(struct pnode n, u32 mode, struct inode **out)
{
    struct inode *inode = inode_new(NULL, mode);
    struct pnode *copy = inode ? kmalloc(sizeof(*copy)) : NULL;
    struct proc *p;

    if (!copy) {
        inode_put(inode);
        return -ENOMEM;
    }
    p = n.pid ? find_proc(n.pid) : NULL;
    if (p) {
        n.proc_id = p->id;
        inode->uid = p->euid;
        inode->gid = p->egid;
        proc_put(p);
    }
    *copy = n;
    inode->priv = copy;
    inode->sb = proc_super;
    inode->ino = n.kind == ROOT ? 1 : number_of(&n) + 2;
    inode->ops = n.kind == FD_LINK || (n.row && n.row->place) ? &proc_link_ops : &proc_ops;
    inode->fops = S_ISREG(mode) ? &text_fops : fops_for_mode(mode);
    *out = inode;
    return 0;
}

static int parse_number(const char *name)
{
    const char *end;
    u64 n = *name >= '0' && *name <= '9' ? strtou64(name, &end, 10) : ~0UL;

    return n < 0x7fffffff && !*end && (name[0] != '0' || !name[1]) ? (int)n : -1;
}

static const struct proc_row *find_row(const struct proc_row *rows, u32 count, const char *name)
{
    for (u32 i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static int lookup_root(const char *name, struct inode **out)
{
    const struct proc_row *row = find_row(proc_top_rows, proc_top_count, name);
    int pid = parse_number(name);
    struct proc *p;

    if (row)
        return make_inode((struct pnode){TOP_FILE, .row = row}, row->mode, out);
    if (!strcmp(name, "self"))
        return make_inode((struct pnode){.kind = SELF}, S_IFLNK | 0777, out);
    p = pid > 0 ? find_proc(pid) : NULL;
    if (!p)
        return -ENOENT;
    proc_put(p);
    return make_inode((struct pnode){PID_DIR, .pid = pid}, S_IFDIR | 0555, out);
}

static int lookup_pid(int pid, const char *name, struct inode **out)
{
    const struct proc_row *row = find_row(proc_pid_rows, proc_pid_count, name);
    struct proc *p = row ? find_proc(pid) : NULL;

    if (!p)
        return -ENOENT;
    proc_put(p);
    return make_inode(
        (struct pnode){S_ISDIR(row->mode) ? FD_DIR : PID_FILE, .pid = pid, .row = row}, row->mode,
        out);
}

/*
 * Calls look() with an open file of a process, under the table's lock instead of a reference: the
 * owner may close the file meanwhile, and the last close must not happen in a walk, under fs_lock.
 */
static bool look_at_fd(const struct pnode *n, void (*look)(struct file *f, void *arg), void *arg)
{
    struct proc *p;
    bool found;

    spin_lock(&proc_lock);
    p = proc_find(n->pid);
    found = p && p->files && files_look(p->files, n->fd, look, arg);
    spin_unlock(&proc_lock);
    return found;
}

static void look_at_mode(struct file *f, void *arg)
{
    *(u32 *)arg = S_IFLNK | (f->fflags & FF_READ ? 0500 : 0) | (f->fflags & FF_WRITE ? 0300 : 0);
}

static int lookup_fd(int pid, const char *name, struct inode **out)
{
    struct pnode n = {FD_LINK, .pid = pid, .fd = parse_number(name)};
    u32 mode;

    if (!look_at_fd(&n, look_at_mode, &mode))
        return -ENOENT;
    return make_inode(n, mode, out);
}

static int proc_lookup(struct inode *dir, const char *name, struct inode **out)
{
    const struct pnode *n = node_of(dir);

    switch (n->kind) {
    case ROOT:
        return lookup_root(name, out);
    case PID_DIR:
        return lookup_pid(n->pid, name, out);
    case FD_DIR:
        return lookup_fd(n->pid, name, out);
    default:
        return -ENOTDIR;
    }
}

static struct inode *proc_parent(struct inode *dir)
{
    const struct pnode *n = node_of(dir);
    struct inode *up = NULL;

    if (n->kind == FD_DIR)
        make_inode((struct pnode){PID_DIR, .pid = n->pid}, S_IFDIR | 0555, &up);
    else if (n->kind == PID_DIR)
        up = inode_get(proc_super->root);
    return up;
}

static int proc_name(struct inode *dir, char *buf)
{
    const struct pnode *n = node_of(dir);

    if (n->kind == PID_DIR)
        ksnprintf(buf, NAME_LEN_MAX, "%d", n->pid);
    else
        strlcpy(buf, n->row ? n->row->name : "", NAME_LEN_MAX);
    return 0;
}

/* Positions of a listing of /proc: 2.. for the rows, then ROWS_END + pid. */
#define ROWS_END 256

struct next_pid {
    int above, found;
};

static bool smaller_pid(struct proc *p, void *arg)
{
    struct next_pid *n = arg;

    if (p->pid >= n->above && p->pid > 0 && (!n->found || p->pid < n->found))
        n->found = p->pid;
    return true;
}

static void list_rows(const struct proc_row *rows, u32 count, i64 *pos, struct dir_sink *sink,
                      bool *full)
{
    for (u64 i = *pos - 2; i < count && !*full; i++) {
        *full = !sink->put(sink, rows[i].name, i + 2, rows[i].mode, i + 3);
        if (!*full)
            *pos = i + 3;
    }
}

/* The number that a position stands for; lseek(2) accepts larger ones than any number. */
static int number_at(i64 pos, i64 first)
{
    return (int)MIN(pos - first, 0x7ffffffe);
}

static int list_root(i64 *pos, struct dir_sink *sink)
{
    struct next_pid next;
    char name[16];
    bool full = false;

    if (*pos < ROWS_END)
        list_rows(proc_top_rows, proc_top_count, pos, sink, &full);
    if (!full && *pos < ROWS_END) {
        full = !sink->put(sink, "self", 1, S_IFLNK, ROWS_END);
        *pos = full ? *pos : ROWS_END;
    }
    while (!full) {
        next = (struct next_pid){number_at(*pos, ROWS_END), 0};
        proc_for_each(smaller_pid, &next);
        if (!next.found)
            break;
        ksnprintf(name, sizeof(name), "%d", next.found);
        full = !sink->put(sink, name, (u64)next.found << 24, S_IFDIR, ROWS_END + next.found + 1);
        if (!full)
            *pos = ROWS_END + next.found + 1;
    }
    return 0;
}

static int next_fd(int pid, int from)
{
    struct proc *p;
    int fd;

    spin_lock(&proc_lock);
    p = proc_find(pid);
    fd = p && p->files ? files_next(p->files, from) : -1;
    spin_unlock(&proc_lock);
    return fd;
}

static int list_fds(int pid, i64 *pos, struct dir_sink *sink)
{
    char name[16];

    for (int fd = next_fd(pid, number_at(*pos, 2)); fd >= 0; fd = next_fd(pid, fd + 1)) {
        ksnprintf(name, sizeof(name), "%d", fd);
        if (!sink->put(sink, name, fd + 2, S_IFLNK, fd + 3))
            break;
        *pos = fd + 3;
    }
    return 0;
}

static int proc_readdir(struct inode *dir, i64 *pos, struct dir_sink *sink)
{
    const struct pnode *n = node_of(dir);
    bool full = false;

    if (n->kind == ROOT)
        return list_root(pos, sink);
    if (n->kind == FD_DIR)
        return list_fds(n->pid, pos, sink);
    list_rows(proc_pid_rows, proc_pid_count, pos, sink, &full);
    return 0;
}

static void look_at_path(struct file *f, void *arg)
{
    text_put(arg, f->path, strlen(f->path));
}

static i64 proc_readlink(struct inode *inode, char *buf, u64 size)
{
    const struct pnode *n = node_of(inode);
    struct textbuf t = {0};
    struct proc *p;
    i64 len;

    if (n->kind == SELF) {
        text_printf(&t, "%d", curproc->pid);
    } else if (n->kind == FD_LINK) {
        look_at_fd(n, look_at_path, &t);
    } else if ((p = n->pid ? find_proc(n->pid) : curproc)) {
        n->row->text(&t, p);
        if (n->pid)
            proc_put(p);
    }
    len = t.buf ? (i64)MIN(t.len, size) : -ENOENT;
    if (len > 0)
        memcpy(buf, t.buf, len);
    kfree(t.buf);
    return len;
}

static void look_at_place(struct file *f, void *arg)
{
    struct path *at = arg;

    *at = (struct path){mount_get(f->mnt), inode_get(f->inode)};
}

static bool place_of_row(const struct pnode *n, struct path *at)
{
    struct proc *p;
    bool found;

    spin_lock(&proc_lock);
    p = proc_find(n->pid);
    found = p && n->row->place(p, at);
    spin_unlock(&proc_lock);
    return found;
}

/* Leads to the inode that is open (executed, the current directory), also if its name is gone. */
static int proc_follow(struct inode *inode, struct mount **mnt, struct inode **out)
{
    const struct pnode *n = node_of(inode);
    struct path at;

    if (n->kind == FD_LINK ? !look_at_fd(n, look_at_place, &at) : !place_of_row(n, &at))
        return -ENOENT;
    *mnt = at.mnt;
    *out = at.inode;
    return 0;
}

static void proc_evict(struct inode *inode)
{
    kfree(inode->priv);
}

static const struct inode_ops proc_ops = {
    .lookup = proc_lookup,
    .parent = proc_parent,
    .name = proc_name,
    .readdir = proc_readdir,
    .readlink = proc_readlink,
    .evict = proc_evict,
};

static const struct inode_ops proc_link_ops = {
    .readlink = proc_readlink,
    .follow = proc_follow,
    .evict = proc_evict,
};

static int text_open(struct inode *inode, struct file *file)
{
    const struct pnode *n = node_of(inode);
    struct textbuf *t = kzalloc(sizeof(*t));
    struct proc *p = n->pid ? find_proc(n->pid) : NULL;
    int err = !t ? -ENOMEM : n->pid && !p ? -ESRCH : 0;

    if (!err) {
        n->row->text(t, p);
        err = t->failed ? -ENOMEM : 0;
    }
    if (p)
        proc_put(p);
    if (err) {
        if (t)
            kfree(t->buf);
        kfree(t);
        return err;
    }
    file->priv = t;
    return 0;
}

static i64 text_read(struct file *file, struct iter *to, i64 *pos)
{
    struct textbuf *t = file->priv;
    u64 n = *pos < 0 || (u64)*pos >= t->len ? 0 : MIN(t->len - *pos, to->left), moved;

    if (!n)
        return 0;
    moved = iter_put(to, t->buf + *pos, n);
    *pos += moved;
    return moved ? (i64)moved : -EFAULT;
}

static i64 text_lseek(struct file *file, i64 offset, int whence)
{
    offset = whence == 0 || whence == 1 ? seek_from(whence ? file->pos : 0, offset) : -EINVAL;
    return offset < 0 ? offset : (file->pos = offset);
}

static void text_release(struct file *file)
{
    struct textbuf *t = file->priv;

    kfree(t->buf);
    kfree(t);
}

static const struct file_ops text_fops = {
    .open = text_open,
    .read = text_read,
    .lseek = text_lseek,
    .release = text_release,
};

static const struct super_ops proc_super_ops = {0};

static int proc_mount(const struct fs_type *type, const char *source, u32 flags, const char *data,
                      struct super **out)
{
    if (!proc_super) {
        struct super *sb = kzalloc(sizeof(*sb));

        if (!sb)
            return -ENOMEM;
        *sb = (struct super){.refs = 1, .ops = &proc_super_ops, .dev = 4, .magic = PROC_MAGIC};
        proc_super = sb;
        if (make_inode((struct pnode){.kind = ROOT}, S_IFDIR | 0555, &sb->root)) {
            proc_super = NULL;
            kfree(sb);
            return -ENOMEM;
        }
    }
    atomic_add(&proc_super->refs, 1); /* one is permanent */
    *out = proc_super;
    return 0;
}

static struct fs_type procfs_type = {.name = "proc", .nodev = true, .mount = proc_mount};

static void link_in_dev(const char *name, const char *target)
{
    struct path dev;

    if (path_walk(NULL, "/dev", WALK_DIR, &dev))
        return;
    mutex_lock(&fs_lock);
    dev.inode->ops->symlink(dev.inode, name, target);
    mutex_unlock(&fs_lock);
    path_put(&dev);
}

static void procfs_init(void)
{
    fs_register(&procfs_type);
    fs_mount("proc", "/proc", "proc");
    link_in_dev("fd", "/proc/self/fd");
    link_in_dev("stdin", "/proc/self/fd/0");
    link_in_dev("stdout", "/proc/self/fd/1");
    link_in_dev("stderr", "/proc/self/fd/2");
}
INITCALL(procfs_init);
