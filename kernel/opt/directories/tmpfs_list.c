/* tmpfs_list.c: the entries of a directory of a tmpfs. */
#include "fs/tmpfs_node.h"
#include "opt/directories/list.h"
#include "klib.h"

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

int tmpfs_name(struct inode *dir, char *buf)
{
    struct inode *parent = node_of(dir)->parent;

    for (struct entry *e = parent ? node_of(parent)->entries : NULL; e; e = e->next)
        if (e->inode == dir) {
            strlcpy(buf, e->name, NAME_LEN_MAX + 1);
            return 0;
        }
    return -ENOENT;
}
