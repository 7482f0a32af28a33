/*
 * execve(2). The new address space is built, and memory for private tables is allocated, before the
 * sibling threads are ended: an error leaves the caller as it was. Scripts ("#!") run their
 * interpreter, up to four deep.
 */
#include "abi/errno.h"
#include "abi/mman.h"
#include "abi/sched.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "proc.h"
#include "proc/exec.h"
#include "proc/internal.h"
#include "riscv.h"
#include "syscall.h"

#define SCRIPT_DEPTH_MAX 4
#define INTERP_BASE      0x2000000000UL

static int open_program(const char *path, struct file **out)
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

/* Puts n bytes of new strings in front and drops the first old one (a script's argv[0]). */
static int replace_argv0(struct exec_strings *s, const char *front, size_t n, u32 added)
{
    size_t first = s->argc ? strlen(s->bytes) + 1 : 0;
    if (s->used - first + n > ARG_BYTES_MAX)
        return -E2BIG;
    memmove(s->bytes + n, s->bytes + first, s->used - first);
    memcpy(s->bytes, front, n);
    s->used = s->used - first + n;
    s->argc = s->argc - (s->argc ? 1 : 0) + added;
    return 0;
}

/* Reads "#! interpreter [argument]": path becomes the interpreter, and the script an argument. */
static int script_parse(struct file *file, char *path, size_t path_size, struct exec_strings *s)
{
    char line[256];
    i64 n = file_read_at(file, line, sizeof(line) - 1, 0);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return -ENOEXEC;
    line[n] = 0;
    char *end = strchr(line, '\n');
    if (!end)
        return -ENOEXEC;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n'))
        end--;
    *end = 0;
    char *name = line + 2;
    while (*name == ' ' || *name == '\t')
        name++;
    char *arg = name;
    while (*arg && *arg != ' ' && *arg != '\t')
        arg++;
    if (*arg)
        *arg++ = 0;
    while (*arg == ' ' || *arg == '\t')
        arg++;
    if (!*name)
        return -ENOEXEC;
    char front[sizeof(line) + 512];
    size_t used = strlcpy(front, name, sizeof(line)) + 1;
    if (*arg)
        used += strlcpy(front + used, arg, sizeof(line)) + 1;
    size_t script_len = strlen(path) + 1;
    if (used + script_len > sizeof(front))
        return -E2BIG;
    memcpy(front + used, path, script_len);
    used += script_len;
    strlcpy(path, name, path_size);
    return replace_argv0(s, front, used, *arg ? 3 : 2);
}

/* Opens path, following scripts, and reads the headers of the program. */
static int find_image(char *path, size_t path_size, struct exec_strings *s, struct image *img)
{
    for (int depth = 0; depth <= SCRIPT_DEPTH_MAX; depth++) {
        struct file *file;
        int error = open_program(path, &file);
        if (error)
            return error;
        error = image_read(file, img);
        if (error != -ENOEXEC)
            return error;
        error = script_parse(file, path, path_size, s);
        image_drop(img);
        if (error)
            return error;
    }
    return -ELOOP;
}

