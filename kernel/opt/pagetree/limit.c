/* limit.c: the largest file that a process may write, and a file system can keep. */
#include "abi/errno.h"
#include "abi/sched.h"
#include "opt/pagetree/pagetree.h"
#include "proc.h"
#include "signal.h"

int limit_write(struct inode *inode, struct iter *from, i64 pos)
{
    u64 allowed = rlimit_get(RLIMIT_FSIZE), limit = MIN(allowed, (u64)inode_max_bytes(inode));

    if ((u64)pos >= limit) {
        if (limit == allowed)
            signal_send_thread(current, SIGXFSZ, NULL);
        return -EFBIG;
    }
    from->left = MIN(from->left, limit - pos);
    return 0;
}
