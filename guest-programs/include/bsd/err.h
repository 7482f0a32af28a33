/* errc(3) and its kin: the error number is an argument. */
#ifndef KCOVBOX_BSD_ERR_H
#define KCOVBOX_BSD_ERR_H

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

static inline void __attribute__((__unused__, __format__(__printf__, 2, 0)))
vwarnc(int code, const char *fmt, va_list ap)
{
    int saved = errno;
    errno = code;
    vwarn(fmt, ap);
    errno = saved;
}

static inline void __attribute__((__unused__, __format__(__printf__, 2, 3)))
warnc(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vwarnc(code, fmt, ap);
    va_end(ap);
}

static inline void __attribute__((__unused__, __noreturn__, __format__(__printf__, 3, 0)))
verrc(int status, int code, const char *fmt, va_list ap)
{
    vwarnc(code, fmt, ap);
    exit(status);
}

static inline void __attribute__((__unused__, __noreturn__, __format__(__printf__, 3, 4)))
errc(int status, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    verrc(status, code, fmt, ap);
}

#endif
