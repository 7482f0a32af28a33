/* machine.c: sysinfo(2), reboot(2). */
#include "abi/errno.h"
#include "alloc.h"
#include "boot.h"
#include "klib.h"
#include "proc.h"
#include "proc/each.h"
#include "syscall.h"
#include "vm.h"

struct sysinfo {
    i64 uptime;
    u64 loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap;
    u16 procs, pad;
    u64 totalhigh, freehigh;
    u32 mem_unit;
};

static bool count_proc(struct proc *p, void *arg)
{
    (void)p;
    ++*(u16 *)arg;
    return true;
}

long sys_sysinfo(u64 addr)
{
    struct sysinfo s;
    memset(&s, 0, sizeof(s));
    s.uptime = (i64)(time_now() / TICKS_PER_SEC);
    s.totalram = pages_total_count() * PAGE_SIZE;
    s.freeram = pages_free_count() * PAGE_SIZE;
    s.mem_unit = 1;
    proc_for_each(count_proc, &s.procs);
    return copyout(addr, &s, sizeof(s));
}

#define REBOOT_MAGIC1   0xfee1dead
#define REBOOT_RESTART  0x01234567
#define REBOOT_HALT     0xcdef0123
#define REBOOT_POWEROFF 0x4321fedc
#define REBOOT_CAD_OFF  0
#define REBOOT_CAD_ON   0x89abcdef
#define FINISHER_RESET  0x7777

long sys_reboot(u64 magic1, u64 magic2, u64 command, u64 arg)
{
    (void)magic2, (void)arg;
    if (curproc->euid)
        return -EPERM;
    if ((u32)magic1 != REBOOT_MAGIC1)
        return -EINVAL;
    switch ((u32)command) {
    case REBOOT_HALT:
    case REBOOT_POWEROFF:
        power_off(0);
    case REBOOT_RESTART:
        power_end(FINISHER_RESET, 1, 0);
    case REBOOT_CAD_OFF:
    case REBOOT_CAD_ON:
        return 0;
    default:
        return -EINVAL;
    }
}

static long set_name(char *name, va_t addr, u64 len)
{
    char text[65] = "";
    if (curproc->euid)
        return -EPERM;
    if (len > 64)
        return -EINVAL;
    if (copyin(text, addr, len))
        return -EFAULT;
    strlcpy(name, text, sizeof(text));
    return 0;
}

long sys_sethostname(u64 addr, u64 len)
{
    return set_name(node_name, addr, len);
}

long sys_setdomainname(u64 addr, u64 len)
{
    return set_name(domain_name, addr, len);
}
