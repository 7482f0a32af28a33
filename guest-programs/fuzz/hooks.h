/*
 * The hooks of -fsanitize-coverage=trace-pc,trace-cmp, for code that has no kcov of its own. Their
 * records have kcov's form. In front of it: `area`, `control`, and
 *   is_recorded()      does this code record now?
 *   note_point(point)  told of each point, also of those for which there is no room
 */
#ifndef HOOKS_H
#define HOOKS_H

#include "words.h"

/* As KCOV_CMP_CONST and KCOV_CMP_SIZE of Linux. */
#define CMP_CONST      1UL
#define CMP_SIZE(log2) ((uint64_t)(log2) << 1)

static inline void add_point(uint64_t point)
{
    if (!is_recorded())
        return;
    uint64_t n = area[0] + 1;
    note_point(point);
    if (control->mode != MODE_PC || n >= AREA_WORDS)
        return;
    area[n] = point;
    area[0] = n;
}

static inline void add_cmp(uint64_t type, uint64_t a, uint64_t b, uint64_t place)
{
    if (!is_recorded())
        return;
    uint64_t n = area[0], at = 1 + 4 * n;
    if (control->mode != MODE_CMP || at + 4 > AREA_WORDS)
        return;
    area[at] = type;
    area[at + 1] = a;
    area[at + 2] = b;
    area[at + 3] = place;
    area[0] = n + 1;
}

#define PLACE ((uint64_t)__builtin_return_address(0))

void __sanitizer_cov_trace_pc(void)
{
    add_point(PLACE);
}

#define CMP_HOOKS(bytes, log2)                                                                     \
    void __sanitizer_cov_trace_cmp##bytes(uint64_t a, uint64_t b)                                  \
    {                                                                                              \
        add_cmp(CMP_SIZE(log2), a, b, PLACE);                                                      \
    }                                                                                              \
    void __sanitizer_cov_trace_const_cmp##bytes(uint64_t a, uint64_t b)                            \
    {                                                                                              \
        add_cmp(CMP_SIZE(log2) | CMP_CONST, a, b, PLACE);                                          \
    }
CMP_HOOKS(1, 0)
CMP_HOOKS(2, 1)
CMP_HOOKS(4, 2)
CMP_HOOKS(8, 3)

void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases)
{
    uint64_t bits = cases[1], log2 = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
    for (uint64_t i = 0; i < cases[0]; i++)
        add_cmp(CMP_SIZE(log2) | CMP_CONST, cases[2 + i], value, PLACE);
}

#endif
