/*
 * virtio_console.c: the window size of the console, from a virtio console device (Virtio 1.2
 * §5.3.4, VIRTIO_CONSOLE_F_SIZE). The characters use the serial port, which cannot report a size;
 * the ports of the virtio device are not used.
 */
#include "abi/errno.h"
#include "klib.h"
#include "opt/terminal/tty.h"
#include "virtio.h"

#define F_SIZE (1UL << 0)

/* Configuration space: u16 cols, u16 rows. */
static void size_changed(struct virtio *v)
{
    u32 config = virtio_config32(v, 0);
    struct winsize size = {.rows = (u16)(config >> 16), .cols = (u16)config};

    if (v->features & F_SIZE && size.rows && size.cols)
        tty_resize(tty_console(), &size);
}

static int console_probe(struct device *dev)
{
    struct virtio *v;
    int err;

    if (!tty_console())
        return -EPROBE_DEFER; /* its serial port may come later in the device tree */
    v = dev_zalloc(dev, sizeof(*v));
    if (!v)
        return -ENOMEM;
    dev->priv = v;
    v->config_changed = size_changed;
    err = virtio_start(v, dev, F_SIZE);
    if (!err)
        size_changed(v);
    return err;
}

static void console_remove(struct device *dev)
{
    virtio_stop(dev->priv);
}

DRIVER(virtio_console){
    .match = MATCH_VIRTIO(VIRTIO_ID_CONSOLE),
    .probe = console_probe,
    .remove = console_remove,
};
