/* text.c: texts that grow while they are written. */
#include "opt/procfs/text.h"
#include "opt/slab/slab.h"
#include "klib.h"

void text_put(struct textbuf *t, const char *s, u64 n)
{
    if (t->failed)
        return;
    if (t->len + n + 1 > t->cap) {
        u64 cap = MAX(t->cap * 2, ALIGN_UP(t->len + n + 1, 256));
        char *bigger = krealloc(t->buf, cap);

        if (!bigger) {
            t->failed = true;
            return;
        }
        t->buf = bigger;
        t->cap = cap;
    }
    memcpy(t->buf + t->len, s, n);
    t->len += n;
    t->buf[t->len] = 0;
}

void text_printf(struct textbuf *t, const char *fmt, ...)
{
    char line[256];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = kvsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    text_put(t, line, MIN((u64)n, sizeof(line) - 1));
}
