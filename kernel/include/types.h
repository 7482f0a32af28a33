/* Basic types. The kernel is LP64: long, pointers and registers are 64 bits wide. */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef unsigned long size_t;
typedef _Bool bool;

#define true  1
#define false 0
#define NULL  ((void *)0)

typedef u64 pa_t; /* physical address */
typedef u64 va_t; /* virtual address, user or kernel */

#define ARRAY_LEN(a)                    (sizeof(a) / sizeof((a)[0]))
#define offsetof(type, member)          __builtin_offsetof(type, member)
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - __builtin_offsetof(type, member)))
#define ALIGN_UP(x, a)                  (((u64)(x) + ((u64)(a) - 1)) & ~((u64)(a) - 1))
#define ALIGN_DOWN(x, a)                ((u64)(x) & ~((u64)(a) - 1))
#define MIN(a, b)                       ((a) < (b) ? (a) : (b))
#define MAX(a, b)                       ((a) > (b) ? (a) : (b))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define __noreturn  __attribute__((noreturn))
#define __weak      __attribute__((weak))
#define __nocov     __attribute__((no_sanitize("coverage")))
