/* Results are right, and the last sixteen of them can be read. */
#include "../check.h"
#include <fcntl.h>
#include <sys/ioctl.h>

#define EDU_FACTORIAL 0xc0044501u
#define HISTORY       16

static unsigned seed;

static unsigned expected(unsigned n)
{
    return n < 2 ? 1 : n * expected(n - 1);
}

static void the_history_has_the_last_results(void)
{
    unsigned past[HISTORY + 4];
    int fd = open("/dev/edu", O_RDWR);

    CHECK(fd >= 0);
    CHECK(read(fd, past, sizeof(past)) == 0);
    CHECK(read(fd, past, 8) == -1 && errno == EINVAL);
    for (unsigned i = 0; i < 3 * HISTORY; i++) {
        unsigned n = (seed + 5 * i) % 20, value = n, count = i < HISTORY ? i + 1 : HISTORY;

        CHECK(ioctl(fd, EDU_FACTORIAL, &value) == 0 && value == expected(n));
        CHECK(read(fd, past, sizeof(past)) == (long)(4 * count));
        for (unsigned k = 0; k < count; k++)
            CHECK(past[k] == expected((seed + 5 * (i + 1 - count + k)) % 20));
    }
    close(fd);
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? (unsigned)(strtoul(argv[1], NULL, 10) % 20) : 1;
    RUN(the_history_has_the_last_results);
    DONE();
}
