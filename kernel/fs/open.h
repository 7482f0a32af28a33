/* open.h: shared by the system-call files of fs/. */
#pragma once

#include "fs.h"
#include "optional.h"

int file_open_path(const struct path *at, u32 oflags, const char *shown, struct file **out);
/* For opt/paths, too: a file without operations and path, and its end. */
struct file *file_new(struct inode *inode, struct mount *mnt, u32 oflags);
void file_free(struct file *file);
/* opt/paths: what /proc shows: this path, or "pipe:[7]" from a name. 0 or -ENOMEM. */
OPTIONAL(CONFIG_PATHS, int, file_show_path, (struct file *file, const char *path), 0)
OPTIONAL(CONFIG_PATHS, int, file_show_name, (struct file *file, const char *name), 0)
/* opt/exec: writers and the execution (O_REGULAR) of a file exclude each other: 0 or -ETXTBSY. */
OPTIONAL(CONFIG_EXEC, int, file_claim, (struct file *file, u32 oflags), 0)
/* at: an explicit position, or NULL for the file's own. -EBADF if not open for that. */
i64 file_read(struct file *f, struct iter *to, i64 *at);
i64 file_write(struct file *f, struct iter *from, i64 *at);

/* The place that the arguments of an ...at call and AT_* flags mean, with references. */
int at_walk(int dirfd, u64 user_path, u32 at_flags, u32 how, struct path *out);

/* sys_stat.c */
i64 blocks_of(const struct inode *inode); /* of 512 bytes */
/* Without effect: 0x800, AT_NO_AUTOMOUNT, and 0x6000, AT_STATX_SYNC_TYPE. */
#define STAT_FLAGS (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | 0x800 | 0x6000)

/* sys_rw.c. Linux moves at most MAX_RW in one call; it also keeps sums of iovecs from overflowing.
 */
#define MAX_RW 0x7ffff000UL
long transfer_vector(u64 fd, u64 iov, u64 count, i64 pos, bool positioned, bool write);

/* Copies up to IOV_MAX iovecs in; the caller frees *storage after the last use of it. */
#define IOV_MAX 1024
int iter_from_user_iov(struct iter *it, u64 user_iov, u64 count, struct iovec **storage);

/* opt/descriptors: ioctls that mean the same for every file; -ENOTTY when cmd is none of them. */
OPTIONAL(CONFIG_DESCRIPTORS, long, ioctl_generic, (struct file *f, int fd, u32 cmd, u64 arg),
         -ENOTTY)
/* opt/directories, opt/fileio */
i64 dir_lseek(struct file *file, i64 offset, int whence);
int regular_fsync(struct file *file);
int dir_fsync(struct file *file);
