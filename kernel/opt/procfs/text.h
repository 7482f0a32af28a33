/* text.h: the text of a file that is generated when it is opened. */
#pragma once

#include "types.h"

struct textbuf {
    char *buf;
    u64 len, cap;
    bool failed;
};
void text_printf(struct textbuf *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_put(struct textbuf *t, const char *s, u64 n);
