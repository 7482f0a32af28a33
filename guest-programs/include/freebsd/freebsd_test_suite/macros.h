/* Requirements of FreeBSD's own tests: what the kernel must have, else the case is skipped. */
#ifndef KCOVBOX_FREEBSD_TEST_SUITE_MACROS_H
#define KCOVBOX_FREEBSD_TEST_SUITE_MACROS_H

#include <sys/module.h>
#include <sys/sysctl.h>

#include <errno.h>
#include <string.h>

#include <atf-c.h>

#define ATF_REQUIRE_FEATURE(name)                                                                  \
    do {                                                                                           \
        if (!feature_present(name))                                                                \
            atf_tc_skip("kernel feature (%s) not present", name);                                  \
    } while (0)

#define ATF_REQUIRE_KERNEL_MODULE(name)                                                            \
    do {                                                                                           \
        if (modfind(name) == -1 && errno == ENOENT)                                                \
            atf_tc_skip("module %s could not be resolved: %s", name, strerror(errno));             \
    } while (0)

#define KCOVBOX_REQUIRE_SYSCTL(want, name)                                                         \
    do {                                                                                           \
        int kcovbox_value;                                                                         \
        size_t kcovbox_size = sizeof(kcovbox_value);                                               \
        if (sysctlbyname(name, &kcovbox_value, &kcovbox_size, NULL, 0) == -1)                      \
            atf_tc_skip("sysctl for %s failed: %s", name, strerror(errno));                        \
        if (kcovbox_value != (want))                                                               \
            atf_tc_skip("sysctl %s is %d, not %d", name, kcovbox_value, want);                     \
    } while (0)
#define ATF_REQUIRE_SYSCTL_INT(name, want)  KCOVBOX_REQUIRE_SYSCTL(want, name)
#define ATF_REQUIRE_SYSCTL_BOOL(name, want) KCOVBOX_REQUIRE_SYSCTL(want, name)

#define PLAIN_REQUIRE_KERNEL_MODULE(name, status)                                                  \
    do {                                                                                           \
        if (modfind(name) == -1 && errno == ENOENT) {                                              \
            printf("module %s could not be resolved: %s\n", name, strerror(errno));                \
            _exit(status);                                                                         \
        }                                                                                          \
    } while (0)

#endif
