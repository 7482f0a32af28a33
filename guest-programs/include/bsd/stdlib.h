/* The BSDs' <stdlib.h>, beyond glibc's. */
#ifndef KCOVBOX_BSD_STDLIB_H
#define KCOVBOX_BSD_STDLIB_H

#include <errno.h>
#include <limits.h>
#include <string.h>

extern char *program_invocation_short_name;

/* A number in [lowest, highest], or 0 with *why saying what is wrong (and errno EINVAL, ERANGE). */
static inline long long __attribute__((__unused__)) strtonum(const char *text, long long lowest,
                                                             long long highest, const char **why)
{
    int saved = errno;
    const char *what = NULL;
    long long value = 0;
    char *end;

    errno = 0;
    if (lowest > highest) {
        what = "invalid";
        errno = EINVAL;
    } else {
        value = strtoll(text, &end, 10);
        if (end == text || *end != '\0') {
            what = "invalid";
            errno = EINVAL;
        } else if ((value == LLONG_MIN && errno == ERANGE) || value < lowest) {
            what = "too small";
            errno = ERANGE;
        } else if ((value == LLONG_MAX && errno == ERANGE) || value > highest) {
            what = "too large";
            errno = ERANGE;
        }
    }
    if (why)
        *why = what;
    if (what)
        return 0;
    errno = saved;
    return value;
}

static inline const char *__attribute__((__unused__)) getprogname(void)
{
    return program_invocation_short_name;
}

static inline void __attribute__((__unused__)) setprogname(const char *name)
{
    const char *slash = strrchr(name, '/');
    program_invocation_short_name = (char *)(slash ? slash + 1 : name);
}

static inline void *__attribute__((__unused__)) recallocarray(void *old, size_t had, size_t want,
                                                              size_t size)
{
    void *fresh = calloc(want, size);
    if (fresh && old) {
        memcpy(fresh, old, (had < want ? had : want) * size);
        explicit_bzero(old, had * size);
        free(old);
    }
    return fresh;
}

static inline void __attribute__((__unused__)) freezero(void *p, size_t size)
{
    if (p)
        explicit_bzero(p, size);
    free(p);
}

#endif
