/*
 * Reverse mapping: from an object to the address spaces that map it, so that truncating a file can
 * unmap its pages everywhere: an access beyond the new end faults again, and is then a SIGBUS.
 *
 * An object lists its areas. Revoking needs each vm->lock, which comes before the list's spinlock,
 * so it works in rounds: find an area without this round's mark, take a reference to its address
 * space, lock that, unmap, mark all its areas, search again. A copy of an area (fork, split,
 * mremap) joins the list after its original and inherits the mark under the original's vm->lock.
 * So a search finds the parent before a child under construction, and locking the parent waits
 * until the child is complete.
 */
#include "klib.h"
#include "fs.h"
#include "mm/internal.h"

void vm_object_init(struct inode *inode)
{
    struct vm_object *object = &inode->mapped;
    spin_init(&object->lock, "object");
    list_init(&object->areas);
}

void vm_object_add(struct vma *vma, struct inode *inode)
{
    struct vm_object *object = &inode->mapped;
    vma->object = object;
    list_init(&vma->in_object);
    spin_lock(&object->lock);
    list_push_back(&object->areas, &vma->in_object);
    spin_unlock(&object->lock);
}

void vm_object_remove(struct vma *vma)
{
    struct vm_object *object = vma->object;
    spin_lock(&object->lock);
    list_remove(&vma->in_object);
    spin_unlock(&object->lock);
}

static bool vm_get_alive(struct vm *vm)
{
    int refs = atomic_load(&vm->refs);
    while (refs > 0)
        if (__atomic_compare_exchange_n(&vm->refs, &refs, refs + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return true;
    return false;
}

/* For callers that hold locks: a kernel thread destroys vm after the last reference. */
static void vm_put_later(struct vm *vm)
{
    if (atomic_sub(&vm->refs, 1) != 0)
        return;
    task_init(&vm->reaper, vm_destroy, vm);
    task_add(reaper_taskq, &vm->reaper);
}

/*
 * The address space of an area without the mark of this round, with a reference; NULL when all are
 * marked. An address space without references runs no program and drops its pages itself.
 */
static struct vm *next_vm(struct vm_object *object, u64 round)
{
    struct vm *vm = NULL;
    spin_lock(&object->lock);
    list_for_each(vma, &object->areas, struct vma, in_object) {
        if (vma->revoked == round)
            continue;
        if (vm_get_alive(vma->vm)) {
            vm = vma->vm;
            break;
        }
        vma->revoked = round;
    }
    spin_unlock(&object->lock);
    return vm;
}

/* Unmaps the part of an area that maps object bytes from..to, which are page-aligned. */
static void unmap_part(struct vma *vma, u64 from, u64 to)
{
    u64 end = vma->offset + (vma->end - vma->start);
    u64 first = MAX(from, vma->offset), last = MIN(to, end);
    if (first < last)
        pt_unmap(vma->vm, vma->start + (first - vma->offset), vma->start + (last - vma->offset));
}

static void revoke_in(struct vm *vm, struct vm_object *object, u64 from, u64 to, u64 round)
{
    mutex_lock(&vm->lock);
    list_for_each(vma, &vm->areas, struct vma, link) {
        if (vma->object != object)
            continue;
        unmap_part(vma, from, to);
        spin_lock(&object->lock);
        vma->revoked = round;
        spin_unlock(&object->lock);
    }
    mutex_unlock(&vm->lock);
}

void vm_object_revoke(struct inode *inode, u64 from, u64 to)
{
    struct vm_object *object = &inode->mapped;
    struct vm *vm;
    u64 round = ++object->round;
    while ((vm = next_vm(object, round))) {
        revoke_in(vm, object, from, to, round);
        vm_put_later(vm);
    }
}
