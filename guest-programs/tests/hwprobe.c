/* riscv_hwprobe(2): the rules of the call, and that cbo.zero works where it says so. */
#define _GNU_SOURCE
#include "check.h"
#include <stdint.h>
#include <sys/syscall.h>

enum { IMA_EXT_0 = 4, ZICBOZ_SIZE = 6, WHICH_CPUS = 1 };
#define ZICBOZ (1UL << 6)

struct pair {
    int64_t key;
    uint64_t value;
};

static long hwprobe(struct pair *pairs, size_t count, size_t size, uint64_t *cpus, unsigned flags)
{
    return syscall(258, pairs, count, size, cpus, flags);
}

static void values(void)
{
    struct pair pairs[] = {{3, 7}, {IMA_EXT_0, 7}, {8, 7}, {99, 7}, {-5, 7}};
    uint64_t none = 0, all = 0xff;

    CHECK(hwprobe(pairs, 5, 0, 0, 0) == 0);
    CHECK(pairs[0].key == 3 && pairs[0].value == 1);
    CHECK(pairs[1].key == IMA_EXT_0 && (pairs[1].value & 3) == 3);
    CHECK(pairs[2].value == 10000000);
    CHECK(pairs[3].key == -1 && pairs[3].value == 0);
    CHECK(pairs[4].key == -1 && pairs[4].value == 0);
    CHECK(hwprobe(pairs, 1, 8, &all, 0) == 0);
    CHECK(hwprobe(pairs, 1, 8, &none, 0) < 0 && errno == EINVAL);
    CHECK(hwprobe(pairs, 1, 0, 0, 2) < 0 && errno == EINVAL);
    CHECK(hwprobe((void *)8, 1, 0, 0, 0) < 0 && errno == EFAULT);
    CHECK(hwprobe(pairs, 1, 8, (void *)8, 0) < 0 && errno == EFAULT);
}

static void which_cpus(void)
{
    struct pair has = {IMA_EXT_0, 3}, lacks = {IMA_EXT_0, 1UL << 63}, unknown = {99, 0};
    uint64_t cpus = 0;

    CHECK(hwprobe(&has, 1, 0, 0, WHICH_CPUS) < 0 && errno == EINVAL);
    CHECK(hwprobe(&has, 1, 8, &cpus, WHICH_CPUS) == 0 && (cpus & 1) == 1);
    CHECK(has.value == 3);
    CHECK(hwprobe(&lacks, 1, 8, &cpus, WHICH_CPUS) == 0 && cpus == 0);
    cpus = 1;
    CHECK(hwprobe(&unknown, 1, 8, &cpus, WHICH_CPUS) == 0 && cpus == 0 && unknown.key == -1);
}

static void zeroes_blocks(void)
{
    struct pair pairs[] = {{IMA_EXT_0, 0}, {ZICBOZ_SIZE, 0}};
    static unsigned char block[192] __attribute__((aligned(64)));

    CHECK(hwprobe(pairs, 2, 0, 0, 0) == 0);
    printf("ima_ext_0 %lx\n", (unsigned long)pairs[0].value);
    if (!(pairs[0].value & ZICBOZ)) {
        CHECK(pairs[1].value == 0);
        return;
    }
    CHECK(pairs[1].value == 64);
    memset(block, 1, sizeof(block));
    __asm__ volatile(".insn i 0x0f, 2, x0, %0, 4" ::"r"(block + 70) : "memory"); /* cbo.zero */
    CHECK(block[63] == 1 && block[64] == 0 && block[127] == 0 && block[128] == 1);
}

static void cpuinfo(void)
{
    char buf[4096];
    FILE *f = fopen("/proc/cpuinfo", "r");
    size_t n;

    CHECK(f);
    n = fread(buf, 1, sizeof(buf) - 1, f);
    buf[n] = 0;
    fclose(f);
    fputs(strstr(buf, "isa\t\t: "), stdout);
}

int main(void)
{
    RUN(values);
    RUN(which_cpus);
    RUN(zeroes_blocks);
    RUN(cpuinfo);
    DONE();
}
