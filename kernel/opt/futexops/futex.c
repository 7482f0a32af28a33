/*
 * futex.c: sleeping on a user word, in the place of opt/futex/futex.c. Waiters hang in hash buckets
 * by key (vm_futex_key). A waiter joins its bucket first and reads the word afterwards, so a waker
 * that changed the word finds it. Not modelled: priority inheritance.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "proc.h"
#include "proc/internal.h"
#include "opt/futexops/futex.h"
#include "opt/futexops/futexops.h"
#include "syscall.h"

#define BUCKETS 64

long user_load32(const u32 *addr, u32 *value); /* mm/uaccess.S: for a canary */

struct futex_waiter {
    struct list link;
    struct futex_key key;
    u32 bitset;
    struct thread *thread;
    bool woken;
};

/* One lock for all buckets: requeue moves waiters between two of them. */
struct spinlock futex_lock = SPINLOCK_INIT("futex");
static struct list buckets[BUCKETS];

static struct list *bucket_of(const struct futex_key *key)
{
    u64 h = (key->space >> 6 ^ key->offset >> 2) * 0x9e3779b97f4a7c15UL;
    struct list *b = &buckets[h >> 58];
    if (!b->next)
        list_init(b);
    return b;
}

bool futex_same_key(const struct futex_key *a, const struct futex_key *b)
{
    return a->space == b->space && a->offset == b->offset;
}

void futex_put_key(const struct futex_key *key)
{
    if (key->page)
        page_put(key->page);
}

static void enqueue(struct futex_waiter *w)
{
    spin_lock(&futex_lock);
    list_push_back(bucket_of(&w->key), &w->link);
    spin_unlock(&futex_lock);
}

/* Gives the key back. True if a waker has taken it off already. */
static bool dequeue(struct futex_waiter *w)
{
    spin_lock(&futex_lock);
    list_remove(&w->link);
    spin_unlock(&futex_lock);
    futex_put_key(&w->key);
    return w->woken;
}

static long sleep_until_woken(struct futex_waiter *w, u64 deadline)
{
    long result = 0;
    while (!result) {
        sleep_prepare(SLEEP_INTERRUPTIBLE);
        if (atomic_load(&w->woken))
            break;
        result = sleep_commit(deadline);
    }
    sleep_cancel();
    return result;
}

static long futex_wait(va_t addr, u32 expected, u32 bitset, u64 deadline)
{
    struct futex_waiter w = {.bitset = bitset, .thread = current};
    u32 value;
    if (!bitset)
        return -EINVAL;
    long error = vm_futex_key(curproc->vm, addr, &w.key);
    if (error)
        return error;
    bool joins_late = BUG(futex_lost_wake);
    if (!joins_late)
        enqueue(&w);
    error = user_read32(addr, &value);
    if (!error && value != expected) {
        error = -EAGAIN;
        if (BUG(futex_key_double_put)) {
            BUG_NOTE(futex_key_double_put, w.key.page);
            futex_put_key(&w.key);
        }
    }
    if (joins_late) {
        enqueue(&w);
        /* The word has changed since it was read: where it was the expected one then. */
        BUG_NOTE(futex_lost_wake, (user_load32((const u32 *)addr, &value) | (value ^ expected)) &
                                      (u64)(~error >> 63));
    }
    if (!error)
        error = sleep_until_woken(&w, deadline);
    return dequeue(&w) ? 0 : error;
}

/* futex_lock held. */
static void wake_waiter(struct futex_waiter *w)
{
    struct thread *t = w->thread;
    list_remove(&w->link);
    atomic_store(&w->woken, true);
    thread_wake(t);
}

long futex_wake_and_move(const struct futex_key *key, u32 bitset, int nwake, int nmove,
                         const struct futex_key *to)
{
    long woken = 0, moved = 0;
    list_for_each_safe(w, bucket_of(key), struct futex_waiter, link) {
        if (!futex_same_key(&w->key, key) || !(w->bitset & bitset))
            continue;
        if (woken < nwake) {
            wake_waiter(w);
            woken++;
        } else if (moved < nmove) {
            futex_put_key(&w->key);
            w->key = *to;
            if (to->page)
                page_get(to->page);
            list_remove(&w->link);
            list_push_back(bucket_of(to), &w->link);
            moved++;
        } else {
            break;
        }
    }
    return woken + moved;
}

long futex_wake_key(const struct futex_key *key, u32 bitset, int n)
{
    spin_lock(&futex_lock);
    long woken = futex_wake_and_move(key, bitset, n, 0, NULL);
    spin_unlock(&futex_lock);
    return woken;
}

static long futex_wake(va_t addr, u32 bitset, int n)
{
    struct futex_key key;
    if (!bitset)
        return -EINVAL;
    long result = vm_futex_key(curproc->vm, addr, &key);
    if (result)
        return result;
    result = futex_wake_key(&key, bitset, n);
    futex_put_key(&key);
    return result;
}

long futex_wake_addr(va_t addr, int n)
{
    return futex_wake(addr, FUTEX_ANY, n);
}

/* WAIT takes a relative time on the monotonic clock, WAIT_BITSET an absolute one. */
static long wait_deadline(va_t addr, u32 op, u64 *deadline)
{
    *deadline = WAIT_FOREVER;
    if (!addr)
        return 0;
    struct {
        i64 sec, nsec;
    } ts;
    if (get_user(ts, addr))
        return -EFAULT;
    if (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= 1000000000)
        return -EINVAL;
    bool relative = (op & 0x7f) == FUTEX_WAIT;
    *deadline =
        deadline_from(ts.sec, ts.nsec, !relative,
                      !relative && op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    return 0;
}

long sys_futex(u64 addr, u64 op, u64 value, u64 timeout, u64 addr2, u64 value3)
{
    u64 deadline;
    long error;
    if (addr & 3)
        return -EINVAL;
    switch (op & 0x7f) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        error = wait_deadline(timeout, (u32)op, &deadline);
        if (error)
            return error;
        return futex_wait(addr, (u32)value, (op & 0x7f) == FUTEX_WAIT ? FUTEX_ANY : (u32)value3,
                          deadline);
    case FUTEX_WAKE:
        return futex_wake(addr, FUTEX_ANY, (int)value);
    case FUTEX_WAKE_BITSET:
        return futex_wake(addr, (u32)value3, (int)value);
    default:
        return futex_more(addr, (u32)op, (u32)value, timeout, addr2, (u32)value3);
    }
}

/* Robust mutexes of a thread that ends are marked, and one waiter of each is woken. */
