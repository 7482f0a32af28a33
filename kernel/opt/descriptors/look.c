/* look.c: descriptors that are in use, also those of other processes. */
#include "opt/descriptors/look.h"
#include "fs/files.h"

bool files_look(struct files *t, int fd, void (*look)(struct file *f, void *arg), void *arg)
{
    bool found;

    spin_lock(&t->lock);
    found = fd >= 0 && fd < t->cap && t->slots[fd].file && t->slots[fd].file != RESERVED;
    if (found)
        look(t->slots[fd].file, arg);
    spin_unlock(&t->lock);
    return found;
}

int files_next(struct files *t, int fd)
{
    int found = -1;

    spin_lock(&t->lock);
    for (; fd < t->cap && found < 0; fd++)
        if (t->slots[fd].file && t->slots[fd].file != RESERVED)
            found = fd;
    spin_unlock(&t->lock);
    return found;
}
