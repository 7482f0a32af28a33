/* shown.c: files that are only a place (O_PATH), and what /proc shows of a file. */
#include "abi/errno.h"
#include "abi/fcntl.h"
#include "alloc.h"
#include "klib.h"
#include "opt/paths/paths.h"

int file_open_place(const struct path *at, u32 oflags, const char *shown, struct file **out)
{
    static const struct file_ops no_ops = {0};
    struct file *f = file_new(at->inode, at->mnt, oflags);

    if (!f)
        return -ENOMEM;
    f->fflags = FF_PATH;
    f->ops = &no_ops;
    if (file_show_path(f, shown)) {
        file_free(f);
        return -ENOMEM;
    }
    *out = f;
    return 0;
}

struct file *fd_get(int fd)
{
    struct file *f = fd_get_any(fd);

    if (f && f->fflags & FF_PATH) {
        file_put(f);
        return NULL;
    }
    return f;
}

int file_show_path(struct file *file, const char *path)
{
    file->path = kstrdup(path);
    return file->path ? 0 : -ENOMEM;
}

int file_show_name(struct file *file, const char *name)
{
    char text[64];

    ksnprintf(text, sizeof(text), "%s:[%lu]", name, file->inode->ino);
    return file_show_path(file, text);
}
