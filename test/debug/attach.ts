// A program for comparing runs with and without a debugger.

/**
 * Two threads, about 50 million instructions without optimisation, 20 calls of `step`. The status
 * is 4.
 */
export const THREADS = `#include <pthread.h>
#include <stdio.h>
static volatile unsigned long rounds, sums[2];
__attribute__((noinline)) static void step(unsigned long n) { rounds += n; }
static void *work(void *place) {
  unsigned long sum = 1;
  for (unsigned long i = 0; i < 1500000; i++) {
    sum = sum * 31 + i;
    if (i % 150000 == 0) step(i);
  }
  *(volatile unsigned long *)place = sum;
  return NULL;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, work, (void *)&sums[1]);
  work((void *)&sums[0]);
  pthread_join(other, NULL);
  printf("%d\\n", sums[0] == sums[1]);
  return 4;
}
`;
