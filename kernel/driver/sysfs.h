/* sysfs.h: the file system type, for fs/init.c. */
#pragma once

#include "fs.h"

extern struct fs_type sysfs_type;
