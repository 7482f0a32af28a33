/*
 * sysvshm.c: System V shared memory: shmget, shmat, shmdt, shmctl. A segment is a file of tmpfs
 * that is in no directory; each attachment opens it. Its areas in address spaces are counted when
 * they are made and unmapped (fork, munmap, exec, exit). A removed segment is freed with its last
 * area.
 *
 * Divergences: at most SEGMENTS_MAX segments, no huge pages, no /proc/sysvipc; the creator's group
 * loses its rights when IPC_SET gives the segment to another group.
 */
#include "abi/errno.h"
#include "opt/sysvshm/unmap.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "opt/memfd/seals.h"
#include "fs/open.h"
#include "proc.h"
#include "syscall.h"
#include "timeout.h"
#include "fs/tmpfs.h"
#include "vm.h"
#include "abi/mman.h"

#define SEGMENTS_MAX 128
#define INDEX_BITS   15 /* of an id: index in segments; above: a sequence number */

#define IPC_PRIVATE 0
#define IPC_CREAT   01000
#define IPC_EXCL    02000
#define SHM_HUGETLB 04000
#define SHM_DEST    01000 /* in the mode: removed, but still attached */
#define SHM_RDONLY  010000
#define SHM_RND     020000
#define SHM_REMAP   040000
#define SHM_EXEC    0100000

enum {
    IPC_RMID = 0,
    IPC_SET = 1,
    IPC_STAT = 2,
    IPC_INFO = 3,
    SHM_LOCK = 11,
    SHM_UNLOCK = 12,
    SHM_STAT = 13,
    SHM_INFO = 14,
    SHM_STAT_ANY = 15,
};

struct ipc_perm { /* ABI */
    i32 key;
    u32 uid, gid, cuid, cgid, mode;
    u16 seq, pad[3];
    u64 unused[2];
};
struct shmid_ds { /* ABI */
    struct ipc_perm perm;
    u64 size;
    i64 atime, dtime, ctime;
    i32 cpid, lpid;
    u64 nattch, unused[2];
};
_Static_assert(sizeof(struct shmid_ds) == 112, "shmid_ds is ABI");
struct shminfo { /* ABI */
    u64 max, min, mni, seg, all, unused[4];
};
struct shm_info { /* ABI */
    i32 used_ids;
    u64 total, resident, swapped, swap_attempts, swap_successes;
};

/* (shm_lock) Owner and mode are the inode's. */
struct segment {
    int id, key;
    u32 cuid, cgid;          /* the creator */
    i64 atime, dtime, ctime; /* seconds */
    int cpid, lpid;
    u64 attached;        /* areas, and shmat calls in progress */
    bool removed;        /* by IPC_RMID */
    struct inode *inode; /* one reference */
};

static struct segment *segments[SEGMENTS_MAX];              /* (shm_lock) */
static struct mutex shm_lock = MUTEX_INIT(shm_lock, "shm"); /* inside vm->lock */
static int sequence;

static i64 now_sec(void)
{
    return (i64)(time_wall_ns() / 1000000000);
}

static struct segment *find(int id)
{
    int index = id & ((1 << INDEX_BITS) - 1);
    struct segment *s = id >= 0 && index < SEGMENTS_MAX ? segments[index] : NULL;

    return s && s->id == id ? s : NULL;
}

static struct segment *find_key(int key)
{
    for (int i = 0; key != IPC_PRIVATE && i < SEGMENTS_MAX; i++)
        if (segments[i] && segments[i]->key == key)
            return segments[i];
    return NULL;
}

/* want: the bits of a mode, any of its three groups; the superuser has every right. */
static bool may(const struct segment *s, u32 want)
{
    u32 bits = (want >> 6 | want >> 3 | want) & 7;

    if (!curproc->euid)
        return true;
    if (curproc->euid == s->cuid)
        return !(bits & ~(s->inode->mode >> 6));
    return inode_access(s->inode, bits) == 0;
}

static bool owns(const struct segment *s)
{
    return !curproc->euid || curproc->euid == s->cuid || curproc->euid == s->inode->uid;
}

