/* Files, mappings and owners end in any order; and the machine has little memory. */
#include "kcov.h"
#include <sys/wait.h>

static void an_area_outlives_its_file(void)
{
    unsigned long *area;
    int fd = open_kcov(WORDS, &area);

    CHECK(fd >= 0 && enable(fd) == 0);
    CHECK(close(fd) == 0);
    area[0] = 0;
    read(-1, NULL, 0);
    CHECK(area[0] > 4); /* the mapping keeps the file open */
    CHECK(munmap(area, WORDS * 8) == 0);
    read(-1, NULL, 0);
    fd = open_kcov(WORDS, &area);
    CHECK(fd >= 0);
    CHECK(enable(fd) == -1 && errno == EBUSY); /* the thread still has the one before */
    CHECK(close(fd) == 0 && munmap(area, WORDS * 8) == 0);
}

/* In a child, which ends without giving anything back. */
static void nobody_cleans_up(void)
{
    for (int i = 0; i < 40; i++) {
        int status;
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0) {
            unsigned long *area;
            int fd = open_kcov(1 << 19, &area);

            if (fd < 0 || enable(fd) != 0)
                _exit(1);
            if (i % 2)
                close(fd);
            if (i % 3)
                munmap(area, 4UL << 20);
            read(-1, NULL, 0);
            _exit(0);
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
}

int main(void)
{
    RUN(an_area_outlives_its_file);
    RUN(nobody_cleans_up);
    DONE();
}
