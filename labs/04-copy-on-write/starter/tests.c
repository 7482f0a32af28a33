#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>

static void something(void)
{
    CHECK(1);
}

int main(void)
{
    RUN(something);
    DONE();
}
