/* OpenBSD's and others' calls that only restrict or decorate: they succeed and do nothing. */
#ifndef KCOVBOX_BSD_UNISTD_H
#define KCOVBOX_BSD_UNISTD_H

static int optreset __attribute__((__unused__));

static inline int __attribute__((__unused__)) pledge(const char *promises, const char *execpromises)
{
    (void)promises;
    (void)execpromises;
    return 0;
}

static inline int __attribute__((__unused__)) unveil(const char *path, const char *permissions)
{
    (void)path;
    (void)permissions;
    return 0;
}

static inline void __attribute__((__unused__)) setproctitle(const char *fmt, ...)
{
    (void)fmt;
}

static inline int __attribute__((__unused__)) issetugid(void)
{
    return getuid() != geteuid() || getgid() != getegid();
}

static inline int __attribute__((__unused__)) getthrid(void)
{
    return gettid();
}

#endif
