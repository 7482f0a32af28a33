/* mixer.c: driver of the mixer: write(2) takes bytes, read(2) gives their hash. */
#include "abi/errno.h"
#include "dev/mixer.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "riscv.h"

static int mixer_probe(struct device *dev)
{
    volatile u8 *regs = dev_ioremap(dev, 0);

    if (!regs)
        return -EBUSY;
    if (mmio_read32(regs + MIXER_ID) != MIXER_ID_VALUE)
        return -ENODEV;
    return 0;
}

DRIVER(mixer){.match = MATCH_TREE(MIXER_COMPATIBLE), .probe = mixer_probe};
