/* Requirements of NetBSD's own tests: a call that must not fail with errno, or with its result. */
#ifndef KCOVBOX_NETBSD_H_MACROS_H
#define KCOVBOX_NETBSD_H_MACROS_H

#include <errno.h>
#include <string.h>

#include <atf-c.h>

#define REQUIRE_LIBC(x, v) ATF_REQUIRE_MSG((x) != (v), "%s: %s", #x, strerror(errno))
#define CHECK_LIBC(x, v)   ATF_CHECK_MSG((x) != (v), "%s: %s", #x, strerror(errno))
#define RL(x)              REQUIRE_LIBC(x, -1)
#define RZ(x)                                                                                      \
    do {                                                                                           \
        int kcovbox_error = (x);                                                                   \
        ATF_REQUIRE_MSG(kcovbox_error == 0, "%s: %s", #x, strerror(kcovbox_error));                \
    } while (0)
#define RZF(x, fmt, arg)                                                                           \
    do {                                                                                           \
        int kcovbox_error = (x);                                                                   \
        ATF_REQUIRE_MSG(kcovbox_error == 0, "%s: %s [" fmt "]", #x, strerror(kcovbox_error), arg); \
    } while (0)
#define RLF(x, fmt, arg) ATF_REQUIRE_MSG((x) != -1, "%s: %s [" fmt "]", #x, strerror(errno), arg)
#define FAIL(msg, ...)                                                                             \
    do {                                                                                           \
        atf_tc_fail(msg, ##__VA_ARGS__);                                                           \
        goto fail;                                                                                 \
    } while (0)
#define ATF_REQUIRE_ERROR_IS(want) ATF_REQUIRE_EQ(errno, want)

#endif
