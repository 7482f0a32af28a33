/*
 * Futexes: sleeping on a user word. Waiters hang in hash buckets by key (vm_futex_key). A waiter
 * joins its bucket first and reads the word afterwards, so a waker that changed the word finds it.
 * Not modelled: priority inheritance.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"

#define BUCKETS      64
#define ROBUST_LIMIT 2048
#define FUTEX_ANY    0xffffffffu

struct futex_waiter {
    struct list link;
    struct futex_key key;
    u32 bitset;
    struct thread *thread;
    bool woken;
};

/* One lock for all buckets: requeue moves waiters between two of them. */
static struct spinlock futex_lock = SPINLOCK_INIT("futex");
static struct list buckets[BUCKETS];

static struct list *bucket_of(const struct futex_key *key)
{
    u64 h = (key->space >> 6 ^ key->offset >> 2) * 0x9e3779b97f4a7c15UL;
    struct list *b = &buckets[h >> 58];
    if (!b->next)
        list_init(b);
    return b;
}

static bool same_key(const struct futex_key *a, const struct futex_key *b)
{
    return a->space == b->space && a->offset == b->offset;
}

static void put_key(const struct futex_key *key)
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
    put_key(&w->key);
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
    enqueue(&w);
    error = user_read32(addr, &value);
    if (!error && value != expected)
        error = -EAGAIN;
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

