/* Hashes of bytes of many lengths, by the device and by the program. */
#include "../check.h"
#include <fcntl.h>
#include <stdint.h>

static uint32_t state;

static uint32_t expected(const unsigned char *p, size_t n)
{
    uint32_t hash = 0x811c9dc5;

    while (n--)
        hash = (hash ^ *p++) * 0x01000193;
    return hash;
}

static unsigned char next(void)
{
    state = state * 1664525 + 1013904223;
    return (unsigned char)(state >> 24);
}

static void hashes_are_right(void)
{
    static const size_t lengths[] = {1, 2, 3, 64, 1000, 4095, 4096};
    static unsigned char bytes[4096];
    int fd = open("/dev/mixer", O_RDWR);
    uint32_t hash;

    CHECK(fd >= 0);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        for (size_t k = 0; k < lengths[i]; k++)
            bytes[k] = next();
        CHECK(write(fd, bytes, lengths[i]) == (ssize_t)lengths[i]);
        CHECK(read(fd, &hash, sizeof(hash)) == sizeof(hash));
        CHECK(hash == expected(bytes, lengths[i]));
    }
    CHECK(close(fd) == 0);
}

static void lengths_are_checked(void)
{
    static unsigned char bytes[5000];
    int fd = open("/dev/mixer", O_RDWR);

    CHECK(fd >= 0);
    CHECK(write(fd, bytes, 0) <= 0);
    CHECK(write(fd, bytes, 4097) == -1 && errno == EINVAL);
    CHECK(write(fd, (void *)8, 16) == -1 && errno == EFAULT);
    CHECK(close(fd) == 0);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
    RUN(hashes_are_right);
    RUN(lengths_are_checked);
    DONE();
}
