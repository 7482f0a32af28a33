/* A writer and a reader, in two processes. */
#include "../check.h"
#include <fcntl.h>
#include <sys/wait.h>

#define MESSAGES 50

static void in_order(void)
{
    int box = open("/dev/mailbox", O_RDWR), status;
    unsigned long message;
    pid_t child;

    CHECK(box >= 0);
    CHECK((child = fork()) >= 0);
    if (child == 0) {
        for (unsigned long i = 0; i < MESSAGES; i++)
            if (write(box, &i, sizeof(i)) != sizeof(i))
                _exit(1);
        _exit(0);
    }
    for (unsigned long i = 0; i < MESSAGES; i++)
        CHECK(read(box, &message, sizeof(message)) == sizeof(message) && message == i);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void short_buffers(void)
{
    int box = open("/dev/mailbox", O_RDWR);
    char few[7];

    CHECK(read(box, few, sizeof(few)) == -1 && errno == EINVAL);
    CHECK(write(box, few, sizeof(few)) == -1 && errno == EINVAL);
    CHECK(write(box, (void *)8, 8) == -1 && errno == EFAULT);
}

int main(void)
{
    RUN(in_order);
    RUN(short_buffers);
    DONE();
}
