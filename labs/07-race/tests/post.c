/* Two writers post numbers, two readers take them: each number arrives once. */
#include "../check.h"
#include <fcntl.h>
#include <pthread.h>

#define EACH_MAX 1000

static unsigned long each = 200;
static char arrived[2 * EACH_MAX];
static int box;

static void *post(void *arg)
{
    for (unsigned long i = 0; i < each; i++) {
        unsigned long message = (unsigned long)arg * each + i;

        if (write(box, &message, sizeof(message)) != sizeof(message))
            return (void *)1;
    }
    return NULL;
}

static void *take(void *arg)
{
    for (unsigned long i = 0; i < each; i++) {
        unsigned long message;

        if (read(box, &message, sizeof(message)) != sizeof(message) || message >= 2 * each)
            return (void *)1;
        __atomic_add_fetch(&arrived[message], 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void each_number_arrives_once(void)
{
    pthread_t threads[4];
    void *bad = NULL;

    CHECK((box = open("/dev/mailbox", O_RDWR)) >= 0);
    for (long i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, i < 2 ? post : take, (void *)i) == 0);
    for (int i = 0; i < 4; i++) {
        void *end;

        pthread_join(threads[i], &end);
        bad = end ? end : bad;
    }
    CHECK(!bad);
    for (unsigned long i = 0; i < 2 * each; i++)
        CHECK(arrived[i] == 1);
}

int main(int argc, char **argv)
{
    unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : each;

    each = wanted < EACH_MAX ? wanted : EACH_MAX;
    RUN(each_number_arrives_once);
    DONE();
}
