/*
 * The environment of the kernel's own coverage hooks in a bench image (kernel/kcov/hooks.S and
 * kernel/opt/kcovguest): a thread for tp to point at, a context with an area, and the registration
 * with the kcov device as in kernel/kcov/live.c. Without it, as on QEMU, the hooks run in C.
 */
#include "asm.h"
#include "abi/kcov-device.h"
#include "kcov.h"

#ifndef AREA_WORDS
#define AREA_WORDS (1UL << 18) /* 2 MiB: more than one iteration records */
#endif
#define DTB_MAX (64UL << 10)

extern const u64 kcov_hook_table[];
extern u64 kcov_device;

static u64 thread[(THREAD_KCOV + 8) / 8];
static struct kcov_hart hart __attribute__((aligned(sizeof(struct kcov_hart))));
static struct kcov_context context;
static u64 area[AREA_WORDS] __attribute__((aligned(4096)));

/* The device is there when the device tree names it. */
static int has_device(const char *dtb)
{
    static const char name[] = "kcovbox,kcov";

    for (u64 at = 0; at < DTB_MAX; at++) {
        u64 same = 0;
        while (same < sizeof(name) && dtb[at + same] == name[same])
            same++;
        if (same == sizeof(name))
            return 1;
    }
    return 0;
}

void kcov_start(const void *dtb, unsigned int mode)
{
    volatile u64 *regs = (volatile u64 *)0x4000000;

    asm volatile("mv tp, %0" ::"r"(thread));
    context.area = (u64)area;
    context.words = AREA_WORDS;
    context.mode = mode;
    if (mode)
        thread[THREAD_KCOV / 8] = (u64)&context;
    if (!has_device(dtb)) {
        hart.context = thread[THREAD_KCOV / 8];
        return;
    }
    regs[KCOV_REG_HARTS / 8] = (u64)&hart;
    regs[KCOV_REG_KVA_OFFSET / 8] = 0;
    regs[KCOV_REG_HOOKS / 8] = (u64)kcov_hook_table;
    kcov_device = (u64)regs;
    regs[KCOV_REG_CURRENT / 8] = thread[THREAD_KCOV / 8];
}

unsigned long kcov_take(void)
{
    u64 records = area[0];

    area[0] = 0;
    return records;
}

/* FNV over the last iteration's records and the number of lost ones. */
unsigned long kcov_check(unsigned long records)
{
    u64 words = records * (context.mode == KCOV_RECORD_CMP ? KCOV_CMP_WORDS : 1);
    u64 hash = 0xcbf29ce484222325UL;

    for (u64 i = 1; i <= words; i++)
        hash = (hash ^ area[i]) * 0x100000001b3UL;
    return hash + context.lost;
}
