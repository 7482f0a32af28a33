/* holes.h: holes in files. */
#pragma once

#include "fs.h"

int page_cache_punch(struct inode *inode, i64 from,
                     i64 to); /* the bytes read as zeros from now on */
