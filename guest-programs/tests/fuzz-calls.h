/*
 * The system calls and the kinds of their arguments: one row per call, a letter of fuzz-values.h
 * per argument. Repeated rows are chosen more often. Included by fuzz.c.
 *
 * Not here: exit, exit_group, reboot, rt_sigreturn and the clone family, which the acts call; pure
 * random numbers reach all of them but reboot.
 */
#pragma once
#include "fuzz-values.h"

struct row {
    short nr;
    char kinds[7];
};

/* Of the BSD personalities. */
#define SYS_kqueue1 244
#define SYS_kevent  245

static const struct row rows[] = {
    {SYS_setxattr, "PNbs0"},
    {SYS_setxattr, "PNbsi"},
    {SYS_lsetxattr, "PNbsi"},
    {SYS_fsetxattr, "fNbs0"},
    {SYS_getxattr, "PNbs"},
    {SYS_fgetxattr, "fNbs"},
    {SYS_listxattr, "Pbs"},
    {SYS_flistxattr, "fbs"},
    {SYS_removexattr, "PN"},
    {SYS_fremovexattr, "fN"},
    {SYS_getcwd, "bs"},
    {SYS_eventfd2, "ii"},
    {SYS_epoll_create1, "i"},
    {SYS_epoll_ctl, "fife"},
    {SYS_epoll_ctl, "fife"},
    {SYS_epoll_ctl, "fife"},
    {SYS_epoll_pwait, "fbiiz8"},
    {SYS_epoll_pwait2, "fbitz8"},
    {SYS_dup, "f"},
    {SYS_dup3, "ffi"},
    {SYS_fcntl, "fiix"},
    {SYS_fcntl, "fin"},
    {SYS_fcntl, "fxi"},
    {SYS_ioctl, "fqn"},
    {SYS_ioctl, "fqb"},
    {SYS_ioctl, "fqi"},
    {SYS_flock, "fi"},
    {SYS_mknodat, "DPmi"},
    {SYS_mknodat, "DPx0"},
    {SYS_mkdirat, "DPm"},
    {SYS_unlinkat, "DPi"},
    {SYS_unlinkat, "DPx"},
    {SYS_symlinkat, "PDP"},
    {SYS_linkat, "DPDPi"},
    {38 /* renameat */, "DPDP"},
    {SYS_renameat2, "DPDPi"},
    {SYS_umount2, "Pi"},
    {SYS_mount, "PPbxb"},
    {SYS_statfs, "Pb"},
    {SYS_fstatfs, "fb"},
    {SYS_truncate, "Po"},
    {SYS_ftruncate, "fo"},
    {SYS_fallocate, "fioo"},
    {SYS_faccessat, "DPi"},
    {SYS_faccessat2, "DPii"},
    {SYS_chdir, "P"},
    {SYS_fchdir, "f"},
    {SYS_chroot, "P"},
    {SYS_fchmod, "fm"},
    {SYS_fchmodat, "DPm"},
    {SYS_fchownat, "DPxxi"},
    {SYS_fchown, "fxx"},
    {SYS_openat, "DPFm"},
    {SYS_openat, "DPFm"},
    {SYS_openat, "DPFm"},
    {SYS_openat, "DPFm"},
    {SYS_close, "f"},
    {SYS_close, "f"},
    {SYS_close, "f"},
    {SYS_close_range, "ffi"},
    {SYS_pipe2, "bi"},
    {SYS_getdents64, "fbs"},
    {SYS_getdents64, "fbs"},
    {SYS_lseek, "foi"},
    {SYS_read, "fbs"},
    {SYS_read, "fbs"},
    {SYS_read, "fbs"},
    {SYS_write, "fbs"},
    {SYS_write, "fbs"},
    {SYS_write, "fbs"},
    {SYS_readv, "fvc"},
    {SYS_writev, "fvc"},
    {SYS_pread64, "fbso"},
    {SYS_pwrite64, "fbso"},
    {SYS_preadv, "fvcoo"},
    {SYS_pwritev, "fvcoo"},
    {SYS_preadv2, "fvcooi"},
    {SYS_pwritev2, "fvcooi"},
    {SYS_sendfile, "ffns"},
    {SYS_splice, "fnfnsi"},
    {SYS_tee, "ffsi"},
    {SYS_vmsplice, "fvci"},
    {SYS_copy_file_range, "fnfnsi"},
    {SYS_pselect6, "ibbbtz"},
    {SYS_ppoll, "bitz8"},
    {SYS_signalfd4, "fz8i"},
    {SYS_readlinkat, "DPbs"},
    {SYS_newfstatat, "DPbi"},
    {SYS_fstat, "fb"},
    {SYS_statx, "DPixb"},
    {SYS_sync, ""},
    {SYS_fsync, "f"},
    {SYS_fdatasync, "f"},
    {SYS_syncfs, "f"},
    {SYS_timerfd_create, "ki"},
    {SYS_timerfd_settime, "fitb"},
    {SYS_timerfd_gettime, "fb"},
    {SYS_timer_create, "kbb"},
    {SYS_timer_settime, "iitb"},
    {SYS_timer_delete, "i"},
    {SYS_utimensat, "DPti"},
    {SYS_inotify_init1, "i"},
    {SYS_inotify_add_watch, "fPx"},
    {SYS_memfd_create, "Pi"},
    {SYS_personality, "x"},
    {SYS_waitid, "ipbwb"},
    {SYS_wait4, "pbwb"},
    {SYS_set_tid_address, "b"},
    {SYS_futex, "uiitui"},
    {SYS_futex, "uiitui"},
    {SYS_futex, "uxxtux"},
    {SYS_set_robust_list, "bR"},
    {SYS_get_robust_list, "pbb"},
    {SYS_nanosleep, "tb"},
    {SYS_clock_nanosleep, "kitb"},
    {SYS_getitimer, "ib"},
    {SYS_setitimer, "ibb"},
    {SYS_clock_settime, "kt"},
    {SYS_clock_gettime, "kb"},
    {SYS_clock_getres, "kb"},
    {SYS_clock_adjtime, "kb"},
    {SYS_sched_setparam, "pb"},
    {SYS_sched_setscheduler, "pib"},
    {SYS_sched_getscheduler, "p"},
    {SYS_sched_getparam, "pb"},
    {SYS_sched_setaffinity, "psn"},
    {SYS_sched_getaffinity, "psb"},
    {SYS_sched_yield, ""},
    {SYS_sched_get_priority_max, "i"},
    {SYS_sched_get_priority_min, "i"},
    {SYS_sched_rr_get_interval, "pb"},
    {SYS_kill, "pS"},
    {SYS_kill, "pS"},
    {SYS_tkill, "pS"},
    {SYS_tgkill, "ppS"},
    {SYS_sigaltstack, "bb"},
    {SYS_rt_sigsuspend, "z8"},
    {SYS_rt_sigaction, "Snb8"},
    {SYS_rt_sigprocmask, "inb8"},
    {SYS_rt_sigpending, "b8"},
    {SYS_rt_sigtimedwait, "zbt8"},
    {SYS_rt_sigqueueinfo, "pSb"},
    {SYS_rt_tgsigqueueinfo, "ppSb"},
    {SYS_setpriority, "ipi"},
    {SYS_getpriority, "ip"},
    {SYS_setregid, "xx"},
    {SYS_setgid, "x"},
    {SYS_setreuid, "xx"},
    {SYS_setuid, "x"},
    {SYS_setresuid, "xxx"},
    {SYS_getresuid, "bbb"},
    {SYS_setresgid, "xxx"},
    {SYS_getresgid, "bbb"},
    {SYS_times, "b"},
    {SYS_setpgid, "pp"},
    {SYS_getpgid, "p"},
    {SYS_getsid, "p"},
    {SYS_setsid, ""},
    {SYS_getgroups, "ib"},
    {SYS_setgroups, "ib"},
    {SYS_uname, "b"},
    {SYS_sethostname, "bs"},
    {SYS_setdomainname, "bs"},
    {SYS_getrlimit, "ib"},
    {SYS_setrlimit, "ib"},
    {SYS_prlimit64, "0ibb"},
    {SYS_getrusage, "ib"},
    {SYS_umask, "m"},
    {SYS_prctl, "ixxxx"},
    {SYS_prctl, "xb000"},
    {SYS_getcpu, "bb"},
    {SYS_gettimeofday, "bb"},
    {SYS_settimeofday, "bb"},
    {SYS_getpid, ""},
    {SYS_getppid, ""},
    {SYS_getuid, ""},
    {SYS_gettid, ""},
    {SYS_sysinfo, "b"},
    {SYS_socket, "UT0"},
    {SYS_socketpair, "UT0b"},
    {SYS_socketpair, "UT0b"},
    {SYS_bind, "faA"},
    {SYS_listen, "fi"},
    {SYS_accept, "fbn"},
    {SYS_accept4, "fbni"},
    {SYS_connect, "faA"},
    {SYS_getsockname, "fbn"},
    {SYS_getpeername, "fbn"},
    {SYS_sendto, "fbsiaA"},
    {SYS_sendto, "fbsi00"},
    {SYS_recvfrom, "fbsibn"},
    {SYS_setsockopt, "fiinn"},
    {SYS_getsockopt, "fiibn"},
    {SYS_shutdown, "fi"},
    {SYS_sendmsg, "fhi"},
    {SYS_sendmsg, "fh0"},
    {SYS_sendmsg, "fh0"},
    {SYS_recvmsg, "fhi"},
    {SYS_recvmsg, "fhi"},
    {SYS_sendmmsg, "fhci"},
    {SYS_recvmmsg, "fhcit"},
    {SYS_readahead, "fos"},
    {SYS_fadvise64, "foos"},
    {SYS_brk, "x"},
    {SYS_munmap, "ML"},
    {SYS_munmap, "ML"},
    {SYS_mremap, "MLLiM"},
    {SYS_mremap, "MLLiM"},
    {SYS_mmap, "MLrgfo"},
    {SYS_mmap, "MLrgfo"},
    {SYS_mmap, "MLrgf0"},
    {SYS_mmap, "MLrgf0"},
    {SYS_mprotect, "MLr"},
    {SYS_mprotect, "MLr"},
    {SYS_msync, "MLi"},
    {SYS_mlock, "ML"},
    {SYS_munlock, "ML"},
    {SYS_mlockall, "i"},
    {SYS_munlockall, ""},
    {SYS_mincore, "MLb"},
    {SYS_madvise, "MLi"},
    {SYS_madvise, "MLi"},
    {SYS_process_vm_readv, "pvcvc0"},
    {SYS_execve, "PbP"},
    {SYS_kqueue1, "i"},
    {SYS_kevent, "fbibit"},
    {258 /* riscv_hwprobe */, "bib0i"},
    {259 /* riscv_flush_icache */, "bbi"},
    {SYS_getrandom, "bsi"},
    {SYS_membarrier, "ii"},
    {SYS_unshare, "x"},
    {SYS_pidfd_open, "pi"},
    {SYS_rseq, "bsix"},
    {SYS_shmget, "ism"},
    {SYS_shmctl, "iib"},
    {SYS_shmat, "iMx"},
    {SYS_shmdt, "M"},
};

