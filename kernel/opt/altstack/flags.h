/* flags.h: the flags of sigaltstack(2), and its smallest size. */
#pragma once

#define SS_ONSTACK    1
#define SS_AUTODISARM (-0x7fffffff - 1) /* bit 31 */
#define MINSIGSTKSZ   2048
