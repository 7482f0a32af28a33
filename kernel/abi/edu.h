/*
 * edu.h: /dev/edu, the teaching device, as programs see it.
 *
 *   ioctl(fd, EDU_FACTORIAL, &n)   n becomes n! modulo 2^32, computed by the device
 *   ioctl(fd, EDU_ID, &id)         0x010000ed
 *   pread, pwrite                  the device's 4096-byte buffer, moved by DMA
 *   poll                           POLLIN | POLLOUT while the device is idle
 */
#pragma once

#define EDU_FACTORIAL    0xc0044501u /* _IOWR('E', 1, unsigned int) */
#define EDU_ID           0x80044502u /* _IOR('E', 2, unsigned int) */
#define EDU_BUFFER_BYTES 4096
