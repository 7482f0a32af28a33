/*
 * Flattened device tree reader (DTSpec chapter 5). The blob stays where the firmware put it (its
 * pages are reserved at boot); nodes are offsets into the structure block. Divergence: fdt_reg()
 * assumes that #address-cells and #size-cells are 2, which holds for this board.
 */
#include "fdt.h"
#include "klib.h"

#define FDT_MAGIC      0xd00dfeed
#define FDT_BEGIN_NODE 1
#define FDT_PROP       3
#define FDT_NOP        4
#define FDT_END        9

struct fdt_header {
    u32 magic, totalsize, off_struct, off_strings, off_mem_rsvmap;
    u32 version, last_comp_version, boot_cpuid, size_strings, size_struct;
};

static const u8 *blob, *structs, *strings;
static u32 struct_size;

static u32 be32(const void *p)
{
    const u8 *b = p;
    return (u32)b[0] << 24 | (u32)b[1] << 16 | (u32)b[2] << 8 | b[3];
}

static u64 be64(const void *p)
{
    return (u64)be32(p) << 32 | be32((const u8 *)p + 4);
}

void fdt_init(const void *tree)
{
    const struct fdt_header *h = tree;
    if (be32(&h->magic) != FDT_MAGIC)
        panic("no device tree at %p", tree);
    blob = tree;
    structs = blob + be32(&h->off_struct);
    strings = blob + be32(&h->off_strings);
    struct_size = be32(&h->size_struct);
}

const void *fdt_blob(void)
{
    return blob;
}

/* Offset of the token after the one at pos. */
static int token_end(int pos)
{
    switch (be32(structs + pos)) {
    case FDT_BEGIN_NODE:
        return (int)ALIGN_UP(pos + 4 + (int)strlen((const char *)structs + pos + 4) + 1, 4);
    case FDT_PROP:
        return (int)ALIGN_UP(pos + 12 + (int)be32(structs + pos + 4), 4);
    default:
        return pos + 4;
    }
}

int fdt_next_node(int node)
{
    int pos = node < 0 ? 0 : token_end(node);
    while ((u32)pos < struct_size) {
        u32 token = be32(structs + pos);
        if (token == FDT_BEGIN_NODE)
            return pos;
        if (token == FDT_END)
            return -1;
        pos = token_end(pos);
    }
    return -1;
}

const char *fdt_node_name(int node)
{
    return (const char *)structs + node + 4;
}

const void *fdt_prop(int node, const char *name, u32 *len)
{
    if (node < 0)
        return NULL;
    for (int pos = token_end(node); (u32)pos < struct_size; pos = token_end(pos)) {
        u32 token = be32(structs + pos);
        if (token == FDT_NOP)
            continue;
        if (token != FDT_PROP)
            return NULL;
        if (strcmp((const char *)strings + be32(structs + pos + 8), name) == 0) {
            if (len)
                *len = be32(structs + pos + 4);
            return structs + pos + 12;
        }
    }
    return NULL;
}

const char *fdt_prop_string(int node, const char *name)
{
    return fdt_prop(node, name, NULL);
}

u32 fdt_prop_u32(int node, const char *name, u32 fallback)
{
    u32 len;
    const void *p = fdt_prop(node, name, &len);
    return p && len >= 4 ? be32(p) : fallback;
}

bool fdt_is_compatible(int node, const char *s)
{
    u32 len;
    const char *list = fdt_prop(node, "compatible", &len);
    for (u32 i = 0; list && i < len; i += (u32)strlen(list + i) + 1)
        if (strcmp(list + i, s) == 0)
            return true;
    return false;
}

int fdt_find_compatible(const char *s)
{
    for (int node = fdt_next_node(-1); node >= 0; node = fdt_next_node(node))
        if (fdt_is_compatible(node, s))
            return node;
    return -1;
}

int fdt_find_node(const char *name)
{
    for (int node = fdt_next_node(-1); node >= 0; node = fdt_next_node(node))
        if (strcmp(fdt_node_name(node), name) == 0)
            return node;
    return -1;
}

bool fdt_reg(int node, int n, u64 *addr, u64 *size)
{
    u32 len;
    const u8 *reg = fdt_prop(node, "reg", &len);
    if (!reg || len < (u32)(n + 1) * 16)
        return false;
    *addr = be64(reg + n * 16);
    if (size)
        *size = be64(reg + n * 16 + 8);
    return true;
}

u32 fdt_irq(int node)
{
    return fdt_prop_u32(node, "interrupts", 0);
}
