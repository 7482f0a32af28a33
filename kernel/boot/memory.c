/* kcov: not instrumented on linux: early boot */
/*
 * Finds the free RAM: the first "memory" node, minus the firmware below the kernel, the kernel
 * image, the page array (and KASAN's shadow), the device tree and the initramfs. RAM above physical
 * 4 GiB is outside the linear map and is not used.
 */
#include "alloc.h"
#include "boot.h"
#include "fdt.h"
#include "klib.h"
#include "memlayout.h"

extern char __kernel_end[];

const void *initrd_start;
u64 initrd_size;

struct range {
    u64 start, end;
};

static u64 chosen_address(const char *name)
{
    u32 len;
    const u8 *p = fdt_prop(fdt_find_node("chosen"), name, &len);
    u64 value = 0;
    for (u32 i = 0; p && i < len; i++)
        value = value << 8 | p[i];
    return value;
}

static void find_ram(struct range *ram)
{
    for (int n = fdt_next_node(-1); n >= 0; n = fdt_next_node(n)) {
        const char *type = fdt_prop_string(n, "device_type");
        u64 size;
        if (!type || strcmp(type, "memory") != 0 || !fdt_reg(n, 0, &ram->start, &size))
            continue;
        ram->end = MIN(ram->start + size, LINEAR_SIZE);
        return;
    }
    panic("no memory node in the device tree");
}

/* Give [start, end) to the allocator except what lies in the n reserved ranges. */
static void add_around(u64 start, u64 end, const struct range *reserved, int n)
{
    for (int i = 0; i < n; i++) {
        if (reserved[i].end <= start || reserved[i].start >= end)
            continue;
        if (reserved[i].start > start)
            add_around(start, reserved[i].start, reserved, n);
        start = reserved[i].end;
        if (start >= end)
            return;
    }
    page_add_range(start, end);
}

static struct range page_range(u64 start, u64 size)
{
    return (struct range){ALIGN_DOWN(start, PAGE_SIZE), ALIGN_UP(start + size, PAGE_SIZE)};
}

void memory_init(void)
{
    struct range ram;
    find_ram(&ram);
    u64 initrd = chosen_address("linux,initrd-start");
    initrd_size = chosen_address("linux,initrd-end") - initrd;
    initrd_start = initrd_size ? pa_to_va(initrd) : NULL;

    u64 fdt_size = __builtin_bswap32(((const u32 *)fdt_blob())[1]);
    u64 array = ALIGN_UP(va_to_pa(__kernel_end), PAGE_SIZE);
    u64 array_size = (ram.end - ram.start) / PAGE_SIZE * sizeof(struct page);
    struct range reserved[] = {
        page_range(va_to_pa(fdt_blob()), fdt_size),
        page_range(initrd, initrd_size),
    };
    u64 shadow = ALIGN_UP(array + array_size, PAGE_SIZE);
    u64 array_end = ALIGN_UP(shadow + kasan_shadow_size(ram.start, ram.end), PAGE_SIZE);
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (reserved[i].start < array_end && reserved[i].end > array)
            panic("the page array [%lx, %lx) overlaps boot data at %lx", array, array_end,
                  reserved[i].start);
    page_init(ram.start, ram.end);
    kasan_init(pa_to_va(shadow), ram.start, ram.end);
    add_around(array_end, ram.end, reserved, ARRAY_LEN(reserved));
}
