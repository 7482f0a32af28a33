/*
 * fs.h: inodes, file systems, mounts and path walking.
 *
 * There is no name cache: a directory inode answers lookup itself. A place in the tree is a pair
 * (mount, inode). Inodes are counted; a file system may keep inodes alive by holding a reference of
 * its own (tmpfs: one for being linked), or drop them in evict (minfs reads them again).
 *
 * Lock order: fs_lock (a mutex for the whole namespace: lookup, create, unlink, rename, mounts),
 * inode->lock (a mutex: contents and size of one file), the page cache's spinlock. Inode operations
 * marked (n) run under fs_lock, those marked (i) under the inode's lock.
 */
#pragma once

#include "types.h"
#include "abi/errno.h"
#include "lock.h"
#include "wait.h"
#include "file.h"
#include "poll.h"
#include "vm.h"
#include "optional.h"

#define NAME_LEN_MAX 255
#define PATH_LEN_MAX 4096

#define S_IFMT     0170000
#define S_IFLNK    0120000
#define S_IFREG    0100000
#define S_IFBLK    0060000
#define S_IFDIR    0040000
#define S_IFCHR    0020000
#define S_IFIFO    0010000
#define S_ISDIR(m) (((m) & S_IFMT) == S_IFDIR)
#define S_ISREG(m) (((m) & S_IFMT) == S_IFREG)
#define S_ISLNK(m) (((m) & S_IFMT) == S_IFLNK)

#define O_ACCMODE   00000003
#define O_RDONLY    00000000
#define O_WRONLY    00000001
#define O_RDWR      00000002
#define O_CREAT     00000100
#define O_EXCL      00000200
#define O_NOCTTY    00000400
#define O_TRUNC     00001000
#define O_APPEND    00002000
#define O_NONBLOCK  00004000
#define O_DIRECT    00040000
#define O_DIRECTORY 00200000
#define O_NOATIME   01000000
#define O_CLOEXEC   02000000
#define O_REGULAR                                                                                  \
    0x80000000u /* only within the kernel: a regular file (-EACCES), to be executed                \
                 */

#define AT_FDCWD            (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_EMPTY_PATH       0x1000

#define MKDEV(major, minor) ((u64)(major) << 8 | (minor)) /* minors below 256 are all we have */

struct super;
struct page_cache;
struct dir_sink;
struct xattrs;

struct timespec64 {
    i64 sec;
    i64 nsec;
};

struct inode_ops {
    /* (n) *out gets one reference; -ENOENT. Never called for "." and "..". */
    int (*lookup)(struct inode *dir, const char *name, struct inode **out);
    struct inode *(*parent)(struct inode *dir); /* (n) "..", one reference */
    /* (n) a new node of the type in mode; rdev for devices; *out gets one reference */
    int (*create)(struct inode *dir, const char *name, u32 mode, u64 rdev, struct inode **out);
    /* (n) rmdir when want_dir; the caller has looked the name up and checked its type */
    int (*unlink)(struct inode *dir, const char *name, struct inode *inode);
    int (*truncate)(struct inode *inode, i64 size); /* (i) */
    void (*evict)(struct inode *inode); /* last reference gone: write back, free private parts */
#include "config.inode_ops"             /* of options: inode_ops.def */
};

struct inode {
    int refs; /* atomic */
    u64 ino;
    u32 mode;  /* type and permissions */
    u32 nlink; /* (fs_lock) */
    u32 uid, gid;
    u64 rdev;
    i64 size; /* (lock) */
    struct timespec64 atime, mtime, ctime;
    struct super *sb;
    const struct inode_ops *ops;
    const struct file_ops *fops; /* the operations of its open files */
    struct mutex lock;
    struct page_cache *pages; /* regular files; created on first use */
    struct list watches;      /* (notify_lock) see opt/notify/notify.h */
    void *priv;               /* the file system's */
    void *dev_priv;           /* device nodes: priv of devfs_register_dev */
    void *bound;              /* AF_UNIX socket bound here, or the pipe of a FIFO */
    int write_count;          /* atomic: files open for writing, or minus those being executed */
    bool dirty;
#include "config.inode" /* of options: inode.def */
};

/* The limit of a resource, and its use. Atomic; used exceeds max only if max was set later. */
struct budget {
    u64 used, max; /* max 0: no limit */
};
/* False: n would exceed the limit. */
OPTIONAL(CONFIG_MOUNTS, bool, budget_take, (struct budget *b, u64 n), true)
OPTIONAL(CONFIG_MOUNTS, void, budget_give, (struct budget *b, u64 n))

