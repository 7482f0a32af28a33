/* The last process that has a page need not copy it: the check has a budget of instructions. */
#include "../check.h"
#include <sys/mman.h>
#include <sys/wait.h>

#define PAGE   4096UL
#define PAGES  512
#define ROUNDS 24

static void nobody_copies_a_page_of_its_own(void)
{
    char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    for (int i = 0; i < PAGES; i++)
        p[i * PAGE] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        int status;
        pid_t pid = fork();

        if (pid == 0)
            _exit(0);
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
        for (int i = 0; i < PAGES; i++)
            p[i * PAGE] = (char)round;
    }
}

int main(void)
{
    RUN(nobody_copies_a_page_of_its_own);
    DONE();
}
