/*
 * edu.h: the registers of the teaching device, for dev/edu.c and opt/edu/edu.c. They are those of
 * QEMU's device of the same name (docs/specs/edu); see devices/edu.ts.
 */
#pragma once

enum reg {
    ID = 0x00,
    LIVENESS = 0x04,
    FACTORIAL = 0x08,
    STATUS = 0x20,
    INTERRUPT_STATUS = 0x24,
    ACKNOWLEDGE = 0x64,
    DMA_SOURCE = 0x80,
    DMA_TARGET = 0x88,
    DMA_COUNT = 0x90,
    DMA_COMMAND = 0x98,
};

#define ID_VALUE      0x010000ed
#define STATUS_BUSY   0x01
#define STATUS_ERROR  0x02
#define STATUS_IRQ    0x80
#define DMA_START     1
#define DMA_TO_MEMORY 2
#define DMA_IRQ       4
#define DEVICE_BUFFER 0x40000 /* the device's own buffer, as the DMA registers address it */
