/*
 * Atomic operations under the BSDs' names: FreeBSD's <machine/atomic.h> and <sys/atomic_common.h>
 * (atomic_add_int, atomic_load_acq_64, ...) and NetBSD's atomic_ops(3) (atomic_inc_uint, ...).
 */
#ifndef KCOVBOX_BSD_ATOMIC_H
#define KCOVBOX_BSD_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#define KCOVBOX_ATOMIC_RMW(name, suffix, type, order, mark)                                        \
    static inline                                                                                  \
        __attribute__((__unused__)) void atomic_##name##mark##_##suffix(volatile type *p, type v)  \
    {                                                                                              \
        (void)KCOVBOX_ATOMIC_##name(p, v, order);                                                  \
    }
#define KCOVBOX_ATOMIC_add(p, v, o)      __atomic_fetch_add(p, v, o)
#define KCOVBOX_ATOMIC_subtract(p, v, o) __atomic_fetch_sub(p, v, o)
#define KCOVBOX_ATOMIC_set(p, v, o)      __atomic_fetch_or(p, v, o)
#define KCOVBOX_ATOMIC_clear(p, v, o)    __atomic_fetch_and(p, ~(v), o)

#define KCOVBOX_ATOMIC_ORDERED(suffix, type, order, mark)                                          \
    KCOVBOX_ATOMIC_RMW(add, suffix, type, order, mark)                                             \
    KCOVBOX_ATOMIC_RMW(subtract, suffix, type, order, mark)                                        \
    KCOVBOX_ATOMIC_RMW(set, suffix, type, order, mark)                                             \
    KCOVBOX_ATOMIC_RMW(clear, suffix, type, order, mark)                                           \
    static inline __attribute__((__unused__)) int atomic_cmpset##mark##_##suffix(                  \
        volatile type *p, type old, type fresh)                                                    \
    {                                                                                              \
        return __atomic_compare_exchange_n(p, &old, fresh, false, order, __ATOMIC_RELAXED);        \
    }                                                                                              \
    static inline __attribute__((__unused__)) int atomic_fcmpset##mark##_##suffix(                 \
        volatile type *p, type *old, type fresh)                                                   \
    {                                                                                              \
        return __atomic_compare_exchange_n(p, old, fresh, false, order, __ATOMIC_RELAXED);         \
    }

