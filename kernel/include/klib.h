/*
 * The kernel's small C library: formatted console output, panic, assertions, memory and strings.
 * mem* and str* are not instrumented, because clang may emit calls to them, in hooks too.
 */
#pragma once
#include "types.h"

typedef __builtin_va_list va_list;
#define va_start __builtin_va_start
#define va_end   __builtin_va_end
#define va_arg   __builtin_va_arg

/* Formats: %d %u %x %c %s %p %% with flags 0 and -, width, modifiers l and z. */
void kprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kvprintf(const char *fmt, va_list ap);
/* Like snprintf: writes at most size bytes including the final NUL, returns the wanted length. */
int ksnprintf(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int kvsnprintf(char *buf, size_t size, const char *fmt, va_list ap);

/* Where kprintf goes; the UART driver replaces the SBI console once it is probed. */
void console_set_output(void (*put)(const char *s, size_t n));
/* Unformatted bytes, not interleaved with another hart's kprintf. */
void console_write(const char *s, size_t n);

/* Print the reason and a symbolized backtrace, stop all harts, tell the host. Any context. */
__noreturn void panic(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, with the backtrace of the interrupted context. */
struct trapframe;
__noreturn void panic_at(const struct trapframe *tf, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
extern volatile bool panicking;
/* Power off with the status that the host reports: 0..255, or one of these (boot/poweroff.c). */
#define STATUS_PANIC   0xff7e
#define STATUS_NO_INIT 0xff7f
__noreturn void power_off(int status);

/* Print the frames above fp (a saved s0) as "  [<address>] name+offset". */
void backtrace(u64 fp, u64 pc);
/* Name and start of the function around pc, or NULL. */
const char *symbol_at(u64 pc, u64 *start);
bool is_kernel_text(u64 pc);

#define KASSERT(cond)                                                                              \
    do {                                                                                           \
        if (unlikely(!(cond)))                                                                     \
            panic("assertion failed: %s at %s:%d", #cond, __FILE__, __LINE__);                     \
    } while (0)

void *memset(void *dst, int c, size_t n);
void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
/* Copy with truncation, always NUL-terminated when size > 0; returns strlen(src). */
size_t strlcpy(char *dst, const char *src, size_t size);
/* Decimal, 0x hex or 0 octal; *end (if given) is the first unused character. */
u64 strtou64(const char *s, const char **end, int base);

/* Kernel command line: value of "key=value", "" for a bare "key", NULL when absent. */
const char *cmdline_get(const char *key, char *buf, size_t size);
u64 cmdline_get_u64(const char *key, u64 fallback);
/* The whole command line, with the arguments of init after " -- ". */
extern const char *cmdline;

/* Deterministic random bytes, seeded by "seed=" (lib/random.c). */
void random_init(void);
void random_bytes(void *buf, size_t n);
u64 random_u64(void);
void random_mix(u64 seed); /* into the state of the generator */
