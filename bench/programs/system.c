/* Operations of a whole system: traps, CSRs, devices, translation flushes, patched code. Guest
 * only; KIND chooses. */
#include "work.h"

#define ECALL  1
#define CSR    2
#define MMIO   3
#define SFENCE 4
#define PATCH  5

#if KIND == ECALL
#define CALLS 200000
u64 in_user(u64 (*f)(void));

static u64 caller(void)
{
    register u64 a0 asm("a0") = 0;
    register u64 a7 asm("a7") = 0;
    for (u32 i = 0; i < CALLS; i++)
        asm volatile("ecall" : "+r"(a0) : "r"(a7) : "memory", "t0");
    return a0;
}

u64 work(void)
{
    return in_user(caller);
}

#elif KIND == CSR
#define ROUNDS 300000

u64 work(void)
{
    u64 sum = 0;
    for (u32 i = 0; i < ROUNDS; i++) {
        /* Each round needs the values of the one before, or compilers leave the loop out. */
        u64 scratch, before, after, epc;
        asm volatile("csrrw %0, mscratch, %1" : "=r"(scratch) : "r"(sum * 3 + i));
        asm volatile("csrrs %0, mstatus, %1" : "=r"(before) : "r"(scratch & 2));
        asm volatile("csrrci %0, mstatus, 2" : "=r"(after));
        asm volatile("csrr %0, mepc" : "=r"(epc));
        sum = (scratch ^ epc) + (before & 2) + (after & 2);
    }
    return sum;
}

#elif KIND == MMIO
#define READS 500000

u64 work(void)
{
    volatile u8 *lsr = (volatile u8 *)0x10000005;
    u64 sum = 0;
    for (u32 i = 0; i < READS; i++)
        sum += *lsr & 0x20;
    return sum;
}

#elif KIND == SFENCE
#define ROUNDS 10000
#define PAGES  32
static volatile u8 pages[PAGES][4096] __attribute__((aligned(4096)));

u64 work(void)
{
    u64 sum = 0;
    for (u32 i = 0; i < ROUNDS; i++) {
        asm volatile("sfence.vma" ::: "memory");
        for (u32 p = 0; p < PAGES; p++)
            sum += pages[p][0]++;
    }
    return sum;
}

#elif KIND == PATCH
#define ROUNDS 10000
static u32 code[2] __attribute__((aligned(4096)));

u64 work(void)
{
    u64 sum = 0;
    for (u32 i = 0; i < ROUNDS; i++) {
        code[0] = 0x00000513u | (i & 0x7ff) << 20; /* li a0, i */
        code[1] = 0x00008067u;                     /* ret */
        asm volatile("fence.i" ::: "memory");
        sum += ((u64(*)(void))code)();
    }
    return sum;
}
#endif