#define KCOVBOX_ATOMIC(suffix, type)                                                               \
    KCOVBOX_ATOMIC_ORDERED(suffix, type, __ATOMIC_RELAXED, )                                       \
    KCOVBOX_ATOMIC_ORDERED(suffix, type, __ATOMIC_ACQUIRE, _acq)                                   \
    KCOVBOX_ATOMIC_ORDERED(suffix, type, __ATOMIC_ACQ_REL, _rel)                                   \
    static inline                                                                                  \
        __attribute__((__unused__)) type atomic_load_acq_##suffix(const volatile type *p)          \
    {                                                                                              \
        return __atomic_load_n(p, __ATOMIC_ACQUIRE);                                               \
    }                                                                                              \
    static inline                                                                                  \
        __attribute__((__unused__)) void atomic_store_rel_##suffix(volatile type *p, type v)       \
    {                                                                                              \
        __atomic_store_n(p, v, __ATOMIC_RELEASE);                                                  \
    }                                                                                              \
    static inline                                                                                  \
        __attribute__((__unused__)) type atomic_fetchadd_##suffix(volatile type *p, type v)        \
    {                                                                                              \
        return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    static inline __attribute__((__unused__)) type atomic_readandclear_##suffix(volatile type *p)  \
    {                                                                                              \
        return __atomic_exchange_n(p, 0, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    static inline __attribute__((__unused__)) type atomic_swap_##suffix(volatile type *p, type v)  \
    {                                                                                              \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    static inline __attribute__((__unused__)) void atomic_inc_##suffix(volatile type *p)           \
    {                                                                                              \
        (void)__atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);                                          \
    }                                                                                              \
    static inline __attribute__((__unused__)) void atomic_dec_##suffix(volatile type *p)           \
    {                                                                                              \
        (void)__atomic_fetch_sub(p, 1, __ATOMIC_SEQ_CST);                                          \
    }                                                                                              \
    static inline __attribute__((__unused__)) type atomic_inc_##suffix##_nv(volatile type *p)      \
    {                                                                                              \
        return __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    static inline __attribute__((__unused__)) type atomic_dec_##suffix##_nv(volatile type *p)      \
    {                                                                                              \
        return __atomic_sub_fetch(p, 1, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    static inline __attribute__((__unused__)) type atomic_cas_##suffix(volatile type *p, type old, \
                                                                       type fresh)                 \
    {                                                                                              \
        __atomic_compare_exchange_n(p, &old, fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
        return old;                                                                                \
    }

KCOVBOX_ATOMIC(8, uint8_t)
KCOVBOX_ATOMIC(16, uint16_t)
KCOVBOX_ATOMIC(32, uint32_t)
KCOVBOX_ATOMIC(64, uint64_t)
KCOVBOX_ATOMIC(char, unsigned char)
KCOVBOX_ATOMIC(short, unsigned short)
KCOVBOX_ATOMIC(int, unsigned int)
KCOVBOX_ATOMIC(uint, unsigned int)
KCOVBOX_ATOMIC(long, unsigned long)
KCOVBOX_ATOMIC(ulong, unsigned long)
KCOVBOX_ATOMIC(ptr, uintptr_t)

/* Plain ones take a pointer of any width and qualifier, as FreeBSD's do. */
#define KCOVBOX_ATOMIC_LOAD(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define KCOVBOX_ATOMIC_STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define atomic_load_8(p)           KCOVBOX_ATOMIC_LOAD(p)
#define atomic_load_16(p)          KCOVBOX_ATOMIC_LOAD(p)
#define atomic_load_32(p)          KCOVBOX_ATOMIC_LOAD(p)
#define atomic_load_64(p)          KCOVBOX_ATOMIC_LOAD(p)
#define atomic_load_bool(p)        KCOVBOX_ATOMIC_LOAD(p)
#define atomic_load_char(p)        KCOVBOX_ATOMIC_LOAD(p)
#define atomic_load_short(p)       KCOVBOX_ATOMIC_LOAD(p)
#define atomic_load_int(p)         KCOVBOX_ATOMIC_LOAD(p)
#define atomic_load_long(p)        KCOVBOX_ATOMIC_LOAD(p)
#define atomic_load_ptr(p)         KCOVBOX_ATOMIC_LOAD(p)
#define atomic_store_8(p, v)       KCOVBOX_ATOMIC_STORE(p, v)
#define atomic_store_16(p, v)      KCOVBOX_ATOMIC_STORE(p, v)
#define atomic_store_32(p, v)      KCOVBOX_ATOMIC_STORE(p, v)
#define atomic_store_64(p, v)      KCOVBOX_ATOMIC_STORE(p, v)
#define atomic_store_bool(p, v)    KCOVBOX_ATOMIC_STORE(p, v)
#define atomic_store_char(p, v)    KCOVBOX_ATOMIC_STORE(p, v)
#define atomic_store_short(p, v)   KCOVBOX_ATOMIC_STORE(p, v)
#define atomic_store_int(p, v)     KCOVBOX_ATOMIC_STORE(p, v)
#define atomic_store_long(p, v)    KCOVBOX_ATOMIC_STORE(p, v)
#define atomic_store_ptr(p, v)     KCOVBOX_ATOMIC_STORE(p, v)

#define atomic_thread_fence_acq()     __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define atomic_thread_fence_rel()     __atomic_thread_fence(__ATOMIC_RELEASE)
#define atomic_thread_fence_acq_rel() __atomic_thread_fence(__ATOMIC_ACQ_REL)
#define atomic_thread_fence_seq_cst() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define membar_producer()             __atomic_thread_fence(__ATOMIC_RELEASE)
#define membar_consumer()             __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define membar_enter()                __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define membar_exit()                 __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define membar_sync()                 __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define membar_acquire()              __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define membar_release()              __atomic_thread_fence(__ATOMIC_RELEASE)
#define mb()                          __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define rmb()                         __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define wmb()                         __atomic_thread_fence(__ATOMIC_RELEASE)

#endif
