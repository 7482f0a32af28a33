/* ftruncate.h: another size for a file. */
#pragma once

#include "fs.h"

long truncate_inode(struct inode *inode, i64 size);
