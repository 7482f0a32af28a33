/* icache.c: riscv_flush_icache(2), for programs that write instructions. */
#include "abi/errno.h"
#include "irq.h"
#include "proc.h"
#include "riscv.h"
#include "syscall.h"

static void fence_here(void *arg)
{
    (void)arg;
    fence_i();
}

/*
 * Without flag 1 (the calling thread only) the other threads must see the new instructions, too:
 * all harts execute a fence. With it also, because the thread may move to another hart.
 */
long sys_riscv_flush_icache(u64 start, u64 end, u64 flags)
{
    (void)start, (void)end;
    if (flags & ~1UL)
        return -EINVAL;
    fence_here(NULL);
    ipi_call((u32)harts_online(), fence_here, NULL);
    return 0;
}
