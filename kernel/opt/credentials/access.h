/* access.h: what a user may do with a file. */
#pragma once

#include "fs.h"

bool in_group(u32 gid); /* is the calling process in the group? */
int access_as(const struct inode *inode, u32 want, u32 uid, bool group);
