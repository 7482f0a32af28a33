/* devfs.h: devfs and debugfs, trees that drivers fill. */
#pragma once

#include "fs.h"

extern const struct file_ops device_fops; /* of nodes made by mknod: open finds the driver */
void devfs_init(void);
int devfs_mkdir(const char *name);
