/*
 * Messages grow stage by stage. A comparison whose one operand lies in the message, in either byte
 * order, says what the kernel would rather have seen there: a new message has the other operand.
 * One that makes the kernel compare more often than any before is kept.
 */
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES 32
#define WORDS 16384
#define MOST  4000

static unsigned long *area;
static int vault;

/* Writes the message; the number of comparisons that it made. */
static unsigned long try(const unsigned char *message, long *taken)
{
    area[0] = 0;
    *taken = write(vault, message, BYTES);
    return area[0];
}

/* Puts the bytes of to where those of from are; 0 if from is not at this place. */
static int patch(unsigned char *m, int at, int size, unsigned long from, unsigned long to, int swap)
{
    for (int i = 0; i < size; i++) {
        int shift = 8 * (swap ? size - 1 - i : i);

        if (m[at + i] != (unsigned char)(from >> shift))
            return 0;
    }
    for (int i = 0; i < size; i++)
        m[at + i] = (unsigned char)(to >> 8 * (swap ? size - 1 - i : i));
    return 1;
}

/* One new message of each place at which an operand is found; 1 if one of them is better. */
static int follow(unsigned char *best, unsigned long *most, unsigned long from, unsigned long to)
{
    unsigned char m[BYTES];
    long taken;

    for (int size = 8; size >= 1; size /= 2) {
        if (size < 8 && (from >> 8 * size || to >> 8 * size))
            break;
        for (int i = 0; i < 2 * BYTES; i++) {
            int at = i / 2;

            memcpy(m, best, BYTES);
            if (at + size > BYTES || !patch(m, at, size, from, to, i % 2))
                continue;
            unsigned long n = try(m, &taken);
            if (n <= *most && taken != BYTES)
                continue;
            *most = n;
            memcpy(best, m, BYTES);
            if (taken == BYTES) {
                puts("open");
                exit(0);
            }
            return 1;
        }
    }
    return 0;
}

/* Looks at the comparisons of the best message, the latest first: those are of the stage that
 * fails. */
static int improve(unsigned char *best, unsigned long *most)
{
    static unsigned long records[MOST * 4];
    long taken;
    unsigned long n = try(best, &taken);

    n = n < MOST ? n : MOST;
    memcpy(records, area + 1, n * 32);
    while (n-- > 0) {
        unsigned long a = records[4 * n + 1], b = records[4 * n + 2];

        if (a != b && (follow(best, most, a, b) || follow(best, most, b, a)))
            return 1;
    }
    return 0;
}

int main(void)
{
    unsigned long mode = KCOV_TRACE_CMP, most = 0;
    unsigned char best[BYTES];
    int fd = open("/sys/kernel/debug/kcov", O_RDWR);

    vault = open("/dev/vault", O_WRONLY);
    if (vault < 0 || fd < 0 || ioctl(fd, KCOV_INIT_TRACE, WORDS))
        return 1;
    area = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED || ioctl(fd, KCOV_ENABLE, mode))
        return 1;
    for (int i = 0; i < BYTES; i++)
        best[i] = (unsigned char)(0x80 + 5 * i);
    for (int round = 0; round < 50; round++)
        if (!improve(best, &most))
            break;
    return 1;
}
