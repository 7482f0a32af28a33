/* cross.h: places where one file system covers a directory of another. All need fs_lock. */
#pragma once

#include "fs.h"

/* Downwards: to the root that is mounted here, upwards: from a root to the inode it covers. */
OPTIONAL(CONFIG_MOUNTS, bool, mount_cross_down, (struct path *path), false)
OPTIONAL(CONFIG_MOUNTS, bool, mount_cross_up, (struct path *path), false)
/* Does a mount hide the inode? */
OPTIONAL(CONFIG_MOUNTS, bool, mount_covers, (const struct mount *mnt, const struct inode *inode),
         false)
