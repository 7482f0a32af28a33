/* dev.h: what the files of this folder offer to proc/init.c: devices without hardware. */
#pragma once

void mem_devices_init(void);
