/* fw_cfg.h: files that the machine holds ready for its guest. */
#pragma once
#include "types.h"

struct fw_cfg_file {
    u16 key;
    u32 size;
};

/* False when there is no such file, or no device. */
bool fw_cfg_find(const char *name, struct fw_cfg_file *file);
/* Makes the file the one that fw_cfg_read() reads, from its start. */
void fw_cfg_open(const struct fw_cfg_file *file);
/* The next n bytes, to memory of the linear map; zeros behind the end of the file. */
void fw_cfg_read(void *to, u32 n);