/* shm_lock held. Frees s; the caller drops the inode without the lock. */
static struct inode *take_out(struct segment *s)
{
    struct inode *inode = s->inode;

    BUG_NOTE_WATCHED(shmat_unpinned, s);
    segments[s->id & ((1 << INDEX_BITS) - 1)] = NULL;
    inode->dev_priv = NULL;
    kfree(s);
    return inode;
}

static void attach(struct segment *s)
{
    s->attached++;
}

/* shm_lock held. The inode to drop, if that was the last area of a removed segment. */
static struct inode *detach(struct segment *s)
{
    return --s->attached == 0 && s->removed ? take_out(s) : NULL;
}

static const struct vm_ops *cache_ops(const struct vma *vma)
{
    return vma->priv;
}

static void count_area(const struct file *file)
{
    struct segment *s = file->inode->dev_priv;

    mutex_lock(&shm_lock);
    attach(s);
    s->atime = now_sec();
    s->lpid = curproc->pid;
    mutex_unlock(&shm_lock);
}

static void area_open(struct vma *vma)
{
    count_area(vma->file);
    cache_ops(vma)->open(vma);
}

static void area_close(struct vma *vma)
{
    struct segment *s = vma->file->inode->dev_priv;
    struct inode *gone;

    cache_ops(vma)->close(vma);
    mutex_lock(&shm_lock);
    s->dtime = now_sec();
    s->lpid = curproc->pid;
    gone = detach(s);
    mutex_unlock(&shm_lock);
    inode_put(gone);
}

static int area_fault(struct vma *vma, u64 offset, u32 access, pa_t *pa)
{
    return cache_ops(vma)->fault(vma, offset, access, pa);
}

static const struct vm_ops area_ops = {area_open, area_close, area_fault};

/* The areas are the page cache's: priv keeps its operations, around which area_ops counts. */
static int shm_mmap(struct file *file, struct vma *vma)
{
    int err = page_cache_mmap(file, vma);

    if (err)
        return err;
    vma->priv = (void *)vma->ops;
    vma->ops = &area_ops;
    count_area(file);
    return 0;
}

static const struct file_ops shm_fops = {.mmap = shm_mmap};

static struct segment *make_segment(struct super *sb, int key, u64 size, u32 mode,
                                    struct segment **slot)
{
    struct segment *s = kzalloc(sizeof(*s));
    struct inode *inode;

    if (BUG(shmget_early_publish)) {
        *slot = s;
        mutex_unlock(&shm_lock);
    }
    inode = s ? tmpfs_inode(sb, S_IFREG | mode) : NULL;
    if (BUG(shmget_early_publish))
        mutex_lock(&shm_lock);
    if (!inode) {
        if (BUG(shmget_early_publish))
            *slot = NULL;
        kfree(s);
        return NULL;
    }
    inode->nlink = 0;
    inode->size = (i64)size;
    inode->uid = s->cuid = curproc->euid;
    inode->gid = s->cgid = curproc->egid;
    inode->fops = &shm_fops;
    inode->dev_priv = s;
    s->inode = inode;
    s->key = key;
    s->ctime = now_sec();
    s->cpid = curproc->pid;
    return s;
}

/* shm_lock held. */
static long add_segment(struct super *sb, int key, u64 size, u32 mode)
{
    int index = 0;
    struct segment *s;

    if (!size || size > 1UL << 62)
        return -EINVAL;
    if (size > pages_total_count() * PAGE_SIZE)
        return -ENOMEM;
    while (index < SEGMENTS_MAX && segments[index])
        index++;
    if (index == SEGMENTS_MAX)
        return -ENOSPC;
    s = sb ? make_segment(sb, key, size, mode, &segments[index]) : NULL;
    if (!s)
        return -ENOMEM;
    s->id = (sequence++ & 0x7fff) << INDEX_BITS | index;
    segments[index] = s;
    return s->id;
}

