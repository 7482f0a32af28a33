/* A lost update: two tellers pay into one account, and each reads the balance and writes it without
 * a lock. Most interleavings do no harm. With --smp 2, some values of --sched-seed let one teller
 * write a balance that it read before the other one's payment; the payment is lost. */
#include <pthread.h>
#include <stdio.h>

enum { PAYMENTS = 500, STEPS = 300 };
static volatile int balance;

/* Work between two payments. */
static unsigned checksum(unsigned sum)
{
    for (int i = 0; i < STEPS; i++)
        sum = sum * 31 + i;
    return sum;
}

static void pay(int amount)
{
    int before = balance;

    balance = before + amount; /* the bug: another teller may have paid since */
}

static void *teller(void *unused)
{
    volatile unsigned sum = 0;

    for (int i = 0; i < PAYMENTS; i++) {
        sum = checksum(sum);
        pay(1);
    }
    return unused;
}

int main(void)
{
    pthread_t tellers[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    printf("%d payments, balance %d\n", 2 * PAYMENTS, balance);
    return balance == 2 * PAYMENTS ? 0 : 1;
}
