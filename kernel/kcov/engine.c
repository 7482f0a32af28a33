/* kcov: not instrumented: part of the kcov driver */
/*
 * Descriptors: ownership and lifetime. A dialect's checks decide which commands are allowed; this
 * file has the code that all dialects share.
 *
 * References to a descriptor: the open file, the thread that enabled it, and on Linux every open
 * remote section. The code that drops the last one frees it after leaving kcov_lock.
 */
#include "engine.h"
#include "alloc.h"

#ifdef CONFIG_KCOV

struct spinlock kcov_lock = SPINLOCK_INIT("kcov");
struct waitq kcov_drained = WAITQ_INIT(kcov_drained);
static u64 opens; /* (k) numbers descriptors, for reports */

int kcov_open(struct inode *inode, struct file *file)
{
    struct kcov_desc *desc = kzalloc(sizeof(*desc));

    if (!desc)
        return -ENOMEM;
    desc->refs = 1;
    desc->ctx.flags = kcov_dialect.ctx_flags;
    desc->ctx.syscall = ~0U;
    file->priv = desc;
    file->fflags |= kcov_dialect.file_flags;
    spin_lock(&kcov_lock);
    desc->ctx.descriptor = ++opens;
    spin_unlock(&kcov_lock);
    return 0;
}

void kcov_desc_free(struct kcov_desc *desc)
{
    if (!desc)
        return;
    vm_pages_put(desc->area);
    vm_pages_put(desc->edge_area);
    vm_pages_put(desc->seen);
    vm_pages_put(desc->edge_seen);
    kfree(desc);
}

struct kcov_desc *kcov_desc_drop(struct kcov_desc *desc)
{
    return --desc->refs ? NULL : desc;
}

/* The last close. The dialect decides whether recording stops now or goes on until owner exit. */
void kcov_release(struct file *file)
{
    struct kcov_desc *desc = file->priv;

    spin_lock(&kcov_lock);
    desc->closed = true;
    if (kcov_dialect.close_stops) {
        /* The device first: its listeners must see the point where recording ended. */
        if (current->kcov.live == &desc->ctx)
            kcov_set_live(NULL);
        desc->ctx.mode = 0;
    }
    desc = kcov_desc_drop(desc);
    spin_unlock(&kcov_lock);
    kcov_desc_free(desc);
}

/* Linux allocates the area before it checks the state, so -ENOMEM comes before -EBUSY. */
static long size_allowed(struct kcov_desc *desc, u64 words)
{
    spin_lock(&kcov_lock);
    long result = kcov_dialect.may_size(desc, words);
    spin_unlock(&kcov_lock);
    return result == -EBUSY && kcov_dialect.allocates_first ? 0 : result;
}

long kcov_set_size(struct kcov_desc *desc, u64 words)
{
    long result = size_allowed(desc, words);

    if (result)
        return result;
    struct vm_pages *area = words <= KCOV_AREA_WORDS_MAX ? kcov_area_new(words) : NULL;
    if (!area)
        return -ENOMEM;
    spin_lock(&kcov_lock);
    result = kcov_dialect.may_size(desc, words); /* the state may have changed */
    if (!result) {
        desc->area = area;
        desc->words = words;
        desc->state = KCOV_READY;
        desc->ctx.area = area->pa;
        desc->ctx.words = words;
    }
    spin_unlock(&kcov_lock);
    if (result)
        vm_pages_put(area);
    return result;
}

/* The current thread becomes the owner and records from here on. (k) */
void kcov_own(struct kcov_desc *desc, u32 record)
{
    struct kcov_context *ctx = &desc->ctx;

    ctx->tid = (u32)current->tid;
    ctx->pid = (u32)curproc->pid;
    ctx->syscall = current->tf ? (u32)current->tf->syscall : ~0U;
    ctx->mode = record;
    desc->state = KCOV_TRACE;
    desc->owner = current;
    desc->refs++;
    current->kcov.desc = desc;
    kcov_set_live(ctx);
}

/*
 * The current thread, the owner, gives desc up: any thread may then enable a descriptor that is
 * still open. Returns the descriptor if the caller must free it. (k)
 */
struct kcov_desc *kcov_disown(struct kcov_desc *desc)
{
    if (current->kcov.live == &desc->ctx)
        kcov_set_live(NULL);
    desc->ctx.mode = 0;
    desc->ctx.syscall = ~0U;
    desc->state = KCOV_READY;
    desc->owner = NULL;
    current->kcov.desc = NULL;
    return kcov_desc_drop(desc);
}

long kcov_enable(struct kcov_desc *desc, u64 mode)
{
    u32 record;

    spin_lock(&kcov_lock);
    long result = kcov_dialect.may_enable(desc, mode, &record);
    if (!result)
        kcov_own(desc, record);
    spin_unlock(&kcov_lock);
    return result;
}

long kcov_disable(struct kcov_desc *desc, u64 value)
{
    spin_lock(&kcov_lock);
    long result = kcov_dialect.may_disable(desc, value);
    if (!result)
        kcov_disown(desc); /* the file holds a reference: never the last one */
    spin_unlock(&kcov_lock);
    return result;
}

/* The child records nothing: it inherits the open file, the mapping and the common handle only. */
void kcov_thread_start(struct thread *child, struct thread *parent)
{
    memset(&child->kcov, 0, sizeof(child->kcov));
    if (parent)
        child->kcov.common_handle = parent->kcov.common_handle;
}

/* Runs before the descriptors close: other threads may use one that stays open. */
void kcov_thread_exit(struct thread *t)
{
    struct kcov_desc *local = NULL, *remote = t->kcov.remote_desc;

    kcov_set_live(NULL);
    kcov_section_leave();
    spin_lock(&kcov_lock);
    if (remote) {
        kcov_dialect.on_owner_exit(remote);
        remote = kcov_desc_drop(remote);
    }
    if (t->kcov.desc)
        local = kcov_disown(t->kcov.desc);
    spin_unlock(&kcov_lock);
    kcov_desc_free(local);
    kcov_desc_free(remote);
}
#endif
