/* devfs.h: devfs and debugfs, trees that drivers fill. */
#pragma once

#include "fs.h"

extern const struct file_ops device_fops; /* nodes made by mknod: finds the driver by number */
void devfs_init(void);
int devfs_mkdir(const char *name);
int devfs_symlink(const char *name, const char *target);
