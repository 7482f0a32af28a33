/* dev.h: devices without hardware, which proc/init.c starts. */
#pragma once

void mem_devices_init(void);
