/*
 * Tests of read, readv, pread, pwrite and lseek. check.h of the lab has the macros:
 * CHECK(condition) inside of a test, RUN(test) in main.
 */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <sys/uio.h>

static void a_number_that_is_not_open(void)
{
    char c;

    CHECK(read(-1, &c, 1) == -1 && errno == EBADF);
}

int main(void)
{
    RUN(a_number_that_is_not_open);
    DONE();
}
