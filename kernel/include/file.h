/*
 * file.h: open files, descriptor tables, and the operations of a character device.
 *
 * Three objects stand between a program and a device:
 *
 *     descriptor table (struct files)  number -> struct file, FD_CLOEXEC; shared by CLONE_FILES
 *     open file        (struct file)   one per open(2); shared by dup, fork and SCM_RIGHTS
 *     operations       (file_ops)      of the driver or the file system
 *
 * References to a struct file: every table slot, every mapping, every message in flight on a socket
 * and every system call that is using it holds one. release() runs when the last one goes; the BSDs
 * call this the last close.
 *
 * Everything here returns 0 or a positive result, or a negative errno.
 */
#pragma once

#include "types.h"
#include "list.h"
#include "lock.h"
#include "optional.h"

struct binding;
struct file;
struct inode;
struct mount;
struct vma;
struct poll_table;
struct watching;

/*
 * A walk over the memory of a read or write: the user's iovecs, or one kernel buffer. iter_put and
 * iter_get move up to n bytes, advance, and return the number moved; fewer than min(n, left) means
 * that user memory faulted, and the caller returns -EFAULT if nothing moved at all.
 */
struct iovec {
    u64 base;
    u64 len;
};

struct iter {
    const struct iovec *iov;
    u32 niov;
    u64 skip;         /* bytes of iov[0] that have moved already */
    u64 left;         /* bytes that can still move */
    bool kernel;      /* the bases are kernel addresses */
    struct iovec one; /* storage for the common case of a single piece */
};

void iter_user(struct iter *it, u64 user_addr, u64 n);
void iter_kernel(struct iter *it, void *buf, u64 n);
u64 iter_put(struct iter *it, const void *from, u64 n); /* towards the caller: read(2) */
u64 iter_get(struct iter *it, void *to, u64 n);         /* from the caller: write(2) */
u64 iter_zero(struct iter *it, u64 n);                  /* iter_put of zeros */

/*
 * Operations of an open file. A member may be 0; then read and write give -EINVAL, ioctl -ENOTTY,
 * mmap -ENODEV, fsync -EINVAL, poll says "always ready".
 */
struct file_ops {
    /*
     * Once per open(2), with a file that is not visible yet: file->priv belongs to this open alone
     * (OpenBSD's D_CLONE for every device). After a negative result release is not called.
     */
    int (*open)(struct inode *inode, struct file *file);
    void (*release)(struct file *file); /* the last reference is gone; may sleep */
    int (*flush)(struct file *file);    /* each close(2); its result is close's */
    i64 (*read)(struct file *file, struct iter *to, i64 *pos);
    i64 (*write)(struct file *file, struct iter *from, i64 *pos);
    long (*ioctl)(struct file *file, u32 cmd, u64 arg);    /* arg is the raw third argument */
    int (*mmap)(struct file *file, struct vma *vma);       /* see vm.h: refuse, or set vma->ops */
    u32 (*poll)(struct file *file, struct poll_table *pt); /* POLL* bits; see poll.h */
    i64 (*available)(struct file *file); /* bytes a read would find (kqueue); 0: unknown */
    i64 (*lseek)(struct file *file, i64 offset, int whence); /* 0: within the inode's size */
    int (*fsync)(struct file *file);
    struct watching *(*watching)(struct file *file); /* epoll, kqueue: see opt/watch/watch.h */
};

/* file->fflags */
enum {
    FF_READ = 1 << 0,
    FF_WRITE = 1 << 1,
    FF_STREAM = 1 << 2,        /* has no position: lseek, pread, pwrite give -ESPIPE */
    FF_NO_PASS = 1 << 3,       /* SCM_RIGHTS refuses it with -EINVAL (OpenBSD kcov, kqueue) */
    FF_NOT_INHERITED = 1 << 4, /* fork does not copy the descriptor (kqueue) */
    FF_PATH = 1 << 5,          /* opened with O_PATH */
    FF_NO_STAT = 1 << 6,       /* fstat gives -EOPNOTSUPP (NetBSD kcov) */
    FF_ANY_OFFSET = 1 << 7,    /* mmap passes every offset on, negative ones too (BSD devices) */
};

struct file {
    int refs;                   /* atomic */
    u32 oflags;                 /* O_* as F_GETFL shows them */
    u32 open_flags;             /* the flags of open(2), O_NOCTTY and O_CREAT included */
    u32 fflags;                 /* FF_* */
    i8 write_claim;             /* its contribution to inode->write_count: 1, -1 or 0 */
    i64 pos;                    /* (pos_lock) position of read, write, lseek, getdents64 */
    struct mutex pos_lock;      /* regular files and directories only */
    const struct file_ops *ops; /* constant after open */
    struct inode *inode;        /* one reference; every file has one */
    struct inode *dir;          /* one reference: the directory it was opened in, or 0 */
    struct mount *mnt;          /* one reference, or 0 (pipes, sockets) */
    char *path;                 /* absolute path when it was opened, or "pipe:[7]"; owned */
    void *priv;                 /* the driver's own */
    struct binding *binding;    /* one reference, or 0: not a node of dev_node (driver.h) */
    struct list watches;        /* (watch_mutex) see poll.h */
};

