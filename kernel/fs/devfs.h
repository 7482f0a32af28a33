/* devfs.h: devfs and debugfs, trees that drivers fill. */
#pragma once

#include "fs.h"

struct super *devfs_tree(const char *type); /* "devtmpfs" or "debugfs"; made at the first call */
int devfs_mkdir(const char *name);

/* opt/directories: the driver of a number, for nodes made by mknod(2). 0 or -ENOMEM. */
extern const struct file_ops device_fops;
OPTIONAL(CONFIG_DIRECTORIES, int, device_number_add,
         (u64 rdev, u32 type, const struct file_ops *ops, void *priv), 0)
OPTIONAL(CONFIG_DIRECTORIES, void, device_number_remove, (const struct file_ops *ops))
