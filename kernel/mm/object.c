/*
 * From an object back to the address spaces that map it, so that a truncated file can take its
 * pages away from everybody: an access behind the new end faults again, and is then a SIGBUS.
 *
 * An object lists its areas. Revoking needs each vm->lock, which is taken before the list's
 * spinlock, so it goes round: pick an area that is not done, hold its address space, lock it,
 * unmap, mark all its areas done, look again. A copy of an area (fork, split, mremap) joins the
 * list behind its original and inherits the mark under the original's vm->lock; a child under
 * construction is therefore never reached before its parent, and the parent not before the child is
 * complete.
 */
#include "alloc.h"
#include "klib.h"
#include "mm/internal.h"

void vm_object_init(struct vm_object *object)
{
    spin_init(&object->lock, "object");
    list_init(&object->areas);
}

void vm_object_add(struct vma *vma, struct vm_object *object)
{
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

/*
 * The address space of an area that round has not seen, with a reference; NULL when all are done.
 * One that is going away runs no program and drops its pages itself.
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

/* The part of an area that shows object bytes from..to, which are page-aligned. */
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

void vm_object_revoke(struct vm_object *object, u64 from, u64 to)
{
    struct vm *vm;
    u64 round = ++object->round;
    while ((vm = next_vm(object, round))) {
        revoke_in(vm, object, from, to, round);
        vm_put_later(vm);
    }
}
