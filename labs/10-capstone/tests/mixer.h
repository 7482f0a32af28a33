/* mixer.h: registers of the mixer, as the text of the lab has them. */
#pragma once

#define MIXER_COMPATIBLE "lab,mixer"
#define MIXER_ID_VALUE   0x6d697831

#define MIXER_ID      0x00 /* 32 bits, read only */
#define MIXER_ADDRESS 0x08 /* 64 bits: of the bytes, in memory */
#define MIXER_COUNT   0x10 /* 32 bits: how many; a write starts the work */
#define MIXER_STATUS  0x14 /* 32 bits */
#define MIXER_RESULT  0x18 /* 32 bits, read only */

#define MIXER_BUSY   1
#define MIXER_DONE   2 /* write 1 to clear */
#define MIXER_FAILED 4 /* write 1 to clear */

#define MIXER_BYTES_MAX 4096
