/* futexops.c: the commands of futex(2) that move waiters or change a second word. */
#include "abi/errno.h"
#include "bugs.h"
#include "opt/futexops/futex.h"
#include "proc.h"
#include "opt/futexops/futexops.h"

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
        futex_put_key(key);
    return error;
}

static long futex_requeue(va_t addr, va_t addr2, int nwake, int nmove, const u32 *expected)
{
    struct futex_key from, to;
    BUG_NOTE(futex_requeue_negative, (u32)(nwake | nmove) >> 31);
    if (!BUG(futex_requeue_negative) && (nwake < 0 || nmove < 0))
        return -EINVAL;
    long result = two_keys(addr, addr2, &from, &to);
    if (result)
        return result;
    result = lock_if_equal(addr, expected);
    if (!result) {
        result = futex_wake_and_move(&from, FUTEX_ANY, nwake,
                                     futex_same_key(&from, &to) ? 0 : nmove, &to);
        spin_unlock(&futex_lock);
    }
    futex_put_key(&from);
    futex_put_key(&to);
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
        result = futex_wake_key(&key, FUTEX_ANY, nwake);
        if (compare_op(cmp, (i32)old, (i32)cmp_arg))
            result += futex_wake_key(&key2, FUTEX_ANY, nwake2);
    }
    futex_put_key(&key);
    futex_put_key(&key2);
    return result;
}

long futex_more(u64 addr, u32 op, u32 value, u64 value2, u64 addr2, u32 value3)
{
    switch (op & 0x7f) {
    case FUTEX_REQUEUE:
        return futex_requeue(addr, addr2, (int)value, (int)value2, NULL);
    case FUTEX_CMP_REQUEUE:
        return futex_requeue(addr, addr2, (int)value, (int)value2, &value3);
    case FUTEX_WAKE_OP:
        return futex_wake_op(addr, addr2, (int)value, (int)value2, value3);
    default:
        return -ENOSYS;
    }
}
