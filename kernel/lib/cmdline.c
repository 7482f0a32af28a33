/*
 * The kernel command line: words "key=value" or "key"; the words after "--" belong to init.
 */
#include "klib.h"

const char *cmdline = "";

static const char *next_word(const char *s, size_t *len)
{
    while (*s == ' ')
        s++;
    size_t n = 0;
    while (s[n] && s[n] != ' ')
        n++;
    *len = n;
    return n ? s : NULL;
}

const char *cmdline_get(const char *key, char *buf, size_t size)
{
    size_t key_len = strlen(key), n;
    for (const char *w = cmdline; (w = next_word(w, &n)); w += n) {
        if (n == 2 && w[0] == '-' && w[1] == '-')
            return NULL;
        if (n < key_len || strncmp(w, key, key_len) != 0)
            continue;
        if (n == key_len)
            return strlcpy(buf, "", size), buf;
        if (w[key_len] != '=')
            continue;
        size_t value_len = MIN(n - key_len - 1, size - 1);
        memcpy(buf, w + key_len + 1, value_len);
        buf[value_len] = 0;
        return buf;
    }
    return NULL;
}

u64 cmdline_get_u64(const char *key, u64 fallback)
{
    char value[32];
    return cmdline_get(key, value, sizeof(value)) ? strtou64(value, NULL, 0) : fallback;
}
