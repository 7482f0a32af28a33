/* names.h: what the calls on names share. */
#pragma once

#include "opt/paths/namei.h"
#include "klib.h"

/* An operation on the last name of a path, and its arguments; at_last() walks to its directory. */
struct name_op {
    int (*fn)(struct walk *w, struct name_op *op);
    u32 mode;
    u64 rdev;
    const char *target;
    struct inode *inode;
    struct mount *mnt;
};

int at_last(int dirfd, u64 user_path, struct name_op *op);

static inline bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* All of these need fs_lock. 0 if the name may be made; -EEXIST comes before errors of permission.
 */
int may_create(struct walk *w);
/* 0 if victim may be removed from the directory reached, by rmdir (as_dir) or unlink. */
int may_remove(struct walk *w, struct inode *victim, bool as_dir);
/* Tells the watchers of a removed (or replaced) inode. */
void notify_gone(struct inode *inode);
