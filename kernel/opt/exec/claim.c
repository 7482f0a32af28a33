/* claim.c: a file that is being executed has no writers. */
#include "abi/errno.h"
#include "fs/open.h"

int file_claim(struct file *file, u32 oflags)
{
    int *count = &file->inode->write_count, old = atomic_load(count);
    int side = oflags & O_REGULAR ? -1 : 1;

    if (side > 0 && !(file->fflags & FF_WRITE && S_ISREG(file->inode->mode)))
        return 0;
    do {
        if (old * side < 0)
            return -ETXTBSY;
    } while (!__atomic_compare_exchange_n(count, &old, old + side, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    file->write_claim = (i8)side;
    return 0;
}
