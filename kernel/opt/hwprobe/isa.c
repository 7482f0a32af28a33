/*
 * Extensions of the harts, from riscv,isa-extensions. Divergence: old QEMUs provide riscv,isa only;
 * Linux then parses that string, this kernel assumes the base extensions.
 */
#include "opt/hwprobe/isa.h"
#include "opt/hwprobe/hart.h"
#include "fdt.h"
#include "klib.h"
#include "riscv.h"

#define SENVCFG_CBZE (1UL << 7) /* cbo.zero in user mode; Priv §10.1.10 */

int isa_node(void)
{
    static int node = -1;
    for (int n = node < 0 ? fdt_next_node(-1) : -1; n >= 0; n = fdt_next_node(n)) {
        const char *type = fdt_prop_string(n, "device_type");
        if (type && strcmp(type, "cpu") == 0) {
            node = n;
            break;
        }
    }
    return node;
}

bool isa_has(const char *name)
{
    u32 len;
    const char *list = fdt_prop(isa_node(), "riscv,isa-extensions", &len);
    for (u32 i = 0; list && i < len; i += (u32)strlen(list + i) + 1)
        if (strcmp(list + i, name) == 0)
            return true;
    return false;
}

const char *isa_string(void)
{
    const char *isa = fdt_prop_string(isa_node(), "riscv,isa");
    return isa ? isa : "rv64imafdc";
}

void isa_init_hart(void)
{
    if (isa_has("zicboz"))
        csr_set(senvcfg, SENVCFG_CBZE);
}
