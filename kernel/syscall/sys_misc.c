/*
 * System calls about the system: names, limits, random bytes, scheduling parameters, prctl, power.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "riscv.h"
#include "syscall.h"
#include "vm.h"

struct utsname {
    char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};

static char node_name[65] = "kcovbox", domain_name[65] = "(none)";

#if defined(CONFIG_PERSONALITY_OPENBSD)
#define PERSONALITY "openbsd"
#elif defined(CONFIG_PERSONALITY_NETBSD)
#define PERSONALITY "netbsd"
#elif defined(CONFIG_PERSONALITY_FREEBSD)
#define PERSONALITY "freebsd"
#else
#define PERSONALITY "linux"
#endif

/* C libraries refuse old kernels, so sysname and release are Linux's; version names this kernel. */
long sys_uname(u64 addr)
{
    struct utsname u;
    memset(&u, 0, sizeof(u));
    strlcpy(u.sysname, "Linux", sizeof(u.sysname));
    strlcpy(u.nodename, node_name, sizeof(u.nodename));
    strlcpy(u.release, "6.1.0-kcovbox", sizeof(u.release));
    strlcpy(u.version, "#1 kcovbox " PERSONALITY, sizeof(u.version));
    strlcpy(u.machine, "riscv64", sizeof(u.machine));
    strlcpy(u.domainname, domain_name, sizeof(u.domainname));
    return copyout(addr, &u, sizeof(u));
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

/* Limits */

static long set_limit(struct proc *p, int which, const struct rlimit64 *new)
{
    if (new->cur > new->max)
        return -EINVAL;
    if (new->max > p->rlimits[which].max && curproc->euid)
        return -EPERM;
    p->rlimits[which] = *new;
    return 0;
}

/* Other processes: the superuser, or one whose real ids are all the ids of the target. */
static bool may_limit(const struct proc *p)
{
    const struct proc *me = curproc;
    return p == me || !me->euid ||
           (me->uid == p->uid && me->uid == p->euid && me->uid == p->suid && me->gid == p->gid &&
            me->gid == p->egid && me->gid == p->sgid);
}

long sys_prlimit64(u64 pid, u64 which, u64 new_addr, u64 old_addr)
{
    struct rlimit64 new, old;
    if (which >= RLIM_COUNT)
        return -EINVAL;
    if (new_addr && copyin(&new, new_addr, sizeof(new)))
        return -EFAULT;
    spin_lock(&proc_lock);
    struct proc *p = pid ? proc_find((int)pid) : curproc;
    long error = !p ? -ESRCH : may_limit(p) ? 0 : -EPERM;
    if (!error)
        old = p->rlimits[which];
    if (!error && new_addr)
        error = set_limit(p, (int)which, &new);
    spin_unlock(&proc_lock);
    return error || !old_addr ? error : copyout(old_addr, &old, sizeof(old));
}

long sys_getrlimit(u64 which, u64 addr)
{
    return sys_prlimit64(0, which, 0, addr);
}

long sys_setrlimit(u64 which, u64 addr)
{
    return sys_prlimit64(0, which, addr, 0);
}

/* prctl */

#define PR_SET_PDEATHSIG    1
#define PR_GET_PDEATHSIG    2
#define PR_GET_DUMPABLE     3
#define PR_SET_DUMPABLE     4
#define PR_SET_NAME         15
#define PR_GET_NAME         16
#define PR_SET_NO_NEW_PRIVS 38
#define PR_GET_NO_NEW_PRIVS 39
#define PR_GET_TID_ADDRESS  40

long sys_prctl(u64 option, u64 a, u64 b, u64 c, u64 d)
{
    struct proc *p = curproc;
    char name[16] = "";
    (void)c, (void)d;
    switch (option) {
    case PR_SET_PDEATHSIG:
        if (a > NSIG)
            return -EINVAL;
        p->pdeath_signal = (int)a;
        return 0;
    case PR_GET_PDEATHSIG:
        return put_user(a, p->pdeath_signal);
    case PR_GET_DUMPABLE:
        return p->dumpable;
    case PR_SET_DUMPABLE:
        if (a > 1)
            return -EINVAL;
        p->dumpable = (int)a;
        return 0;
    case PR_SET_NAME:
        if (copyinstr(name, a, sizeof(name)) == -EFAULT)
            return -EFAULT;
        name[sizeof(name) - 1] = 0;
        memcpy(current->name, name, sizeof(name));
        if (current->tid == p->pid)
            memcpy(p->comm, name, sizeof(name));
        return 0;
    case PR_GET_NAME:
        return copyout(a, current->name, sizeof(current->name));
    case PR_SET_NO_NEW_PRIVS:
        if (a != 1 || b)
            return -EINVAL;
        p->no_new_privs = true;
        return 0;
    case PR_GET_NO_NEW_PRIVS:
        return p->no_new_privs;
    case PR_GET_TID_ADDRESS:
        return put_user(a, current->clear_tid);
    default:
        return -EINVAL;
    }
}

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
        power_reboot();
    case REBOOT_CAD_OFF:
    case REBOOT_CAD_ON:
        return 0;
    default:
        return -EINVAL;
    }
}

long sys_personality(u64 persona)
{
    return (u32)persona == 0xffffffff || persona == 0 ? 0 : -EINVAL;
}
