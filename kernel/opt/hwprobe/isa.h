/* isa.h: the extensions of the harts, from the device tree; all harts are alike. */
#pragma once
#include "types.h"

/* The node of the first hart. */
int isa_node(void);
/* Is this name, in lower case, among riscv,isa-extensions? */
bool isa_has(const char *name);
/* riscv,isa, for people to read. */
const char *isa_string(void);
