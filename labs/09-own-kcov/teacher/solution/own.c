/* kcov: not instrumented: it would record itself */
/*
 * Coverage for programs, as OpenBSD's kcov(4) has it. The kernel calls the functions below; the
 * compiler calls the hooks. kernel/include/kcov.h says when.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "kcov.h"
#include "klib.h"
#include "lock.h"
#include "proc.h"
#include "vm.h"

/* One for each open of /dev/kcov. current->kcov.desc is that of the thread, or NULL. */
struct kcov_desc {
    int refs;              /* (lock) the open file, and the owner */
    struct vm_pages *area; /* (lock) NULL before the size is set; then constant */
    u64 words;             /* (lock) of the area */
    struct thread *owner;  /* (lock) records; NULL: nobody */
};

static struct spinlock lock = SPINLOCK_INIT("kcov");

#define KIOSETBUFSIZE 0x80084b01
#define KIOENABLE     0x80044b02
#define KIODISABLE    0x20004b03
#define WORDS_MAX     (1UL << 19)

/* Called at the beginning of every block of the kernel's code. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    struct kcov_thread *k = &current->kcov;
    struct kcov_desc *d = k->desc;

    if (!d || k->nest)
        return;
    volatile u64 *area = vm_pages_addr(d->area);
    u64 count = area[0]; /* the program may have written anything here */
    if (count >= d->words - 1)
        return;
    area[count + 1] = (u64)__builtin_return_address(0);
    area[0] = count + 1;
}

/* Called before every comparison; nothing to do in this lab. */
#define IGNORED(name)                                                                              \
    void __sanitizer_cov_##name(u64 a, u64 b);                                                     \
    void __sanitizer_cov_##name(u64 a, u64 b) {}
IGNORED(trace_cmp1)
IGNORED(trace_cmp2)
IGNORED(trace_cmp4)
IGNORED(trace_cmp8)
IGNORED(trace_const_cmp1)
IGNORED(trace_const_cmp2)
IGNORED(trace_const_cmp4)
IGNORED(trace_const_cmp8)
IGNORED(trace_switch)

/* Gives one reference back; needs the lock. The caller frees the descriptor if it is the last. */
static struct kcov_desc *drop(struct kcov_desc *d)
{
    return --d->refs ? NULL : d;
}

static void destroy(struct kcov_desc *d)
{
    if (!d)
        return;
    if (d->area)
        vm_pages_put(d->area);
    kfree(d);
}

static int own_open(struct inode *inode, struct file *file)
{
    struct kcov_desc *d = kzalloc(sizeof(*d));

    if (!d)
        return -ENOMEM;
    d->refs = 1;
    file->priv = d;
    return 0;
}

static void own_release(struct file *file)
{
    struct kcov_desc *d = file->priv;

    spin_lock(&lock);
    d = drop(d);
    spin_unlock(&lock);
    destroy(d);
}

static long set_size(struct kcov_desc *d, u64 words)
{
    struct vm_pages *area;
    bool taken;

    if (d->area)
        return -EBUSY;
    if (words < 1 || words > WORDS_MAX)
        return -EINVAL;
    area = vm_pages_new(ALIGN_UP(words * 8, PAGE_SIZE) >> PAGE_SHIFT);
    if (!area)
        return -ENOMEM;
    spin_lock(&lock);
    taken = d->area == NULL; /* another thread may have been faster */
    if (taken) {
        d->words = words;
        d->area = area;
    }
    spin_unlock(&lock);
    if (!taken)
        vm_pages_put(area);
    return taken ? 0 : -EBUSY;
}

static long enable(struct kcov_desc *d, u32 mode)
{
    long result = 0;

    spin_lock(&lock);
    if (current->kcov.desc)
        result = -EBUSY;
    else if (!d->area || d->owner)
        result = -ENXIO;
    else if (mode != 1)
        result = -EINVAL;
    if (!result) {
        d->owner = current;
        d->refs++;
        current->kcov.desc = d;
    }
    spin_unlock(&lock);
    return result;
}

/* The current thread no longer records; needs the lock. */
static struct kcov_desc *disown(struct kcov_desc *d)
{
    current->kcov.desc = NULL;
    d->owner = NULL;
    return drop(d);
}

static long disable(struct kcov_desc *d)
{
    long result = 0;

    spin_lock(&lock);
    if (d->owner != current)
        result = -EPERM;
    else
        disown(d); /* the open file has a reference: never the last one */
    spin_unlock(&lock);
    return result;
}

static long command(struct file *file, u32 cmd, void *data)
{
    switch (cmd) {
    case KIOSETBUFSIZE:
        return set_size(file->priv, *(u64 *)data);
    case KIOENABLE:
        return enable(file->priv, *(u32 *)data);
    case KIODISABLE:
        return disable(file->priv);
    default:
        return -ENOTTY;
    }
}

static long own_ioctl(struct file *file, u32 cmd, u64 arg)
{
    return ioctl_bsd(file, cmd, arg, command);
}

static int own_mmap(struct file *file, struct vma *vma)
{
    struct kcov_desc *d = file->priv;

    if (!d->area || vma->offset + (vma->end - vma->start) > ALIGN_UP(d->words * 8, PAGE_SIZE))
        return -EINVAL;
    vma->flags |= VMA_SHARED;
    return vm_map_pages(vma, d->area);
}

static const struct file_ops own_ops = {
    .open = own_open,
    .release = own_release,
    .ioctl = own_ioctl,
    .mmap = own_mmap,
};

/* Once, at boot. */
void kcov_init(void)
{
    devfs_register("kcov", &own_ops, 0600);
}

/* child begins to exist; parent may be NULL. */
void kcov_thread_start(struct thread *child, struct thread *parent)
{
    memset(&child->kcov, 0, sizeof(child->kcov));
}

/* t, the current thread, ends. Its files are still open. */
void kcov_thread_exit(struct thread *t)
{
    struct kcov_desc *last = NULL;

    spin_lock(&lock);
    if (t->kcov.desc)
        last = disown(t->kcov.desc);
    spin_unlock(&lock);
    destroy(last);
}

/* An interrupt begins and ends, on the stack of the current thread. They may nest. */
void kcov_irq_enter(void)
{
    current->kcov.nest++;
}
void kcov_irq_leave(void)
{
    current->kcov.nest--;
}

/* Nothing to do in this lab. */
void kcov_switch(struct thread *next) {}
void kcov_sched_enter(void) {}
void kcov_sched_leave(void) {}
void kcov_remote_enter(const struct work_origin *origin, bool softirq) {}
void kcov_remote_leave(void) {}
u64 kcov_common_handle(struct thread *t)
{
    return 0;
}
void kcov_remote_register(u64 subsystem, u64 id) {}
void kcov_remote_unregister(u64 subsystem, u64 id) {}
void kcov_section_enter(u64 subsystem, u64 id) {}
void kcov_section_leave(void) {}
void kcov_set_live(struct kcov_context *context);
void kcov_set_live(struct kcov_context *context) {}
