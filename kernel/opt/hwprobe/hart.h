/* hart.h: extensions of a hart that programs may use. */
#pragma once
#include "optional.h"

/* Enables the instructions that user mode may use on this hart (senvcfg). */
OPTIONAL(CONFIG_HWPROBE, void, isa_init_hart, (void))