/* futex_lock held. Wakes up to nwake waiters of key, moves up to nmove further ones to key `to`. */
static long wake_and_move(const struct futex_key *key, u32 bitset, int nwake, int nmove,
                          const struct futex_key *to)
{
    long woken = 0, moved = 0;
    list_for_each_safe(w, bucket_of(key), struct futex_waiter, link) {
        if (!same_key(&w->key, key) || !(w->bitset & bitset))
            continue;
        if (woken < nwake) {
            wake_waiter(w);
            woken++;
        } else if (moved < nmove) {
            put_key(&w->key);
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

static long wake_key(const struct futex_key *key, u32 bitset, int n)
{
    spin_lock(&futex_lock);
    long woken = wake_and_move(key, bitset, n, 0, NULL);
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
    result = wake_key(&key, bitset, n);
    put_key(&key);
    return result;
}

long futex_wake_addr(va_t addr, int n)
{
    return futex_wake(addr, FUTEX_ANY, n);
}

/*
 * Locks futex_lock with the word at addr equal to *expected (NULL: whatever it is). The comparison
 * is made under the lock: a waiter that comes after a change of the word is not moved by a caller
 * that saw the old value. The page cannot be faulted in there, so that is done without the lock,
 * and the comparison is made again.
 */
static long lock_if_equal(va_t addr, const u32 *expected)
{
    u32 value;
    for (;;) {
        spin_lock(&futex_lock);
        if (!expected)
            return 0;
        bool read = !user_read32(addr, &value);
        if (read && value == *expected)
            return 0;
        spin_unlock(&futex_lock);
        if (read)
            return -EAGAIN;
        if (user_read32(addr, &value))
            return -EFAULT;
        if (signal_pending(current))
            return -ERESTARTNOINTR;
    }
}

/* The keys of two words; give both back after 0. */
static long two_keys(va_t addr, va_t addr2, struct futex_key *key, struct futex_key *key2)
{
    long error = vm_futex_key(curproc->vm, addr, key);
    if (error)
        return error;
    error = vm_futex_key(curproc->vm, addr2, key2);
    if (error)
        put_key(key);
    return error;
}

static long futex_requeue(va_t addr, va_t addr2, int nwake, int nmove, const u32 *expected)
{
    struct futex_key from, to;
    if (nwake < 0 || nmove < 0)
        return -EINVAL;
    long result = two_keys(addr, addr2, &from, &to);
    if (result)
        return result;
    result = lock_if_equal(addr, expected);
    if (!result) {
        result = wake_and_move(&from, FUTEX_ANY, nwake, same_key(&from, &to) ? 0 : nmove, &to);
        spin_unlock(&futex_lock);
    }
    put_key(&from);
    put_key(&to);
    return result;
}

/* FUTEX_OP_SET, ADD, OR, ANDN, XOR */
static u32 apply_op(u32 op, u32 old, u32 arg)
{
    switch (op) {
    case 0:
        return arg;
    case 1:
        return old + arg;
    case 2:
        return old | arg;
    case 3:
        return old & ~arg;
    default:
        return old ^ arg;
    }
}

/* FUTEX_OP_CMP_EQ, NE, LT, LE, GT, GE */
static bool compare_op(u32 cmp, i32 old, i32 arg)
{
    switch (cmp) {
    case 0:
        return old == arg;
    case 1:
        return old != arg;
    case 2:
        return old < arg;
    case 3:
        return old <= arg;
    case 4:
        return old > arg;
    default:
        return old >= arg;
    }
}

/* Replaces the word by the result of the operation; the old value goes to *old. */
static long change_word(va_t addr, u32 op, u32 arg, u32 *old)
{
    u32 seen;
    do {
        if (get_user(*old, addr) || user_cmpxchg32(addr, *old, apply_op(op, *old, arg), &seen))
            return -EFAULT;
    } while (seen != *old);
    return 0;
}

/*
 * FUTEX_WAKE_OP: changes the second word, wakes waiters of the first, and those of the second if
 * its old value passes the test. encoded: 30:28 operation, 27:24 test, 23:12 and 11:0 their
 * operands (sign-extended); bit 31: the operation's operand is 1 shifted by those bits.
 *
 * The change is atomic; change and wake-ups are not one step, and need not be: a waiter joins its
 * bucket before it reads the word, so one that has read the old value is found afterwards, as after
 * a store and FUTEX_WAKE of two calls.
 */
static long futex_wake_op(va_t addr, va_t addr2, int nwake, int nwake2, u32 encoded)
{
    u32 op = encoded >> 28 & 7, cmp = encoded >> 24 & 15, old;
    u32 arg = (u32)((i32)(encoded << 8) >> 20), cmp_arg = (u32)((i32)(encoded << 20) >> 20);
    if (encoded >> 31)
        arg = 1u << (arg & 31);
    if (op > 4 || cmp > 5)
        return -ENOSYS;
    struct futex_key key, key2;
    long result = two_keys(addr, addr2, &key, &key2);
    if (result)
        return result;
    result = change_word(addr2, op, arg, &old);
    if (!result) {
        result = wake_key(&key, FUTEX_ANY, nwake);
        if (compare_op(cmp, (i32)old, (i32)cmp_arg))
            result += wake_key(&key2, FUTEX_ANY, nwake2);
    }
    put_key(&key);
    put_key(&key2);
    return result;
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
    u32 expected = (u32)value3;
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
    case FUTEX_REQUEUE:
        return futex_requeue(addr, addr2, (int)value, (int)timeout, NULL);
    case FUTEX_CMP_REQUEUE:
        return futex_requeue(addr, addr2, (int)value, (int)timeout, &expected);
    case FUTEX_WAKE_OP:
        return futex_wake_op(addr, addr2, (int)value, (int)timeout, (u32)value3);
    default:
        return -ENOSYS;
    }
}

/* Robust mutexes of a thread that ends are marked, and one waiter of each is woken. */

struct robust_head {
    u64 next;
    i64 futex_offset;
    u64 pending;
};

static void robust_one(va_t entry, i64 offset, int tid)
{
    va_t word = (entry & ~1UL) + (u64)offset;
    u32 value, seen;
    if (get_user(value, word) || (value & FUTEX_TID_MASK) != (u32)tid)
        return;
    user_cmpxchg32(word, value, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED, &seen);
    if (value & FUTEX_WAITERS)
        futex_wake_addr(word, 1);
}

void futex_exit_robust(struct thread *t)
{
    struct robust_head head;
    if (!t->robust_list || !t->proc->vm || copyin(&head, t->robust_list, sizeof(head)))
        return;
    va_t entry = head.next;
    for (int i = 0; i < ROBUST_LIMIT && (entry & ~1UL) != t->robust_list; i++) {
        va_t next;
        if (get_user(next, entry & ~1UL))
            break;
        if (entry != head.pending)
            robust_one(entry, head.futex_offset, t->tid);
        entry = next;
    }
    if (head.pending)
        robust_one(head.pending, head.futex_offset, t->tid);
    t->robust_list = 0;
}

long sys_set_robust_list(u64 head, u64 len)
{
    if (len != sizeof(struct robust_head))
        return -EINVAL;
    current->robust_list = head;
    current->robust_len = len;
    return 0;
}

long sys_get_robust_list(u64 tid, u64 head_addr, u64 len_addr)
{
    spin_lock(&proc_lock);
    struct thread *t = tid ? thread_find((int)tid) : current;
    u64 head = t ? t->robust_list : 0, len = sizeof(struct robust_head);
    spin_unlock(&proc_lock);
    if (!t)
        return -ESRCH;
    return put_user(head_addr, head) || put_user(len_addr, len) ? -EFAULT : 0;
}
