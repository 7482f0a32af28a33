/*
 * Frame of a bench image: warm-up, the line "begin", the measured work, the line "end CHECK". The
 * benchmark reads the emulator's CPU time at both lines. SV39 runs the work in S-mode behind 4 KiB
 * pages, identity-mapped. KCOV_MODE traces the work: see kcov.c.
 */
#include "../programs/work.h"
#ifdef KCOV_MODE
#include "kcov.h"
#endif

#define UART     ((volatile unsigned char *)0x10000000)
#define FINISHER ((volatile unsigned int *)0x100000)

static void put(const char *text)
{
    while (*text)
        *UART = *text++;
}

static void put_hex(u64 value)
{
    for (int shift = 60; shift >= 0; shift -= 4)
        *UART = "0123456789abcdef"[value >> shift & 15];
}

#ifdef SV39
#define MAPPED_BYTES (96ul << 20)
#define PTES         512
static u64 root[PTES] __attribute__((aligned(4096)));
static u64 middle[PTES] __attribute__((aligned(4096)));
static u64 leaves[MAPPED_BYTES / 4096] __attribute__((aligned(4096)));
void to_supervisor(u64 satp);

static u64 pte(const void *pa, u64 bits)
{
    return (u64)pa >> 12 << 10 | bits;
}

static void enter_sv39(void)
{
    for (u64 i = 0; i < MAPPED_BYTES / 4096; i++)
        leaves[i] = pte((void *)(0x80000000ul + i * 4096), 0xcf);
    for (u64 i = 0; i < MAPPED_BYTES >> 21; i++)
        middle[i] = pte(&leaves[i * PTES], 1);
    root[0] = pte(0, 0xcf); /* devices, one gigapage */
    root[2] = pte(middle, 1);
    to_supervisor(8ul << 60 | (u64)root >> 12);
}
#else
static void enter_sv39(void) {}
#endif

#ifdef KCOV_MODE
/* The area is emptied each time, as a fuzzer does between two system calls. */
static u64 last_records;

static u64 once(void)
{
    u64 check = work();
    last_records = kcov_take();
    return check + last_records;
}

static u64 check_of_records(void)
{
    return kcov_check(last_records);
}
#else
static u64 once(void)
{
    return work();
}

static u64 check_of_records(void)
{
    return 0;
}
#endif

/* start.S passes the arguments of the firmware on: the hart's number and the device tree. */
void bench_main(u64 hart, const void *dtb)
{
    u64 check = 0;
    (void)hart;
    (void)dtb;
#ifdef KCOV_MODE
    kcov_start(dtb, KCOV_MODE); /* before Sv39 is on: the device tree may be unmapped then */
#endif
    enter_sv39();
    for (int i = 0; i < WARM_UP; i++)
        check += once();
    put("begin\n");
    for (int i = 0; i < REPEAT; i++)
        check += once();
    put("end ");
    put_hex(check + check_of_records());
    put("\n");
    *FINISHER = 0x5555;
    for (;;)
        ;
}

void *memcpy(void *to, const void *from, u64 n)
{
    u8 *d = to;
    const u8 *s = from;
    while (n--)
        *d++ = *s++;
    return to;
}

void *memset(void *to, int value, u64 n)
{
    u8 *d = to;
    while (n--)
        *d++ = (u8)value;
    return to;
}
