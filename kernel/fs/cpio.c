/*
 * cpio.c: unpacks the initial archive into the root file system.
 *
 * Format "newc" (cpio(5)): per member a header of 110 ASCII characters - "070701", then 13 fields
 * of 8 hexadecimal digits - the name with its NUL, and the contents, each padded to 4 bytes. The
 * member "TRAILER!!!" ends an archive; several archives may follow one another, with zero padding
 * between them. Hard links are members with the same inode number; the last has the contents.
 *
 * Not modelled: compression, checksums (070702 is read, but its sum is not checked).
 */
#include "fs.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "namei.h"

#define HEADER_BYTES 110

enum field {
    INO,
    MODE,
    UID,
    GID,
    NLINK,
    MTIME,
    FILESIZE,
    DEVMAJOR,
    DEVMINOR,
    RDEVMAJOR,
    RDEVMINOR,
    NAMESIZE,
    CHECK,
    FIELDS
};

struct member {
    u64 f[FIELDS];
    const char *name;
    const u8 *data;
    u64 next; /* offset of the next member */
};

static bool parse_fields(const char *p, u64 *f)
{
    for (int i = 0; i < FIELDS; i++) {
        u64 v = 0;

        for (int d = 0; d < 8; d++) {
            char c = p[6 + i * 8 + d];

            if (c >= '0' && c <= '9')
                v = v * 16 + c - '0';
            else if ((c | 32) >= 'a' && (c | 32) <= 'f')
                v = v * 16 + (c | 32) - 'a' + 10;
            else
                return false;
        }
        f[i] = v;
    }
    return true;
}

/* Reads the member at an offset; false after a message if the archive is damaged there. */
static bool parse_member(const u8 *image, u64 bytes, u64 at, struct member *m)
{
    const char *p = (const char *)image + at;
    u64 data;

    if (bytes - at < HEADER_BYTES || memcmp(p, "07070", 5) || (p[5] != '1' && p[5] != '2') ||
        !parse_fields(p, m->f)) {
        kprintf("initrd: no cpio header at offset 0x%lx\n", at);
        return false;
    }
    data = ALIGN_UP(at + HEADER_BYTES + m->f[NAMESIZE], 4);
    m->name = p + HEADER_BYTES;
    m->data = image + data;
    m->next = ALIGN_UP(data + m->f[FILESIZE], 4);
    if (!m->f[NAMESIZE] || data > bytes || m->f[FILESIZE] > bytes - data ||
        m->name[m->f[NAMESIZE] - 1]) {
        kprintf("initrd: truncated member at offset 0x%lx of 0x%lx\n", at, bytes);
        return false;
    }
    return true;
}

static void set_attributes(struct inode *inode, const struct member *m)
{
    inode->uid = m->f[UID];
    inode->gid = m->f[GID];
    inode->mode = (inode->mode & S_IFMT) | (m->f[MODE] & 07777);
    inode->mtime = inode->atime = inode->ctime = (struct timespec64){.sec = m->f[MTIME]};
}

static int write_contents(struct inode *inode, const struct member *m)
{
    struct iter it;
    i64 n;

    iter_kernel(&it, (void *)m->data, m->f[FILESIZE]);
    mutex_lock(&inode->lock);
    n = page_cache_write(inode, &it, 0);
    mutex_unlock(&inode->lock);
    return n == (i64)m->f[FILESIZE] ? 0 : n < 0 ? (int)n : -ENOSPC;
}

/* Makes the missing directories in front of a name; archives made by hand often lack them. */
static void make_parents(const char *name)
{
    char *path = kstrdup(name);
    struct path at;

    for (char *p = path; path && (p = strchr(p, '/')); p++) {
        struct inode *made = NULL;
        struct walk *w;

        *p = 0;
        w = *path ? kmalloc(sizeof(*w)) : NULL;
        if (w && path_walk(NULL, path, WALK_FOLLOW, &at) == -ENOENT) {
            mutex_lock(&fs_lock);
            if (!walk_begin(w, NULL, path) && !walk_run(w, WALK_PARENT))
                w->at.inode->ops->create(w->at.inode, w->name, S_IFDIR | 0755, 0, &made);
            walk_end(w);
            mutex_unlock(&fs_lock);
            if (made)
                inode_put(made);
        } else if (w) {
            path_put(&at);
        }
        kfree(w);
        *p = '/';
    }
    kfree(path);
}

