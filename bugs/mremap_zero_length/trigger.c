#include "../trigger.h"

int main(void)
{
    char *from = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *to = (char *)0x2000000000;
    long at = syscall(SYS_mremap, from, 4096, 0, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (at != -1)
        WRONG("mremap made an area of no bytes at %#lx", at);
    return 0;
}