/* The file of a descriptor of the calling process with one more reference, or 0 (then -EBADF). */
struct file *fd_get_any(int fd); /* also with O_PATH: for calls that use the path only */
/* Not one that was opened with O_PATH; only opt/paths has these. */
OPTIONAL(CONFIG_PATHS, struct file *, fd_get, (int fd), fd_get_any(fd))
struct file *file_get(struct file *file); /* takes one more reference and returns file */
void file_put(struct file *file);         /* drops one; the last one releases */

#define POS_MAX 0x7fffffffffffffffL  /* the largest position of a file */
i64 seek_from(i64 base, i64 offset); /* their sum, or -EINVAL if it is no position: for lseek */

/* Between an offset and kernel memory, position untouched: exec, and the tests of drivers. */
i64 file_read_at(struct file *file, void *buf, u64 n, i64 offset);
i64 file_write_at(struct file *file, const void *buf, u64 n, i64 offset);

/*
 * A new file on an anonymous inode: pipe ends, sockets, eventfd, epoll, kqueue. name is shown in
 * /proc/self/fd as "name:[inode]". 0 when memory is out.
 */
struct file *file_anon(const char *name, u32 mode, const struct file_ops *ops, void *priv,
                       u32 oflags);

/* The same on an inode that exists: the second end of a pipe. */
struct file *file_on_inode(struct inode *inode, const char *name, const struct file_ops *ops,
                           void *priv, u32 oflags);

/* Descriptor tables. p->files of a process points to one. */
struct files;

struct files *files_new(void);
struct files *files_copy(struct files *files); /* fork: same open files; 0 when memory is out */
void files_put(struct files *files);           /* exit: the last reference closes everything */
/* An empty table with as many slots, for files_unshare(); 0 when memory is out. */
struct files *files_spare(const struct files *like);

/*
 * Puts a file at the lowest free number; O_CLOEXEC of oflags counts. Takes over the reference, also
 * on failure (-EMFILE, -ENOMEM).
 */
int fd_install(struct file *file, u32 oflags);
/* The same in two steps: reserve a number >= min, then install the file, or NULL. */
int fd_reserve(int min, bool cloexec);
void fd_fill(int fd, struct file *file);
int fd_close(int fd);
struct file *files_get(struct files *files, int fd); /* with a reference, or 0 */

/*
 * Current directory, root and umask of a process (CLONE_FS).
 */
struct fsctx;

extern struct fsctx kernel_fs; /* at "/" with umask 022 */
OPTIONAL(CONFIG_DIRECTORIES, struct fsctx *, fsctx_share, (struct fsctx *fs), fs)
OPTIONAL(CONFIG_DIRECTORIES, struct fsctx *, fsctx_copy, (struct fsctx *fs), fs)
OPTIONAL(CONFIG_DIRECTORIES, void, fsctx_put, (struct fsctx *fs))

/*
 * Opens a path for the kernel itself or for exec. flags as open(2). On success *out holds one
 * reference. path is a kernel string; relative paths start at the current directory.
 */
int vfs_open(const char *path, u32 flags, u32 mode, struct file **out);

/*
 * Character devices. The node appears at once in every mounted devfs (debugfs); mode is the
 * permission bits. A name contains no '/'; registering it twice is -EEXIST. open() finds priv in
 * inode->dev_priv and in file->priv, where it stays unless open() changes it.
 */
int devfs_register(const char *name, const struct file_ops *ops, u32 mode);
int devfs_register_dev(const char *name, const struct file_ops *ops, u32 mode, u64 rdev,
                       void *priv);
int debugfs_register(const char *name, const struct file_ops *ops, u32 mode, void *priv);

/*
 * The generic layer of a BSD ioctl, for drivers with BSD commands:
 *
 *     static long drv_ioctl(struct file *f, u32 cmd, u64 arg)
 *     {
 *         return ioctl_bsd(f, cmd, arg, drv_ioctl_bsd);
 *     }
 *
 * By the bits of cmd, before drv runs: IN copies the encoded size from user memory (-EFAULT), OUT
 * alone zeroes it, VOID with size 4 stores the argument as an int (FreeBSD _IOWINT); drv gets a
 * pointer to that copy, or to the raw argument when the size is 0. OUT copies back on success.
 * ioctl_linux_encoded does the same for commands as Linux encodes them (programs built with glibc's
 * own _IOW): direction in bits 31:30, size in 29:16. Sizes over 4096 give -ENOTTY.
 */
enum {
    BSD_IOC_OUT = 0x40000000,
    BSD_IOC_IN = 0x80000000,
};
typedef long (*ioctl_data_fn)(struct file *file, u32 cmd, void *data);
long ioctl_bsd(struct file *file, u32 cmd, u64 arg, ioctl_data_fn drv);
long ioctl_linux_encoded(struct file *file, u32 cmd, u64 arg, ioctl_data_fn drv);
