/*
 * A parser with a bug, for kcovbox fuzz --harness: a message has a magic word, a length and a kind,
 * and a checksum behind its text. The text of kind 3 is copied to a buffer that is too short.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct header {
    char magic[6];
    uint8_t kind, length;
    uint32_t sum;
};

static uint32_t sum_of(const uint8_t *text, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + text[i];
    return sum;
}

static void name(const uint8_t *text, size_t n)
{
    char *copy = malloc(8), *next = copy;
    for (size_t i = 0; i < n; i++)
        *next++ = (char)text[i];
    if (n > 8)
        abort(); /* what an address sanitizer would say */
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct header h;

    if (size < sizeof(h))
        return 0;
    memcpy(&h, data, sizeof(h));
    if (memcmp(h.magic, "KCOVBX", sizeof(h.magic)) != 0)
        return 0;
    if (size - sizeof(h) < h.length || h.sum != sum_of(data + sizeof(h), h.length))
        return 0;
    switch (h.kind) {
    case 1:
        return 1;
    case 2:
        return h.length > 0 ? data[sizeof(h)] : 0;
    case 3:
        name(data + sizeof(h), h.length);
        return 3;
    default:
        return 0;
    }
}
