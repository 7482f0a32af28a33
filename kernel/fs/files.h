/* files.h: the inside of a descriptor table, for files.c and the options that change tables. */
#pragma once

#include "file.h"

#define RLIMIT_NOFILE 7
#define RESERVED      ((struct file *)1)

struct slot {
    struct file *file;
    bool cloexec;
};

struct files {
    int refs;
    struct spinlock lock;
    struct slot *slots; /* (lock) cap of them */
    int cap;
};

/* Copies all slots into an empty table. False: from has grown since t was made, and no memory. */
bool files_fill(struct files *t, struct files *from);
struct file *files_take(struct files *t, int fd); /* out of its slot; NULL if free or reserved */
int files_release_slot(struct files *t, int fd, struct file *f);
int files_make_room(struct files *t, int fd); /* (lock) the caller has checked the limit */
