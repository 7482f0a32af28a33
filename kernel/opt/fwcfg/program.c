/* program.c: the program of this run, and the words of its command line. */
#include "abi/errno.h"
#include "alloc.h"
#include "boot.h"
#include "opt/paths/cpio.h"
#include "klib.h"
#include "memlayout.h"
#include "opt/fwcfg/fw_cfg.h"

#define WINDOW_ORDER 4

/* Puts the file behind the words of the device tree. */
static void extend_cmdline(const struct fw_cfg_file *file)
{
    size_t n = strlen(cmdline);
    char *text = kmalloc(n + file->size + 2);

    if (!text)
        panic("out of memory for a command line of %u bytes", file->size);
    memcpy(text, cmdline, n);
    text[n] = ' ';
    fw_cfg_open(file);
    fw_cfg_read(text + n + 1, file->size);
    text[n + 1 + file->size] = 0;
    cmdline = text;
}

/* Refills the window; n <= PART_MAX. */
static bool more(struct archive *a, u64 n)
{
    u64 some = MIN(a->behind, (PAGE_SIZE << WINDOW_ORDER) - a->ready);

    if (a->ready + some < n)
        return false;
    memmove(a->window, a->at, a->ready);
    fw_cfg_read(a->window + a->ready, (u32)some);
    a->at = a->window;
    a->ready += some;
    a->behind -= some;
    return true;
}

static int unpack(const struct fw_cfg_file *file)
{
    struct archive a = {.behind = file->size, .bytes = file->size, .more = more};
    pa_t window = page_alloc(WINDOW_ORDER);
    int err;

    if (!window)
        return -ENOMEM;
    a.window = pa_to_va(window);
    fw_cfg_open(file);
    err = cpio_unpack(&a);
    page_free(window, WINDOW_ORDER);
    return err;
}

/*
 * Takes the files that are for this one run: words of the command line, and an archive for the root
 * file system. Everything before this is the same whatever the program is: a host may save the
 * machine at our first access to the device, and start other programs from there.
 */
void take_program(void)
{
    struct fw_cfg_file file;

    if (fw_cfg_find("opt/kcovbox/cmdline", &file))
        extend_cmdline(&file);
    if (fw_cfg_find("opt/kcovbox/initrd", &file) && unpack(&file))
        kprintf("initrd: the archive is damaged, continuing with what was unpacked\n");
}