long sys_shmget(u64 key, u64 size, u64 flags)
{
    struct super *sb;
    struct segment *s;
    long id;

    if (flags & SHM_HUGETLB)
        return -EINVAL;
    sb = memfd_super(); /* takes fs_lock, which comes before shm_lock */
    mutex_lock(&shm_lock);
    s = find_key((int)key);
    if (!s)
        id = (int)key == IPC_PRIVATE || flags & IPC_CREAT
                 ? add_segment(sb, (int)key, size, (u32)flags & 0777)
                 : -ENOENT;
    else if (flags & IPC_CREAT && flags & IPC_EXCL)
        id = -EEXIST;
    else if (size > (u64)s->inode->size)
        id = -EINVAL;
    else
        id = may(s, (u32)flags & 0777) ? s->id : -EACCES;
    mutex_unlock(&shm_lock);
    return id;
}

/* Opens the file of an attachment. Counts the segment as attached, so that it is not freed. */
static long open_segment(int id, u64 flags, struct file **out)
{
    u32 want = 0444 | (flags & SHM_RDONLY ? 0 : 0222) | (flags & SHM_EXEC ? 0111 : 0);
    char name[32];
    struct segment *s;
    long err;

    mutex_lock(&shm_lock);
    s = find(id);
    err = !s ? -EINVAL : !may(s, want) ? -EACCES : 0;
    if (!err && !BUG(shmat_unpinned))
        attach(s);
    mutex_unlock(&shm_lock);
    if (err)
        return err;
    BUG_WATCH(shmat_unpinned, s);
    ksnprintf(name, sizeof(name), "/SYSV%08x (deleted)", s->key);
    err = file_open_path(&(struct path){NULL, s->inode}, flags & SHM_RDONLY ? O_RDONLY : O_RDWR,
                         name, out);
    if (err) {
        mutex_lock(&shm_lock);
        struct inode *gone = BUG(shmat_unpinned) ? NULL : detach(s);
        mutex_unlock(&shm_lock);
        inode_put(gone);
    }
    return err;
}

/* The end of open_segment's attachment: the areas keep the segment now. */
static void opened_enough(struct file *f)
{
    struct inode *gone;

    mutex_lock(&shm_lock);
    gone = BUG(shmat_unpinned) ? NULL : detach(f->inode->dev_priv);
    BUG_WATCH(shmat_unpinned, NULL);
    mutex_unlock(&shm_lock);
    inode_put(gone);
    file_put(f);
}

long sys_shmat(u64 id, u64 addr, u64 flags)
{
    u32 prot =
        PROT_READ | (flags & SHM_RDONLY ? 0 : PROT_WRITE) | (flags & SHM_EXEC ? PROT_EXEC : 0);
    u32 how = MAP_SHARED | (!addr ? 0 : flags & SHM_REMAP ? MAP_FIXED : MAP_FIXED_NOREPLACE);
    struct file *f;
    long at;

    if (addr & PAGE_MASK) {
        addr = ALIGN_DOWN(addr, PAGE_SIZE);
        if (!(flags & SHM_RND))
            return -EINVAL;
    }
    if ((int)id < 0 || (!addr && flags & SHM_REMAP))
        return -EINVAL;
    at = open_segment((int)id, flags, &f);
    if (at)
        return at;
    at = vm_mmap(curproc->vm, addr, (u64)f->inode->size, prot, how, f, 0);
    opened_enough(f);
    return at == -EEXIST ? -EINVAL : at;
}

/* One attachment: the areas of its file; the file's beginning is, or was, at addr. */
struct attachment {
    va_t addr;
    const struct file *file;
};

static bool is_of(const struct vma *vma, void *arg)
{
    struct attachment *a = arg;

    if (vma->ops != &area_ops || vma->start - vma->offset != a->addr)
        return false;
    if (!a->file)
        a->file = vma->file;
    return vma->file == a->file;
}

long sys_shmdt(u64 addr)
{
    struct attachment a = {addr, NULL};

    if (addr & PAGE_MASK)
        return -EINVAL;
    return vm_unmap_matching(curproc->vm, is_of, &a) ? 0 : -EINVAL;
}

