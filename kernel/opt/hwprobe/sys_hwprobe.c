/*
 * riscv_hwprobe(2) with the keys of Linux 6.12: the features of the harts, from the device tree.
 * All harts are alike on this board, so every set of harts has the same values.
 */
#include "abi/errno.h"
#include "fdt.h"
#include "opt/hwprobe/isa.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "sbi.h"
#include "syscall.h"
#include "vm.h"

#define SBI_BASE 0x10 /* SBI 2.0 chapter 4 */

#define WHICH_CPUS 1 /* flag: find the harts that have the given values */

enum {
    KEY_MVENDORID,
    KEY_MARCHID,
    KEY_MIMPID,
    KEY_BASE_BEHAVIOR,
    KEY_IMA_EXT_0,
    KEY_CPUPERF_0,
    KEY_ZICBOZ_BLOCK_SIZE,
    KEY_HIGHEST_VIRT_ADDRESS,
    KEY_TIME_CSR_FREQ,
    KEY_MISALIGNED_SCALAR_PERF,
};

#define BASE_BEHAVIOR_IMA 1
#define IMA_FD            (1UL << 0)
#define IMA_C             (1UL << 1)
#define MISALIGNED_FAST   3

struct hwprobe_pair {
    i64 key;
    u64 value;
};

/* Bits of KEY_IMA_EXT_0 by the name in riscv,isa-extensions; those the board can have. */
static const struct {
    const char *name;
    u8 bit;
} ima_ext_0[] = {
    {"zba", 3},          {"zbb", 4},     {"zbs", 5},        {"zicboz", 6}, {"zbc", 7},
    {"zkt", 16},         {"zfhmin", 28}, {"zihintntl", 29}, {"zfa", 32},   {"zicond", 35},
    {"zihintpause", 36}, {"zca", 43},    {"zcb", 44},       {"zcd", 45},
};

static u64 extensions(void)
{
    u64 bits = IMA_FD | IMA_C;
    for (size_t i = 0; i < ARRAY_LEN(ima_ext_0); i++)
        if (isa_has(ima_ext_0[i].name))
            bits |= 1UL << ima_ext_0[i].bit;
    return bits;
}

/* An unknown key becomes -1, which does not fail the call. */
static struct hwprobe_pair probe(i64 key)
{
    struct hwprobe_pair pair = {key, 0};
    switch (key) {
    case KEY_MVENDORID:
    case KEY_MARCHID:
    case KEY_MIMPID:
        pair.value = (u64)sbi_call(SBI_BASE, 4 + key - KEY_MVENDORID, 0, 0, 0, 0).value;
        break;
    case KEY_BASE_BEHAVIOR:
        pair.value = BASE_BEHAVIOR_IMA;
        break;
    case KEY_IMA_EXT_0:
        pair.value = extensions();
        break;
    case KEY_CPUPERF_0:
    case KEY_MISALIGNED_SCALAR_PERF:
        pair.value = MISALIGNED_FAST;
        break;
    case KEY_ZICBOZ_BLOCK_SIZE:
        pair.value = isa_has("zicboz") ? fdt_prop_u32(isa_node(), "riscv,cboz-block-size", 0) : 0;
        break;
    case KEY_HIGHEST_VIRT_ADDRESS:
        pair.value = USER_TOP;
        break;
    case KEY_TIME_CSR_FREQ:
        pair.value = fdt_prop_u32(fdt_find_node("cpus"), "timebase-frequency", 0);
        break;
    default:
        pair.key = -1;
    }
    return pair;
}

/* Does a hart have the value asked for? A set of bits may have more than those asked for. */
static bool answers(const struct hwprobe_pair *asked, const struct hwprobe_pair *is)
{
    bool is_set = asked->key == KEY_BASE_BEHAVIOR || asked->key == KEY_IMA_EXT_0;
    return is_set || asked->key == KEY_CPUPERF_0 ? (is->value & asked->value) == asked->value
                                                 : is->value == asked->value;
}

long sys_riscv_hwprobe(u64 pairs, u64 count, u64 cpu_size, u64 cpus_addr, u64 flags)
{
    bool which = flags == WHICH_CPUS;
    u64 set = 0, size = MIN(cpu_size, sizeof(set));

    if (flags & ~(u64)WHICH_CPUS || (which && (!cpu_size || !cpus_addr)))
        return -EINVAL;
    if ((cpu_size || cpus_addr) && copyin(&set, cpus_addr, size))
        return -EFAULT;
    if (which && !set)
        set = harts_online();
    set &= harts_online();
    if (!which && (cpu_size || cpus_addr) && !set)
        return -EINVAL;
    for (u64 i = 0; i < count; i++) {
        u64 at = pairs + i * sizeof(struct hwprobe_pair);
        struct hwprobe_pair asked, is;
        if (copyin(&asked, at, sizeof(asked)))
            return -EFAULT;
        is = probe(asked.key);
        if (which && (is.key < 0 || !answers(&asked, &is)))
            set = 0;
        if ((!which || is.key < 0) && copyout(at, &is, sizeof(is)))
            return -EFAULT;
        /* With millions of pairs the process must remain killable. */
        if (i % 4096 == 4095 && signal_pending(current))
            return -EINTR;
        sched_relax();
    }
    return which && copyout(cpus_addr, &set, size) ? -EFAULT : 0;
}
