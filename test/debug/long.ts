// A program that runs long enough to interrupt its debugger.

/** Four instructions for each of `millions` of rounds. The status is 3. */
export const longProgram = (millions: number): string => `#include <stdio.h>
static volatile unsigned long rounds;
__attribute__((noinline)) static void now_and_then(void) { rounds++; }
int main(void) {
  for (unsigned long i = 0; i < ${millions} * 1000 * 1000ul; i++)
    if ((i & 0xffffff) == 0xffffff) now_and_then();
    else __asm__ volatile("nop");
  puts("done");
  return 3;
}
`;

/** About 10^9 instructions: half a second or more. */
export const LONG = longProgram(250);
