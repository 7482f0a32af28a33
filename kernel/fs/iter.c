/*
 * iter.c: moves bytes between a file and its reader or writer; see file.h.
 */
#include "file.h"
#include "klib.h"
#include "vm.h"

void iter_user(struct iter *it, u64 user_addr, u64 n)
{
    it->one = (struct iovec){user_addr, n};
    it->iov = &it->one;
    it->niov = 1;
    it->skip = 0;
    it->left = n;
    it->kernel = false;
}

void iter_kernel(struct iter *it, void *buf, u64 n)
{
    iter_user(it, (u64)buf, n);
    it->kernel = true;
}

/* Length and address of the contiguous piece at the current place; skips empty iovecs. */
static u64 piece(struct iter *it, u64 *addr)
{
    while (it->niov && it->skip == it->iov->len) {
        it->iov++;
        it->niov--;
        it->skip = 0;
    }
    if (!it->niov)
        return 0;
    *addr = it->iov->base + it->skip;
    return MIN(it->iov->len - it->skip, it->left);
}

enum direction { PUT, GET, ZERO };

static u64 move_piece(struct iter *it, u64 addr, u8 *buf, u64 n, enum direction dir)
{
    if (it->kernel) {
        if (dir == PUT)
            memcpy((void *)addr, buf, n);
        else if (dir == GET)
            memcpy(buf, (void *)addr, n);
        else
            memset((void *)addr, 0, n);
        return n;
    }
    if (dir == PUT)
        return n - copyout_partial(addr, buf, n);
    if (dir == GET)
        return n - copyin_partial(buf, addr, n);
    return user_zero(addr, n) ? 0 : n;
}

static u64 move(struct iter *it, u8 *buf, u64 n, enum direction dir)
{
    u64 done = 0, addr;

    n = MIN(n, it->left);
    while (done < n) {
        u64 len = MIN(piece(it, &addr), n - done);
        u64 moved = len ? move_piece(it, addr, buf ? buf + done : NULL, len, dir) : 0;

        it->skip += moved;
        it->left -= moved;
        done += moved;
        if (moved < len || !len)
            break;
    }
    return done;
}

u64 iter_put(struct iter *it, const void *from, u64 n)
{
    return move(it, (u8 *)from, n, PUT);
}

u64 iter_get(struct iter *it, void *to, u64 n)
{
    return move(it, to, n, GET);
}

u64 iter_zero(struct iter *it, u64 n)
{
    return move(it, NULL, n, ZERO);
}
