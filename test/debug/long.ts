// A program that runs long enough to interrupt its debugger.

/** About 10^9 instructions: some seconds. The status is 3. */
export const LONG = `#include <stdio.h>
static volatile unsigned long rounds;
__attribute__((noinline)) static void now_and_then(void) { rounds++; }
int main(void) {
  for (unsigned long i = 0; i < 250 * 1000 * 1000ul; i++)
    if ((i & 0xffffff) == 0xffffff) now_and_then();
    else __asm__ volatile("nop");
  puts("done");
  return 3;
}
`;
