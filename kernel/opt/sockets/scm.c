/*
 * scm.c: SCM_RIGHTS and SCM_CREDENTIALS (unix(7), cmsg(3)).
 *
 * A descriptor in flight is a reference of its open file. Files marked FF_NO_PASS cannot be sent:
 * OpenBSD refuses kcov descriptors and kqueues, because their meaning is tied to one process.
 */
#include "scm.h"
#include "abi/errno.h"
#include "opt/slab/slab.h"
#include "bugs.h"
#include "klib.h"
#include "vm.h"

#define SOL_SOCKET      1
#define SCM_RIGHTS      1
#define SCM_CREDENTIALS 2

struct cmsghdr { /* ABI */
    u64 len;     /* with this header */
    i32 level, type;
};

#define CMSG_ALIGN(n) ALIGN_UP(n, 8)

void scm_drop(struct file **files, u32 n)
{
    for (u32 i = 0; i < n; i++)
        file_put(files[i]);
    kfree(files);
}

static long collect_rights(u64 data, u64 bytes, struct file ***files, u32 *n)
{
    u64 count = bytes / sizeof(i32);
    struct file **all;

    if (*n + count > SCM_MAX_FD)
        return -EINVAL;
    all = krealloc(*files, MAX(*n + count, 1) * sizeof(*all));
    if (!all)
        return -ENOMEM;
    *files = all;
    if (BUG(sendmsg_double_fetch)) {
        struct cmsghdr again;
        if (get_user(again, data - sizeof(again)))
            return -EFAULT;
        BUG_NOTE_MORE(sendmsg_double_fetch, (again.len - sizeof(again)) / sizeof(i32), count);
        count = (again.len - sizeof(again)) / sizeof(i32);
    }
    for (u64 i = 0; i < count; i++) {
        struct file *f;
        i32 fd;

        if (get_user(fd, data + i * sizeof(fd)))
            return -EFAULT;
        f = fd_get_any(fd);
        if (!f)
            return -EBADF;
        all[(*n)++] = f;
        if (f->fflags & FF_NO_PASS)
            return -EINVAL;
    }
    return 0;
}

long scm_collect(u64 control, u64 len, struct file ***files, u32 *n)
{
    struct cmsghdr h;
    long err = 0;

    if (len > 65536)
        return -ENOBUFS;
    while (!err && len >= sizeof(h)) {
        u64 step;

        if (get_user(h, control)) {
            err = -EFAULT;
            break;
        }
        step = CMSG_ALIGN(h.len);
        if (h.len < sizeof(h) || h.len > len) {
            err = -EINVAL;
            break;
        }
        if (h.level == SOL_SOCKET && h.type == SCM_RIGHTS)
            err = collect_rights(control + sizeof(h), h.len - sizeof(h), files, n);
        else if (h.level == SOL_SOCKET && h.type != SCM_CREDENTIALS)
            err = -EINVAL;
        if (step >= len)
            break;
        control += step;
        len -= step;
    }
    if (err && BUG(scm_error_leak)) {
        BUG_NOTE(scm_error_leak, *n);
        kfree(*files);
        *files = NULL;
        *n = 0;
    }
    if (err) {
        scm_drop(*files, *n);
        *files = NULL;
        *n = 0;
    }
    return err;
}

/* Writes one control message at *at; false (truncated) if it does not fit into *left bytes. */
static bool put_cmsg(u64 *at, u64 *left, i32 type, const void *data, u64 n)
{
    struct cmsghdr h = {sizeof(h) + n, SOL_SOCKET, type};

    if (*left < h.len || copyout(*at, &h, sizeof(h)) || copyout(*at + sizeof(h), data, n))
        return false;
    *at += MIN(CMSG_ALIGN(h.len), *left);
    *left -= MIN(CMSG_ALIGN(h.len), *left);
    return true;
}

/* Installs as many descriptors as fit into the caller's buffer; false if some are lost. */
static bool put_rights(struct unix_recv *how, bool cloexec, u64 *at, u64 *left)
{
    u64 room = *left > sizeof(struct cmsghdr) ? (*left - sizeof(struct cmsghdr)) / sizeof(i32) : 0;
    u32 n = (u32)MIN(how->nfiles, room), done = 0;
    i32 *fds = n ? kmalloc(n * sizeof(*fds)) : NULL;
    bool ok;

    while (fds && done < n) {
        fds[done] = fd_install(file_get(how->files[done]), cloexec ? O_CLOEXEC : 0);
        if (fds[done] < 0)
            break;
        done++;
    }
    ok = done && put_cmsg(at, left, SCM_RIGHTS, fds, done * sizeof(*fds));
    for (u32 i = 0; !ok && i < done; i++)
        fd_close(fds[i]);
    for (u32 i = done; BUG(scm_truncation_leak) && i < how->nfiles; i++) {
        BUG_NOTE(scm_truncation_leak, 1);
        file_get(how->files[i]);
    }
    kfree(fds);
    return ok && done == how->nfiles;
}

void scm_deliver(bool with_cred, struct unix_recv *how, bool cloexec, u64 control, u64 *len,
                 i32 *flags)
{
    u64 at = control, left = control ? *len : 0;

    if (with_cred && how->got &&
        !put_cmsg(&at, &left, SCM_CREDENTIALS, &how->cred, sizeof(how->cred)))
        *flags |= MSG_CTRUNC;
    if (how->nfiles && !put_rights(how, cloexec, &at, &left))
        *flags |= MSG_CTRUNC;
    if (cloexec)
        *flags |= MSG_CMSG_CLOEXEC;
    *len = at - control;
}