static bool is_excluded(uint64_t nr)
{
    return nr == SYS_exit || nr == SYS_exit_group || nr == SYS_reboot;
}

static bool is_kill(uint64_t nr)
{
    return (nr >= SYS_kill && nr <= SYS_tgkill) || nr == SYS_rt_sigqueueinfo ||
           nr == SYS_rt_tgsigqueueinfo;
}

/* Makes a call and counts it. */
static long counted(struct fuzzer *f, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                    uint64_t e, uint64_t g)
{
    __atomic_add_fetch(&shared->calls, 1, __ATOMIC_RELAXED);
    shared->progress[f->slot]++;
    shared->tried[nr]++;
    long result = raw(nr, a, b, c, d, e, g);
    if (result < -4095 || result >= 0)
        shared->good[nr]++;
    return result;
}

/* Arms the failure of one of the next allocations of this thread. */
static void maybe_fail_allocation(struct fuzzer *f)
{
    char digit = (char)('1' + pick(f, 6));
    if (once_in(f, 8))
        RAW3(SYS_write, FAIL_FD, &digit, 1);
}

static void random_call(struct fuzzer *f)
{
    const struct row *row = &CHOOSE(f, rows);
    uint64_t nr = (uint64_t)row->nr, args[6];
    bool blind = once_in(f, 25);
    if (blind)
        nr = pick(f, NR_MAX);
    if (is_excluded(nr))
        return;
    bool plausible = !blind;
    for (int i = 0; i < 6; i++) {
        plausible = plausible && row->kinds[i];
        args[i] = plausible && !once_in(f, 40) ? value_of_kind(f, row->kinds[i]) : any_value(f);
    }
    if (is_kill(nr) && (args[0] == 1 || args[1] == 1))
        args[0] = args[1] = 0; /* process 1 is the fuzzer's own */
    maybe_fail_allocation(f);
    counted(f, (long)nr, args[0], args[1], args[2], args[3], args[4], args[5]);
    if (RAW0(SYS_getpid) != f->pid) /* a random number was a clone: this is the child */
        raw(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}
