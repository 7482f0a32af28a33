/* vectors.c: reads and writes of several buffers. */
#include "opt/vectors/vectors.h"
#include "abi/errno.h"
#include "alloc.h"
#include "fs.h"
#include "fs/open.h"
#include "syscall.h"
#include "vm.h"

int iter_from_user_iov(struct iter *it, u64 user_iov, u64 count, struct iovec **storage)
{
    struct iovec *iov;

    *storage = NULL;
    if (count > IOV_MAX)
        return -EINVAL;
    iov = kmalloc(MAX(count, 1) * sizeof(*iov));
    if (!iov)
        return -ENOMEM;
    if (copyin(iov, user_iov, count * sizeof(*iov))) {
        kfree(iov);
        return -EFAULT;
    }
    it->left = 0;
    for (u64 i = 0; i < count; i++) {
        if ((i64)iov[i].len < 0) {
            kfree(iov);
            return -EINVAL;
        }
        iov[i].len = MIN(iov[i].len, MAX_RW - it->left);
        it->left += iov[i].len;
    }
    it->iov = iov;
    it->niov = count;
    it->skip = 0;
    it->kernel = false;
    *storage = iov;
    return 0;
}

long transfer_vector(u64 fd, u64 iov, u64 count, i64 pos, bool positioned, bool write)
{
    struct iovec *storage;
    struct iter it;
    long n = iter_from_user_iov(&it, iov, count, &storage);

    if (!n)
        n = transfer(fd, &it, pos, positioned, write);
    kfree(storage);
    return n;
}

long sys_readv(u64 fd, u64 iov, u64 count)
{
    return transfer_vector(fd, iov, count, 0, false, false);
}

long sys_writev(u64 fd, u64 iov, u64 count)
{
    return transfer_vector(fd, iov, count, 0, false, true);
}
