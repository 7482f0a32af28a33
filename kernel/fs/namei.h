/* namei.h: the walk itself, for the calls that create and remove names (open.c, names.c). */
#pragma once

#include "fs.h"

#define WALK_PARENT (1u << 8) /* stop before the last component and leave it in name */

struct walk {
    struct path at;    /* reached so far; owned */
    struct inode *dir; /* where at was found by name, or 0; owned */
    const char *rest;  /* still to walk */
    char *text;        /* owned storage of rest after a link, or 0 */
    int links;
    u32 resolve;     /* RESOLVE_*: what the walk must not do */
    struct path top; /* where a walk with RESOLVE_* began; owned by the caller */
    bool last;       /* name is the last component */
    bool want_dir;   /* and was followed by a slash */
    char name[NAME_LEN_MAX + 1];
};

/* openat2(2) */
#define RESOLVE_NO_XDEV       1u
#define RESOLVE_NO_MAGICLINKS 2u
#define RESOLVE_NO_SYMLINKS   4u
#define RESOLVE_BENEATH       8u  /* never above the start: -EXDEV */
#define RESOLVE_IN_ROOT       16u /* the start is the root of this walk */
#define RESOLVE_ALL           31u

/* After walk_begin: from here on the walk obeys. */
int walk_restrict(struct walk *w, const struct path *base, u32 resolve);

/* All of these need fs_lock. walk_end must follow walk_begin, whatever it returned. */
int walk_begin(struct walk *w, const struct path *base, const char *name);
int walk_run(struct walk *w, u32 how);
int walk_lookup(struct walk *w, struct inode **out);
int walk_follow(struct walk *w, struct inode *link);
void walk_enter(struct walk *w, struct inode *child);
void walk_end(struct walk *w);
int path_walk_locked(const struct path *base, const char *name, u32 how, struct path *out);
