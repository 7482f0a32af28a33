/* The BSDs' <string.h>, beyond glibc 2.36's. */
#ifndef KCOVBOX_BSD_STRING_H
#define KCOVBOX_BSD_STRING_H

static inline size_t __attribute__((__unused__)) strlcpy(char *to, const char *from, size_t size)
{
    size_t length = strlen(from);
    if (size) {
        size_t part = length < size ? length : size - 1;
        memcpy(to, from, part);
        to[part] = '\0';
    }
    return length;
}

static inline size_t __attribute__((__unused__)) strlcat(char *to, const char *from, size_t size)
{
    size_t used = strnlen(to, size);
    return used + (used < size ? strlcpy(to + used, from, size - used) : strlen(from));
}

static inline int __attribute__((__unused__)) timingsafe_bcmp(const void *a, const void *b,
                                                              size_t size)
{
    const unsigned char *x = a, *y = b;
    unsigned char differ = 0;
    while (size--)
        differ |= *x++ ^ *y++;
    return differ != 0;
}

#endif
