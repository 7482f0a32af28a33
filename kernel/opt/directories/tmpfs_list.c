/* tmpfs_list.c: the entries of a directory of a tmpfs. */
#include "fs/tmpfs_node.h"

int tmpfs_readdir(struct inode *dir, i64 *pos, struct dir_sink *sink)
{
    for (struct entry *e = node_of(dir)->entries; e; e = e->next) {
        if (e->number < *pos)
            continue;
        if (!sink->put(sink, e->name, e->inode->ino, e->inode->mode, e->number + 1))
            return 0;
        *pos = e->number + 1;
    }
    return 0;
}

bool tmpfs_is_empty(struct inode *dir)
{
    return !node_of(dir)->entries;
}
