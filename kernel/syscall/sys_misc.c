/*
 * System calls about the system: its name, random bytes.
 */
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

struct utsname {
    char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};

char node_name[65] = "kcovbox", domain_name[65] = "(none)";

/* C libraries refuse old kernels, so sysname and release are Linux's; version names this kernel. */
long sys_uname(u64 addr)
{
    struct utsname u;
    memset(&u, 0, sizeof(u));
    strlcpy(u.sysname, "Linux", sizeof(u.sysname));
    strlcpy(u.nodename, node_name, sizeof(u.nodename));
    strlcpy(u.release, "6.1.0-kcovbox", sizeof(u.release));
    strlcpy(u.version, "#1 kcovbox " CONFIG_PERSONALITY, sizeof(u.version));
    strlcpy(u.machine, "riscv64", sizeof(u.machine));
    strlcpy(u.domainname, domain_name, sizeof(u.domainname));
    return copyout(addr, &u, sizeof(u));
}

long sys_getrandom(u64 addr, u64 len, u64 flags)
{
    u8 chunk[256];
    if (flags & ~7UL || (flags & 6) == 6)
        return -EINVAL;
    len = MIN(len, 0x7ffff000UL);
    for (u64 done = 0; done < len; done += sizeof(chunk)) {
        size_t n = MIN(sizeof(chunk), len - done);
        random_bytes(chunk, n);
        if (copyout(addr + done, chunk, n))
            return done ? (long)done : -EFAULT;
        if (signal_pending(current) && done + n < len)
            return (long)(done + n);
    }
    return (long)len;
}
