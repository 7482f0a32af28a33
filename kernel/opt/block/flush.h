/* flush.h: from the page cache to the disk. */
#pragma once

#include "fs.h"

/* Writes dirty pages to the disk behind the file. */
OPTIONAL(CONFIG_BLOCK, int, page_cache_flush, (struct inode *inode), 0)