struct hardlinks {
    struct hardlink {
        struct hardlink *next;
        u64 ino;
        struct inode *inode; /* one reference */
    } *first;
};

static struct inode *known_link(struct hardlinks *links, const struct member *m)
{
    for (struct hardlink *l = links->first; l; l = l->next)
        if (l->ino == m->f[INO])
            return l->inode;
    return NULL;
}

static void remember_link(struct hardlinks *links, const struct member *m, struct inode *inode)
{
    struct hardlink *l = kmalloc(sizeof(*l));

    if (!l)
        return;
    *l = (struct hardlink){links->first, m->f[INO], inode_get(inode)};
    links->first = l;
}

static void forget_links(struct hardlinks *links)
{
    while (links->first) {
        struct hardlink *l = links->first;

        links->first = l->next;
        inode_put(l->inode);
        kfree(l);
    }
}

/* The walk has reached the directory. Makes or finds the node; *out has one reference. */
static int make_node(struct walk *w, const struct member *m, struct hardlinks *links,
                     struct inode **out)
{
    struct inode *dir = w->at.inode, *twin;
    u32 mode = (u32)m->f[MODE];
    int err = walk_lookup(w, out);

    if (!err && S_ISDIR((*out)->mode) && S_ISDIR(mode))
        return 0;
    if (!err) { /* a later member replaces an earlier one */
        dir->ops->unlink(dir, w->name, *out);
        inode_put(*out);
    }
    twin = m->f[NLINK] > 1 && S_ISREG(mode) ? known_link(links, m) : NULL;
    if (twin) {
        *out = inode_get(twin);
        return dir->ops->link(dir, w->name, twin);
    }
    if (S_ISLNK(mode)) {
        char *target = kzalloc(m->f[FILESIZE] + 1);

        if (!target)
            return -ENOMEM;
        memcpy(target, m->data, m->f[FILESIZE]);
        err = dir->ops->symlink(dir, w->name, target);
        kfree(target);
        return err ? err : dir->ops->lookup(dir, w->name, out);
    }
    err = dir->ops->create(dir, w->name, mode, MKDEV(m->f[RDEVMAJOR], m->f[RDEVMINOR]), out);
    if (!err && m->f[NLINK] > 1 && S_ISREG(mode))
        remember_link(links, m, *out);
    return err;
}

static int unpack_member(const struct member *m, struct hardlinks *links)
{
    struct walk *w = kmalloc(sizeof(*w));
    struct inode *inode = NULL;
    int err;

    if (!w)
        return -ENOMEM;
    make_parents(m->name);
    mutex_lock(&fs_lock);
    err = walk_begin(w, NULL, m->name);
    if (!err)
        err = walk_run(w, WALK_PARENT);
    if (!err && w->name[0] && strcmp(w->name, "."))
        err = make_node(w, m, links, &inode);
    walk_end(w);
    mutex_unlock(&fs_lock);
    kfree(w);
    if (inode && !err) {
        set_attributes(inode, m);
        if (S_ISREG(inode->mode) && m->f[FILESIZE])
            err = write_contents(inode, m);
        if (!err)
            set_attributes(inode, m); /* writing changed the times */
    }
    inode_put(inode);
    return err;
}

/* 0, or a negative errno after a message that names the member. */
int cpio_unpack(const void *image, u64 bytes)
{
    const u8 *p = image;
    struct hardlinks links = {0};
    struct member m;
    int err = 0;

    for (u64 at = 0; at < bytes && !err; at = m.next) {
        while (at < bytes && !p[at])
            at++;
        at = ALIGN_UP(at, 4);
        if (at >= bytes)
            break;
        if (!parse_member(p, bytes, at, &m)) {
            err = -EINVAL;
            break;
        }
        if (!strcmp(m.name, "TRAILER!!!"))
            continue;
        err = unpack_member(&m, &links);
        if (err)
            kprintf("initrd: can not unpack %s: errno %d\n", m.name, -err);
    }
    forget_links(&links);
    return err;
}
