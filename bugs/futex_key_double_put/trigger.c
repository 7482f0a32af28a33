#include "../trigger.h"
#include <linux/futex.h>

int main(void)
{
    for (int i = 0; i < 4; i++) {
        int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        *word = 1;
        /* The word has another value: EAGAIN, and no reference of the page changes. */
        for (int j = 0; j < 4; j++)
            syscall(SYS_futex, word, FUTEX_WAIT, 2, NULL, NULL, 0);
        NEED(munmap(word, 4096));
    }
    return 0;
}
