/*
 * process_vm.c: process_vm_readv and process_vm_writev copy bytes between two address spaces.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "fs/open.h"
#include "file.h"
#include "memlayout.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"
#include "opt/vmaccess/vmaccess.h"

/* The other address space with one reference. Only root may access those of other users. */
static long find_vm(u64 pid, struct vm **vm)
{
    long err = -ESRCH;
    struct thread *t;

    spin_lock(&proc_lock);
    t = thread_find((int)pid);
    if (t && t->proc->vm) {
        err = curproc->euid && curproc->euid != t->proc->uid ? -EPERM : 0;
        if (!err)
            vm_get(*vm = t->proc->vm);
    }
    spin_unlock(&proc_lock);
    return err;
}

/* One remote piece, page by page, so that bytes in front of a missing page do move. */
static long move_piece(struct vm *vm, u64 remote, u64 n, struct iter *local, char *page, bool write)
{
    long done = 0, err = 0;

    while (n && local->left && !err) {
        u64 chunk = MIN(MIN(n, local->left), PAGE_SIZE - (remote & PAGE_MASK)), moved = 0;

        if (write) {
            moved = iter_get(local, page, chunk);
            err = moved ? vm_write(vm, remote, page, moved) : -EFAULT;
        } else {
            err = vm_read(vm, page, remote, chunk);
            moved = err ? 0 : iter_put(local, page, chunk);
        }
        if (err)
            break;
        done += (long)moved;
        remote += moved;
        n -= moved;
        if (moved < chunk)
            err = -EFAULT;
    }
    return done ? done : err;
}

static long move_all(struct vm *vm, const struct iovec *remote, u64 count, struct iter *local,
                     bool write)
{
    char *page = kmalloc(PAGE_SIZE);
    long done = 0, n = page ? 0 : -ENOMEM;

    for (u64 i = 0; i < count && n >= 0 && local->left; i++) {
        n = move_piece(vm, remote[i].base, remote[i].len, local, page, write);
        if (n > 0)
            done += n;
        if (n >= 0 && (u64)n < remote[i].len)
            break;
    }
    kfree(page);
    return done ? done : n;
}

static long process_vm(u64 pid, u64 lvec, u64 lcount, u64 rvec, u64 rcount, u64 flags, bool write)
{
    struct iovec *lstore = NULL, *rstore = NULL;
    struct iter local, remote;
    struct vm *vm;
    long n = flags ? -EINVAL : iter_from_user_iov(&local, lvec, lcount, &lstore);

    if (!n)
        n = iter_from_user_iov(&remote, rvec, rcount, &rstore);
    if (!n)
        n = find_vm(pid, &vm);
    if (!n) {
        n = move_all(vm, rstore, rcount, &local, write);
        vm_put(vm);
    }
    kfree(lstore);
    kfree(rstore);
    return n;
}

long sys_process_vm_readv(u64 pid, u64 lvec, u64 lcount, u64 rvec, u64 rcount, u64 flags)
{
    return process_vm(pid, lvec, lcount, rvec, rcount, flags, false);
}

long sys_process_vm_writev(u64 pid, u64 lvec, u64 lcount, u64 rvec, u64 rcount, u64 flags)
{
    return process_vm(pid, lvec, lcount, rvec, rcount, flags, true);
}
