/* dev.h: what the files of this room call of one another. */
#pragma once

#include "driver.h"

void mem_devices_init(void);
void pty_init(void);

extern const struct driver uart_driver, rtc_driver, virtio_mmio_driver, edu_driver;
