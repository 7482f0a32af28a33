/* Children copy more pages one after another than the machine has: each must give them back. */
#include "../check.h"
#include <sys/mman.h>
#include <sys/wait.h>

#define PAGE   4096UL
#define PAGES  256
#define ROUNDS 24

static void copies_are_given_back(void)
{
    char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    for (int i = 0; i < PAGES; i++)
        p[i * PAGE] = (char)i;
    for (int round = 0; round < ROUNDS; round++) {
        int status;
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0) {
            for (int i = 0; i < PAGES; i++)
                p[i * PAGE] = 1;
            _exit(0);
        }
        for (int i = 0; i < PAGES; i++)
            p[i * PAGE] = (char)(i + round);
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
    for (int i = 0; i < PAGES; i++)
        CHECK(p[i * PAGE] == (char)(i + ROUNDS - 1));
}

int main(void)
{
    RUN(copies_are_given_back);
    DONE();
}
