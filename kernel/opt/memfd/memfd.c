/*
 * memfd.c: memfd_create(2), files of a tmpfs without a name, and the seals of fcntl(2), by which a
 * process gives up operations on a file for good, so that others can rely on its contents.
 *
 * inode->seals says whether an inode can be sealed at all (SEALS_KNOWN) and which seals it has;
 * writing, truncating and mapping check it. Files of tmpfs start with SEAL_SEAL, as in Linux.
 */
#include "opt/memfd/seals.h"
#include "abi/fcntl.h"
#include "abi/errno.h"
#include "klib.h"
#include "fs/open.h"
#include "proc.h"
#include "syscall.h"
#include "fs/tmpfs.h"
#include "vm.h"

#define MFD_CLOEXEC       1
#define MFD_ALLOW_SEALING 2
#define MFD_NAME_MAX      249
#define F_ADD_SEALS       1033

/* True if a shared mapping of the file can be written, or made writable. */
static bool has_writable_mapping(struct inode *inode)
{
    struct vm_object *object = &inode->mapped;
    bool found = false;

    spin_lock(&object->lock);
    list_for_each(vma, &object->areas, struct vma, in_object)
        found |= vma->flags & VMA_SHARED && vma->max_prot & VM_WRITE;
    spin_unlock(&object->lock);
    return found;
}

static long add_seals(struct file *f, u32 seals)
{
    struct inode *inode = f->inode;
    long err = 0;
    u32 old;

    if (!(f->fflags & FF_WRITE))
        return -EPERM;
    if (seals & ~(u32)SEALS_ALL)
        return -EINVAL;
    mutex_lock(&inode->lock);
    old = inode->seals;
    if (old & SEAL_SEAL) {
        err = -EPERM;
    } else {
        atomic_or(&inode->seals, seals); /* first: mmap lists the area, then checks the seals */
        if (seals & SEAL_WRITE && !(old & SEAL_WRITE) && has_writable_mapping(inode)) {
            atomic_store(&inode->seals, old);
            err = -EBUSY;
        }
    }
    mutex_unlock(&inode->lock);
    return err;
}

long memfd_fcntl(struct file *f, int cmd, u64 arg)
{
    if (!(f->inode->seals & SEALS_KNOWN))
        return -EINVAL;
    return cmd == F_ADD_SEALS ? add_seals(f, (u32)arg) : (long)(f->inode->seals & SEALS_ALL);
}

void seals_init(struct inode *inode)
{
    inode->seals = S_ISREG(inode->mode) ? SEALS_KNOWN | SEAL_SEAL : 0;
}

int seals_allow_write(const struct inode *inode, i64 end)
{
    if (inode->seals & (SEAL_WRITE | SEAL_FUTURE_WRITE))
        return -EPERM;
    return inode->seals & SEAL_GROW && end > inode->size ? -EPERM : 0;
}

int seals_allow_size(const struct inode *inode, i64 size)
{
    u32 forbidden = size < inode->size ? SEAL_SHRINK : size > inode->size ? SEAL_GROW : 0;

    return inode->seals & forbidden ? -EPERM : 0;
}

int seals_allow_mapping(const struct inode *inode, struct vma *vma)
{
    if (!(vma->flags & VMA_SHARED) || !(inode->seals & (SEAL_WRITE | SEAL_FUTURE_WRITE)))
        return 0;
    vma->max_prot &= ~(u32)VM_WRITE;
    return vma->prot & VM_WRITE ? -EPERM : 0;
}

/* The file system of all memfds; never mounted. */
struct super *memfd_super(void)
{
    static struct super *sb;

    mutex_lock(&fs_lock);
    if (!sb)
        sb = tmpfs_super(TMPFS_MAGIC, 0700);
    mutex_unlock(&fs_lock);
    return sb;
}

static int new_memfd(const char *name, bool sealable, struct file **out)
{
    struct super *sb = memfd_super();
    struct inode *inode = sb ? tmpfs_inode(sb, S_IFREG | 0777) : NULL;
    char shown[MFD_NAME_MAX + 32];
    int err;

    if (!inode)
        return -ENOMEM;
    inode->nlink = 0;
    inode->seals = SEALS_KNOWN | (sealable ? 0 : SEAL_SEAL);
    inode->uid = curproc->euid;
    inode->gid = curproc->egid;
    ksnprintf(shown, sizeof(shown), "/memfd:%s (deleted)", name);
    err = file_open_path(&(struct path){NULL, inode}, O_RDWR | O_LARGEFILE, shown, out);
    if (!err) { /* as in Linux, a memfd may be executed while it is open for writing */
        atomic_sub(&inode->write_count, (*out)->write_claim);
        (*out)->write_claim = 0;
    }
    inode_put(inode);
    return err;
}

long sys_memfd_create(u64 name_addr, u64 flags)
{
    char name[MFD_NAME_MAX + 1];
    struct file *f;
    long err;

    if (flags & ~(u64)(MFD_CLOEXEC | MFD_ALLOW_SEALING))
        return -EINVAL;
    err = copyinstr(name, name_addr, sizeof(name));
    if (err < 0)
        return err == -ENAMETOOLONG ? -EINVAL : err;
    err = new_memfd(name, flags & MFD_ALLOW_SEALING, &f);
    return err ? err : fd_install(f, flags & MFD_CLOEXEC ? O_CLOEXEC : 0);
}
