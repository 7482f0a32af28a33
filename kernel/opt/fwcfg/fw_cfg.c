/*
 * fw_cfg.c: QEMU's device for handing files to a guest (QEMU docs/specs/fw_cfg.rst). A directory
 * names the files and their keys; a selected item is read from its start, here by DMA. Everything
 * is big-endian.
 *
 * Only process 1 uses it, before it executes its program, so there is no lock.
 *
 * Not modelled: writing, ACPI, reading without DMA.
 */
#include "opt/fwcfg/fw_cfg.h"
#include "fdt.h"
#include "klib.h"
#include "memlayout.h"
#include "riscv.h"

#define REG_DATA     0
#define REG_SELECTOR 8
#define REG_DMA      16

#define KEY_SIGNATURE 0x00
#define KEY_ID        0x01
#define KEY_DIRECTORY 0x19
#define ID_HAS_DMA    2

#define DMA_READ 2

struct dma {
    u32 control, length;
    u64 address;
};

struct directory_entry {
    u32 size;
    u16 key, reserved;
    char name[56];
};

static u8 *regs;

static void select(u16 key)
{
    mmio_write16(regs + REG_SELECTOR, __builtin_bswap16(key));
}

/* The data register gives bytes in the order of memory. */
static u32 read_u32(u16 key)
{
    select(key);
    return mmio_read32(regs + REG_DATA);
}

/* The device is there, and can do what we need. Its first register access is the one below. */
static bool is_present(void)
{
    static bool asked;
    u64 pa, size;
    int node = asked ? -1 : fdt_find_compatible("qemu,fw-cfg-mmio");

    asked = true;
    if (node < 0 || !fdt_reg(node, 0, &pa, &size))
        return regs != NULL;
    regs = pa_to_va(pa);
    if (read_u32(KEY_SIGNATURE) != __builtin_bswap32(0x51454d55) /* "QEMU" */ ||
        !(read_u32(KEY_ID) & ID_HAS_DMA))
        regs = NULL;
    return regs != NULL;
}

void fw_cfg_open(const struct fw_cfg_file *file)
{
    select(file->key);
}

void fw_cfg_read(void *to, u32 n)
{
    static volatile struct dma dma __attribute__((aligned(16)));

    dma.control = __builtin_bswap32(DMA_READ);
    dma.length = __builtin_bswap32(n);
    dma.address = __builtin_bswap64(va_to_pa(to));
    mmio_write64(regs + REG_DMA, __builtin_bswap64(va_to_pa((void *)&dma)));
    mb();
    while (dma.control & ~__builtin_bswap32(1)) /* QEMU is done by now; others may take a while */
        barrier();
    if (dma.control)
        panic("fw_cfg: a read of %u bytes failed", n);
}

bool fw_cfg_find(const char *name, struct fw_cfg_file *file)
{
    static struct directory_entry entry;
    static u32 count;

    if (!is_present())
        return false;
    select(KEY_DIRECTORY);
    fw_cfg_read(&count, sizeof(count));
    for (u32 i = __builtin_bswap32(count); i > 0; i--) {
        fw_cfg_read(&entry, sizeof(entry));
        if (strncmp(entry.name, name, sizeof(entry.name)) != 0)
            continue;
        *file = (struct fw_cfg_file){__builtin_bswap16(entry.key), __builtin_bswap32(entry.size)};
        return true;
    }
    return false;
}
