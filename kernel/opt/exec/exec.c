/*
 * Starting a program: the new address space is built before the calling process leaves its old
 * program (opt/exec), so an error leaves the caller as it was.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "proc.h"
#include "opt/exec/exec.h"
#include "proc/internal.h"
#include "riscv.h"
#include "syscall.h"

int open_program(const char *path, struct file **out)
{
    int error = vfs_open(path, O_RDONLY | O_REGULAR, 0, out); /* opening a FIFO would wait */
    if (error)
        return error;
    error = inode_access((*out)->inode, 1);
    if (error)
        file_put(*out);
    return error;
}

/* Strings */

static int add_string(struct exec_strings *s, const char *text)
{
    size_t n = strlen(text) + 1;
    if (n > ARG_BYTES_MAX - s->used)
        return -E2BIG;
    memcpy(s->bytes + s->used, text, n);
    s->used += n;
    return 0;
}

/* Opens path and reads the headers of the program. */
int find_image(const char *path, struct image *img)
{
    struct file *file;
    int error = open_program(path, &file);
    return error ? error : image_read(file, img);
}

/* /proc reads these fields under proc_lock; the old references are dropped outside of it. */
static void take_identity(struct proc *p, struct vm *vm, struct file *exe, const char *display)
{
    const char *base = strrchr(display, '/');
    spin_lock(&proc_lock);
    struct vm *old_vm = p->vm;
    struct file *old_exe = p->exe;
    strlcpy(p->comm, base ? base + 1 : display, sizeof(p->comm));
    strlcpy(current->name, p->comm, sizeof(current->name));
    p->exe = file_get(exe);
    p->vm = vm;
    vm_activate(vm);
    proc_tell(p, PROC_EXECUTED, 0);
    spin_unlock(&proc_lock);
    file_put(old_exe);
    if (old_vm)
        vm_put(old_vm);
}

static void reset_thread(u64 entry, va_t sp)
{
    struct trapframe *tf = current->tf;
    memset(tf, 0, sizeof(*tf));
    tf->epc = entry;
    tf->sp = sp;
    tf->status = SSTATUS_SPIE | SSTATUS_FS_INIT;
    tf->syscall = ~0UL;
    memset(&current->fp, 0, sizeof(current->fp));
    irq_push_off();
    this_cpu()->fp_owner = NULL;
    fp_first();
    irq_pop_off();
    current->clear_tid = 0;
    robust_forget(current);
    altstack_disable(current);
}

/* Past the point of no return. */
static void commit(struct proc *p, struct vm *vm, struct image *img, struct exec_spares *mine,
                   const char *display, u64 entry, va_t sp)
{
    take_identity(p, vm, img->file, display);
    exec_leave_old(p, mine);
    reset_thread(entry, sp);
    vfork_release(p);
}

static int build_and_commit(struct image *img, const char *path, const char *display,
                            const struct exec_strings *s)
{
    va_t sp = 0;
    struct exec_spares mine = {0};
    struct vm *vm = vm_new();
    if (!vm)
        return -ENOMEM;
    int error = image_map(img, vm, USER_PIE_BASE);
    u64 interp_base = 0, entry = img->entry;
    if (!error)
        error = map_interp(img, vm, &interp_base, &entry);
    if (!error)
        error = stack_build(vm, s, img, interp_base, path, &sp);
    if (!error)
        error = exec_prepare(curproc, &mine);
    if (error) {
        exec_give_up(&mine);
        vm_put(vm);
        return error;
    }
    vm->brk_start = vm->brk = img->base ? USER_PIE_BASE + (1UL << 34) : img->end;
    commit(curproc, vm, img, &mine, display, entry, sp);
    return 0;
}

int exec_with(const char *path, struct exec_strings *s)
{
    char *real = kmalloc(PATH_LEN_MAX);
    if (!real)
        return -ENOMEM;
    strlcpy(real, path, PATH_LEN_MAX);
    struct image *img = kzalloc(sizeof(*img));
    int error = img ? find_image(real, img) : -ENOMEM;
    if (error == -ENOEXEC)
        error = script_follow(real, PATH_LEN_MAX, s, img);
    if (!error)
        error = build_and_commit(img, real, path, s);
    if (img)
        image_drop(img);
    kfree(img);
    kfree(real);
    return error;
}

int exec_load(const char *path, char *const *argv, char *const *envp)
{
    struct exec_strings s = {.bytes = kmalloc(ARG_BYTES_MAX)};
    int error = s.bytes ? 0 : -ENOMEM;
    for (; !error && argv[s.argc]; s.argc++)
        error = add_string(&s, argv[s.argc]);
    for (; !error && envp[s.envc]; s.envc++)
        error = add_string(&s, envp[s.envc]);
    if (!error)
        error = exec_with(path, &s);
    kfree(s.bytes);
    return error;
}