static void describe(const struct segment *s, struct shmid_ds *ds)
{
    const struct inode *inode = s->inode;

    *ds = (struct shmid_ds){
        .perm = {s->key,
                 inode->uid,
                 inode->gid,
                 s->cuid,
                 s->cgid,
                 inode->mode & 0777,
                 (u16)(s->id >> INDEX_BITS),
                 {0},
                 {0}},
        .size = (u64)inode->size,
        .atime = s->atime,
        .dtime = s->dtime,
        .ctime = s->ctime,
        .cpid = s->cpid,
        .lpid = s->lpid,
        .nattch = s->attached,
    };
    if (s->removed)
        ds->perm.mode |= SHM_DEST;
}

/* IPC_STAT takes an id; SHM_STAT takes an index and returns the id. */
static long stat_segment(int which, u32 command, u64 addr)
{
    struct shmid_ds ds;
    struct segment *s;
    long result;

    mutex_lock(&shm_lock);
    if (command == IPC_STAT)
        s = find(which);
    else
        s = which >= 0 && which < SEGMENTS_MAX ? segments[which] : NULL;
    result = !s ? -EINVAL : command != SHM_STAT_ANY && !may(s, 0444) ? -EACCES : 0;
    if (!result) {
        describe(s, &ds);
        result = command == IPC_STAT ? 0 : s->id;
    }
    mutex_unlock(&shm_lock);
    return result >= 0 && copyout(addr, &ds, sizeof(ds)) ? -EFAULT : result;
}

static void change(struct segment *s, const struct shmid_ds *to)
{
    s->inode->uid = to->perm.uid;
    s->inode->gid = to->perm.gid;
    s->inode->mode = S_IFREG | (to->perm.mode & 0777);
    s->ctime = now_sec();
}

/* shm_lock held. */
static struct inode *remove(struct segment *s)
{
    s->removed = true;
    s->key = IPC_PRIVATE;
    return s->attached ? NULL : take_out(s);
}

static long change_segment(int id, u32 command, u64 addr)
{
    struct shmid_ds ds;
    struct inode *gone = NULL;
    struct segment *s;
    long err;

    if (command == IPC_SET && copyin(&ds, addr, sizeof(ds)))
        return -EFAULT;
    mutex_lock(&shm_lock);
    s = find(id);
    err = !s ? -EINVAL : !owns(s) ? -EPERM : 0;
    if (!err && command == IPC_SET)
        change(s, &ds);
    if (!err && command == IPC_RMID)
        gone = remove(s);
    mutex_unlock(&shm_lock);
    inode_put(gone);
    return err;
}

/* IPC_INFO and SHM_INFO; both return the highest index in use. */
static long tell_limits(u32 command, u64 addr)
{
    struct shminfo limits = {.max = pages_total_count() * PAGE_SIZE,
                             .min = 1,
                             .mni = SEGMENTS_MAX,
                             .seg = SEGMENTS_MAX,
                             .all = pages_total_count()};
    struct shm_info use = {0};
    long highest = 0;

    mutex_lock(&shm_lock);
    for (int i = 0; i < SEGMENTS_MAX; i++) {
        if (!segments[i])
            continue;
        highest = i;
        use.used_ids++;
        BUG_NOTE(shmget_early_publish, !segments[i]->inode);
        use.total += ALIGN_UP((u64)segments[i]->inode->size, PAGE_SIZE) / PAGE_SIZE;
        use.resident += page_cache_pages(segments[i]->inode);
    }
    mutex_unlock(&shm_lock);
    if (command == IPC_INFO ? copyout(addr, &limits, sizeof(limits))
                            : copyout(addr, &use, sizeof(use)))
        return -EFAULT;
    return highest;
}

long sys_shmctl(u64 id, u64 command, u64 addr)
{
    if ((int)id < 0)
        return -EINVAL;
    switch ((int)command) {
    case IPC_INFO:
    case SHM_INFO:
        return tell_limits((u32)command, addr);
    case IPC_STAT:
    case SHM_STAT:
    case SHM_STAT_ANY:
        return stat_segment((int)id, (u32)command, addr);
    case IPC_SET:
    case IPC_RMID:
    case SHM_LOCK: /* nothing is ever paged out */
    case SHM_UNLOCK:
        return change_segment((int)id, (u32)command, addr);
    default:
        return -EINVAL;
    }
}