/* Maps the dynamic loader, if the program asks for one; *entry is where execution starts. */
static int map_interp(const struct image *program, struct vm *vm, u64 *base, u64 *entry)
{
    *base = 0;
    *entry = program->entry;
    if (!program->interp[0])
        return 0;
    struct file *file;
    struct image loader;
    int error = open_program(program->interp, &file);
    if (error)
        return error;
    error = image_read(file, &loader);
    if (!error)
        error = image_map(&loader, vm, INTERP_BASE);
    *base = loader.base;
    *entry = loader.entry;
    image_drop(&loader);
    return error;
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

/* /proc reads these fields under proc_lock; the old references are dropped outside of it. */
static void take_identity(struct proc *p, struct vm *vm, struct file *exe, const char *path,
                          const char *display)
{
    const char *base = strrchr(display, '/');
    char *old_path = p->exe_path, *new_path = kstrdup(path);
    spin_lock(&proc_lock);
    struct vm *old_vm = p->vm;
    struct file *old_exe = p->exe;
    strlcpy(p->comm, base ? base + 1 : display, sizeof(p->comm));
    strlcpy(current->name, p->comm, sizeof(current->name));
    p->exe_path = new_path;
    p->exe = file_get(exe);
    p->vm = vm;
    vm_activate(vm);
    proc_tell(p, PROC_EXECUTED, 0);
    spin_unlock(&proc_lock);
    kfree(old_path);
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
    current->robust_list = 0;
    current->altstack = (struct sigaltstack){.flags = SS_DISABLE};
}

/*
 * Memory for private copies of the tables that CLONE_FILES and CLONE_SIGHAND share. A sibling may
 * share them until it is ended, so the memory is always allocated.
 */
struct spares {
    struct files *files;
    struct sigactions *sigacts;
};

static int spares_alloc(struct proc *p, struct spares *mine)
{
    mine->files = files_spare(p->files);
    mine->sigacts = sigacts_new();
    return mine->files && mine->sigacts ? 0 : -ENOMEM;
}

static void spares_free(struct spares *mine)
{
    files_put(mine->files);
    sigacts_put(mine->sigacts);
}

/*
 * Past the point of no return. One allocation is left: another process may have made the shared
 * descriptor table larger since the spare was allocated. Without memory for it the process is
 * killed, because it can neither go back nor close the other's descriptors.
 */
static void commit(struct proc *p, struct vm *vm, struct image *img, struct spares *mine,
                   const char *path, const char *display, u64 entry, va_t sp)
{
    take_identity(p, vm, img->file, path, display);
    if (files_unshare(&p->files, mine->files))
        signal_send_proc(p, SIGKILL, NULL);
    else
        files_close_on_exec(p->files);
    sigacts_exec(p, mine->sigacts);
    posix_timers_delete(p);
    p->execed = true;
    reset_thread(entry, sp);
    vfork_release(p);
}

static int build_and_commit(struct image *img, const char *path, const char *display,
                            const struct exec_strings *s)
{
    u64 interp_base, entry;
    va_t sp = 0;
    struct spares mine = {0};
    struct vm *vm = vm_new();
    if (!vm)
        return -ENOMEM;
    int error = image_map(img, vm, USER_PIE_BASE);
    if (!error)
        error = map_interp(img, vm, &interp_base, &entry);
    if (!error)
        error = stack_build(vm, s, img, interp_base, path, &sp);
    if (!error)
        error = spares_alloc(curproc, &mine);
    if (!error)
        error = become_single(curproc);
    if (error) {
        spares_free(&mine);
        vm_put(vm);
        return error;
    }
    vm->brk_start = vm->brk = img->base ? USER_PIE_BASE + (1UL << 34) : img->end;
    commit(curproc, vm, img, &mine, path, display, entry, sp);
    return 0;
}

static int exec_with(const char *path, struct exec_strings *s)
{
    char *real = kmalloc(PATH_LEN_MAX);
    if (!real)
        return -ENOMEM;
    strlcpy(real, path, PATH_LEN_MAX);
    struct image *img = kzalloc(sizeof(*img));
    int error = img ? find_image(real, PATH_LEN_MAX, s, img) : -ENOMEM;
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

#define AT_FDCWD      (-100)
#define AT_EMPTY_PATH 0x1000

/*
 * Copies the path in; one relative to a descriptor goes through that descriptor's link in /proc.
 */
static long exec_path(int dirfd, va_t addr, bool may_be_empty, char *path)
{
    char name[64];
    long n = copyinstr(path, addr, PATH_LEN_MAX);
    if (n < 0)
        return n;
    if (n == 0 && !may_be_empty)
        return -ENOENT;
    if (path[0] == '/' || dirfd == AT_FDCWD)
        return 0;
    struct file *file = fd_get_any(dirfd);
    if (!file)
        return -EBADF;
    file_put(file);
    size_t front = (size_t)ksnprintf(name, sizeof(name), "/proc/self/fd/%d%s", dirfd, n ? "/" : "");
    if (front + (size_t)n + 1 > PATH_LEN_MAX)
        return -ENAMETOOLONG;
    memmove(path + front, path, (size_t)n + 1);
    memcpy(path, name, front);
    return 0;
}

long sys_execveat(u64 dirfd, u64 path_addr, u64 argv, u64 envp, u64 flags)
{
    if (flags & ~(u64)AT_EMPTY_PATH)
        return -EINVAL;
    char *path = kmalloc(PATH_LEN_MAX);
    struct exec_strings s = {.bytes = kmalloc(ARG_BYTES_MAX)};
    long error = -ENOMEM;
    if (path && s.bytes)
        error = exec_path((int)dirfd, path_addr, flags & AT_EMPTY_PATH, path);
    if (error == 0)
        error = add_user_strings(&s, argv, &s.argc);
    if (error == 0)
        error = add_user_strings(&s, envp, &s.envc);
    if (error == 0)
        error = exec_with(path, &s);
    kfree(s.bytes);
    kfree(path);
    return error;
}

long sys_execve(u64 path_addr, u64 argv, u64 envp)
{
    return sys_execveat((u64)AT_FDCWD, path_addr, argv, envp, 0);
}
