/* flags.h: the flags of sigaltstack(2), and its smallest size. */
#pragma once

#define SA_ONSTACK    0x08000000UL /* of sigaction(2) */
#define SS_ONSTACK    1
#define SS_DISABLE    2
#define SS_AUTODISARM (-0x7fffffff - 1) /* bit 31 */
#define MINSIGSTKSZ   2048
