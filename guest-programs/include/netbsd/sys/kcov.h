/* NetBSD's <sys/kcov.h>: commands, modes and remotes of kcov(4). */
#ifndef _SYS_KCOV_H_
#define _SYS_KCOV_H_

#include <stdint.h>
#include <sys/ioccom.h>

struct kcov_ioc_remote_attach {
    uint64_t subsystem;
    uint64_t id;
};

#define KCOV_IOC_SETBUFSIZE    _IOW('K', 1, uint64_t)
#define KCOV_IOC_ENABLE        _IOW('K', 2, int)
#define KCOV_IOC_DISABLE       _IO('K', 3)
#define KCOV_IOC_REMOTE_ATTACH _IOW('K', 10, struct kcov_ioc_remote_attach)
#define KCOV_IOC_REMOTE_DETACH _IO('K', 11)

#define KCOV_MODE_NONE      0
#define KCOV_MODE_TRACE_PC  1
#define KCOV_MODE_TRACE_CMP 2

#define KCOV_REMOTE_VHCI 0
#define KCOV_REMOTE_VHCI_ID(bus, port)                                                             \
    (((uint64_t)(bus) << 32) | ((uint64_t)(port) & 0xffffffffULL))

typedef volatile uint64_t kcov_int_t;
#define KCOV_ENTRY_SIZE sizeof(kcov_int_t)

#define KCOV_STORE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define KCOV_LOAD(x)     __atomic_load_n(&(x), __ATOMIC_RELAXED)

#endif
