/* namei.h: the walk itself, for calls that create and remove names (file.c, sys_names.c, ...). */
#pragma once

#include "alloc.h"
#include "fs.h"
#include "optional.h"

#define WALK_PARENT (1u << 8) /* stop before the last component and leave it in name */

struct walk {
    struct path at;    /* reached so far; owned */
    struct inode *dir; /* the directory that has at under a name, or NULL; owned */
    const char *rest;  /* still to walk */
    char *text;        /* storage of rest after a link, or NULL; owned */
    int links;         /* followed so far */
    u32 resolve;       /* RESOLVE_*: the restrictions of this walk */
    struct path top;   /* where a walk with RESOLVE_* began; owned by the caller */
    bool last;         /* name is the last component */
    bool want_dir;     /* name was followed by a slash */
    char name[NAME_LEN_MAX + 1];
};

/* openat2(2) */
#define RESOLVE_NO_XDEV       1u
#define RESOLVE_NO_MAGICLINKS 2u
#define RESOLVE_NO_SYMLINKS   4u
#define RESOLVE_BENEATH       8u  /* never above the start: -EXDEV */
#define RESOLVE_IN_ROOT       16u /* the start is the root of this walk */
#define RESOLVE_ALL           31u

/* All of these need fs_lock. walk_end must follow walk_begin, also if that has failed. */
int walk_begin(struct walk *w, const struct path *base, const char *name);
int walk_run(struct walk *w, u32 how);
int walk_lookup(struct walk *w, struct inode **out);
void walk_enter(struct walk *w, struct inode *child);
int walk_up(struct walk *w); /* ".." */
void walk_end(struct walk *w);
int path_walk_locked(const struct path *base, const char *name, u32 how, struct path *out);

static inline void walk_forget_dir(struct walk *w)
{
    inode_put(w->dir);
    w->dir = NULL;
}

/* opt/links */
/* Called after walk_begin: restricts the walk from here on. */
OPTIONAL(CONFIG_LINKS, int, walk_restrict, (struct walk *w, const struct path *base, u32 resolve),
         0)
OPTIONAL(CONFIG_LINKS, int, walk_follow, (struct walk *w, struct inode *link), -ELOOP)

/* opt/procfs: the absolute path that /proc/self/fd will show for name opened at base; kfree. */
OPTIONAL(CONFIG_PROCFS, char *, shown_path,
         (const struct path *base, const char *name, bool linked, u32 flags), kstrdup(name))
