/* statfs.h: struct statfs64, the answer of statfs(2). */
#pragma once

#include "fs.h"

struct statfs64 {
    u64 type, bsize, blocks, bfree, bavail, files, ffree;
    i32 fsid[2];
    u64 namelen, frsize, flags, spare[4];
};

int tmpfs_statfs(struct super *sb, struct statfs64 *out);
