// A program of xv6's system calls as a C program for its user mode, without a C library. The first
// program of the fuzzer's disk (guest-programs/fuzz/xv6-init.c) makes the files that the agent has,
// too, and runs it.
import { encode } from '../executor/encode.ts';
import { arenaOf } from '../executor/layout.ts';
import { body, head, memory, slotsOf } from './c.ts';
import type { Program } from './program.ts';

const CALLS = `static uint64_t call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                     uint64_t f)
{
    register uint64_t a0 asm("a0") = a, a1 asm("a1") = b, a2 asm("a2") = c, a3 asm("a3") = d,
                         a4 asm("a4") = e, a5 asm("a5") = f, a7 asm("a7") = nr;
    asm volatile("ecall"
                 : "+r"(a0), "+r"(a1)
                 : "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                 : "memory");
    return a0;
}

/* The child ends at once: 2 is SYS_exit. */
static uint64_t call_forks(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                           uint64_t f)
{
    uint64_t value = call(nr, a, b, c, d, e, f);
    if (value == 0)
        call(2, 0, 0, 0, 0, 0, 0);
    return value;
}

static int good(uint64_t value)
{
    return value < -4096UL;
}

void *memcpy(void *to, const void *from, unsigned long bytes)
{
    for (unsigned long i = 0; i < bytes; i++)
        ((volatile uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    return to;
}

static uint64_t load(uint64_t at, int bytes)
{
    uint64_t value = 0;
    memcpy(&value, (void *)at, (unsigned long)bytes);
    return value;
}
`;

/** `title`: for the comment at its beginning. Errors: as `encode`. */
export function programXv6C(program: Program, title: string): string {
  const arena = arenaOf('xv6');
  const { slots, words, arena: bytes } = encode(program, false, arena);
  return [
    head(program, title),
    '#include <stdint.h>',
    '',
    `#define ARENA 0x${arena.at.toString(16)}UL /* in front of the code: link it behind */`,
    '',
    ...slotsOf(slots),
    ...memory(bytes),
    '',
    CALLS,
    '__attribute__((section(".start"))) void start(void)\n{',
    '    uint64_t v = 0;',
    ...(bytes.length > 0 ? ['    memcpy((void *)ARENA, memory, sizeof(memory));'] : []),
    `${body(words, program)}    (void)v, (void)call, (void)call_forks, (void)good, (void)load;`,
    '    call(2, 0, 0, 0, 0, 0, 0);',
    '}',
    '',
  ].join('\n');
}
