/* cpio_links.c: the links of an archive. */
#include "alloc.h"
#include "opt/paths/cpio.h"
#include "klib.h"

struct hardlink {
    struct hardlink *next;
    u64 ino;
    struct inode *inode; /* one reference */
};

static struct inode *known_link(struct archive *a, const struct member *m)
{
    for (struct hardlink *l = a->links; l; l = l->next)
        if (l->ino == m->f[INO])
            return l->inode;
    return NULL;
}

void cpio_remember_link(struct archive *a, const struct member *m, struct inode *inode)
{
    struct hardlink *l = m->f[NLINK] > 1 && S_ISREG(inode->mode) ? kmalloc(sizeof(*l)) : NULL;

    if (!l)
        return;
    *l = (struct hardlink){a->links, m->f[INO], inode_get(inode)};
    a->links = l;
}

void cpio_forget_links(struct archive *a)
{
    while (a->links) {
        struct hardlink *l = a->links;

        a->links = l->next;
        inode_put(l->inode);
        kfree(l);
    }
}

static int make_symlink(struct archive *a, struct walk *w, struct member *m, struct inode **out)
{
    struct inode *dir = w->at.inode;
    u64 n = m->f[FILESIZE];
    char *target = n <= PART_MAX && cpio_fill(a, n) ? kzalloc(n + 1) : NULL;
    int err;

    if (!target)
        return -ENOMEM;
    memcpy(target, cpio_take(a, n), n);
    m->f[FILESIZE] = 0; /* nothing of it is left in the archive */
    err = dir->ops->symlink(dir, w->name, target);
    kfree(target);
    return err ? err : dir->ops->lookup(dir, w->name, out);
}

int cpio_make_link(struct archive *a, struct walk *w, struct member *m, struct inode **out)
{
    u32 mode = (u32)m->f[MODE];
    struct inode *twin = m->f[NLINK] > 1 && S_ISREG(mode) ? known_link(a, m) : NULL;
    int err;

    if (twin) {
        *out = inode_get(twin);
        err = w->at.inode->ops->link(w->at.inode, w->name, twin);
    } else if (S_ISLNK(mode)) {
        err = make_symlink(a, w, m, out);
    } else {
        return 0;
    }
    return err ? err : 1;
}