struct super {                   /* of a file system */
    int refs;                    /* mounts */
    const struct super_ops *ops; /* of opt/mounts */
    struct inode *root;
    u64 dev; /* st_dev */
    u32 magic;
    u64 next_ino;
    struct budget pages, inodes; /* of a file system in memory */
#include "config.super"          /* of options: super.def */
};

/* A place in the tree; its creator owns both references. */
struct path {
    struct mount *mnt; /* NULL without opt/mounts */
    struct inode *inode;
};

void path_get(const struct path *path);
void path_put(struct path *path);

extern struct mutex fs_lock;

struct inode *inode_new(struct super *sb, u32 mode); /* one reference, times set, ino given */
struct inode *inode_get(struct inode *inode);
void inode_put(struct inode *inode);
void inode_touch(struct inode *inode, bool modified); /* ctime, and mtime when modified */
void inode_accessed(struct inode *inode);

struct fsctx {
    int refs; /* threads and processes that share it (CLONE_FS) */
    struct mutex lock;
    struct path root, cwd;
    u32 umask;
};

/* Walking. base is the place of a dirfd, or 0 for the current directory. */
enum {
    WALK_FOLLOW = 1 << 0, /* follow a symbolic link in the last component */
    WALK_DIR = 1 << 1,    /* the result must be a directory */
};
int path_walk(const struct path *base, const char *name, u32 how, struct path *out);
/* The place of this name, with a new node if it had none. 1: made; 0: found. */
int path_make(const struct path *base, const char *path, u32 mode, struct path *out);
int initrd_unpack(void); /* 0, or -errno after a message */

/* A new one becomes the caller's. */
OPTIONAL(CONFIG_CREDENTIALS, void, inode_own, (struct inode *inode, const struct inode *dir))
/* 4 read, 2 write, 1 execute or search. Without opt/credentials all processes are the superuser's.
 */
OPTIONAL(CONFIG_CREDENTIALS, int, inode_access, (const struct inode *inode, u32 want),
         want & 1 && !S_ISDIR(inode->mode) && !(inode->mode & 0111) ? -EACCES : 0)

/* where is absolute */
OPTIONAL(CONFIG_MOUNTS, int, fs_mount, (const char *source, const char *where, const char *type), 0)
OPTIONAL(CONFIG_MOUNTS, struct mount *, mount_get, (struct mount *mnt), mnt)
OPTIONAL(CONFIG_MOUNTS, void, mount_put, (struct mount *mnt))
/* The first mount, in opt/mounts; once, before any program runs. */
OPTIONAL(CONFIG_MOUNTS, struct mount *, mount_first, (struct super *sb), NULL)
OPTIONAL(CONFIG_MOUNTS, void, fs_register_trees, (void))

/* pagecache.c: contents of regular files by page, shared by read, write and mmap. */
i64 page_cache_read(struct inode *inode, struct iter *to, i64 pos);
i64 page_cache_write(struct inode *inode, struct iter *from, i64 pos);
int page_cache_truncate(struct inode *inode, i64 size);
/* The bytes of the last page behind a new end become zeros. */
OPTIONAL(CONFIG_FTRUNCATE, int, page_cache_clear_tail, (struct inode *inode, i64 size), 0)
int page_cache_mmap(struct file *file, struct vma *vma);

/* Shortens a write to what fits into the file; -EFBIG if nothing does. Needs inode->lock. */
OPTIONAL(CONFIG_PAGETREE, int, limit_write, (struct inode *inode, struct iter *from, i64 pos), 0)

/* filepages.c, or opt/pagetree: */
/*
 * The page at index as a kernel address, read or made if absent, with one more reference for the
 * caller; -EIO, -ENOMEM in *err. Does not check the file's size.
 */
void *page_cache_get(struct inode *inode, u64 index, bool for_write, int *err);
/* The same, but NULL with *err == 0 for a hole. */
void *page_cache_look(struct inode *inode, u64 index, int *err);
void page_cache_drop(struct inode *inode, u64 first); /* the pages from this one on */
void page_cache_free(struct inode *inode);
OPTIONAL(CONFIG_PAGETREE, u64, page_cache_pages, (const struct inode *inode),
         ALIGN_UP(inode->size, PAGE_SIZE) >> PAGE_SHIFT)

/* opt/fileio */
/* The next byte of data at or after pos (-ENXIO: none), or of a hole (the end counts as one). */
OPTIONAL(CONFIG_FILEIO, i64, page_cache_seek, (struct inode *inode, i64 pos, bool data), -EINVAL)

/* Root: tmpfs filled from the initrd, /dev, /proc, /tmp. Once, in a thread that may sleep. */
void fs_init(void);
/* Once, behind the last archive, which may be as large as it likes. */
void fs_limit_root(void);
