/* Four processes at a time: each gets its own hash. */
#include "../check.h"
#include <fcntl.h>
#include <stdint.h>
#include <sys/wait.h>

static uint32_t expected(const unsigned char *p, size_t n)
{
    uint32_t hash = 0x811c9dc5;

    while (n--)
        hash = (hash ^ *p++) * 0x01000193;
    return hash;
}

static int compute(unsigned char first)
{
    unsigned char bytes[100];
    int fd = open("/dev/mixer", O_RDWR);

    for (size_t n = 1; n <= 10; n++) {
        uint32_t hash;

        memset(bytes, first, n * 10);
        if (write(fd, bytes, n * 10) != (ssize_t)(n * 10) || read(fd, &hash, 4) != 4)
            return 1;
        if (hash != expected(bytes, n * 10))
            return 1;
    }
    return 0;
}

static void each_gets_its_own(void)
{
    int status, failed = 0;

    for (unsigned i = 0; i < 4; i++)
        if (fork() == 0)
            _exit(compute((unsigned char)('a' + i)));
    for (int i = 0; i < 4; i++)
        failed |= wait(&status) < 0 || status != 0;
    CHECK(!failed);
}

int main(void)
{
    RUN(each_gets_its_own);
    DONE();
}
