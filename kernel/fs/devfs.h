/* devfs.h: devfs and debugfs, trees that drivers fill. */
#pragma once

#include "fs.h"

/* Of "devtmpfs" or "debugfs". opt/mounts; without it /dev or /sys/kernel/debug, NULL if missing. */
struct inode *devfs_root(const char *type);
/* Makes a node in it. */
int devfs_add(const char *tree, const char *name, u32 mode, u64 rdev, const struct file_ops *ops,
              void *priv);

/* opt/directories: the driver of a number, for nodes made by mknod(2). 0 or -ENOMEM. */
extern const struct file_ops device_fops;
OPTIONAL(CONFIG_DIRECTORIES, int, device_number_add,
         (u64 rdev, u32 type, const struct file_ops *ops, void *priv), 0)
OPTIONAL(CONFIG_DIRECTORIES, void, device_number_remove, (const struct file_ops *ops))
