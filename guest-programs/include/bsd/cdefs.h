/* Macros of the BSDs' <sys/cdefs.h> that glibc's does not have. Reached from every glibc header. */
#ifndef KCOVBOX_BSD_CDEFS_H
#define KCOVBOX_BSD_CDEFS_H

#define __dead   __attribute__((__noreturn__))
#define __dead2  __attribute__((__noreturn__))
#define __pure2  __attribute__((__const__))
#define __unused __attribute__((__unused__))
#undef __used
#define __used             __attribute__((__used__))
#define __packed           __attribute__((__packed__))
#define __aligned(n)       __attribute__((__aligned__(n)))
#define __printflike(f, a) __attribute__((__format__(__printf__, f, a)))
#define __printf0like(f, a)
#define __predict_true(e)  __builtin_expect((e) != 0, 1)
#define __predict_false(e) __builtin_expect((e) != 0, 0)
#define __arraycount(a)    (sizeof(a) / sizeof((a)[0]))
#define __USE(x)           (/*LINTED*/ (void)(x))
#define __UNCONST(a)       ((void *)(unsigned long)(const void *)(a))
#define __UNVOLATILE(a)    ((void *)(unsigned long)(volatile void *)(a))
#define __DECONST(t, v)    ((t)(unsigned long)(const void *)(v))
#define __DEVOLATILE(t, v) ((t)(unsigned long)(volatile void *)(v))
#define __containerof(p, type, member)                                                             \
    ((type *)(void *)((char *)(p) - __builtin_offsetof(type, member)))
#define __BIT(n)             ((unsigned long)1 << (n))
#define __BITS(m, n)         ((__BIT((m) + 1) - 1) ^ (__BIT(n) - 1))
#define __FBSDID(s)          struct __kcovbox_ident
#define __RCSID(s)           struct __kcovbox_ident
#define __COPYRIGHT(s)       struct __kcovbox_ident
#define __KERNEL_RCSID(n, s) struct __kcovbox_ident
#define __SCCSID(s)          struct __kcovbox_ident
#ifndef __DECLARE_ONCE_IDENT
#define __DECLARE_ONCE_IDENT
struct __kcovbox_ident;
#endif

#endif
