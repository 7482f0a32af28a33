/*
 * Flattened device tree (DTSpec chapter 5), read in place. The offset of its BEGIN_NODE token
 * identifies a node; -1 means none. Node 0 is the root.
 */
#pragma once
#include "types.h"

void fdt_init(const void *blob);
const void *fdt_blob(void);
/* The first node whose "compatible" list has s, or -1. */
int fdt_find_compatible(const char *s);
int fdt_next_node(int node);         /* in tree order; -1 at the end */
int fdt_find_node(const char *name); /* the first of this name, or -1 */
const char *fdt_node_name(int node);
const void *fdt_prop(int node, const char *name, u32 *len);
const char *fdt_prop_string(int node, const char *name);
u32 fdt_prop_u32(int node, const char *name, u32 fallback);
/* n-th (address, size) of "reg", with the 2-cell addresses and sizes of this board. */
bool fdt_reg(int node, int n, u64 *addr, u64 *size);
/* First interrupt source, 0 when there is none. */
u32 fdt_irq(int node);
bool fdt_is_compatible(int node, const char *s);
