/*
 * Features of a BSD that programs use besides kcov itself: numbers and names, errors, queues,
 * events, atomics, knobs. One source for the three systems; only their headers.
 */
#include <sys/param.h>
#include <sys/types.h>
#include <sys/event.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <machine/atomic.h>
#include <machine/endian.h>

#include <assert.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#if defined(__FreeBSD__) || defined(__OpenBSD__)
#include <pthread_np.h>
#endif
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct item {
    int value;
    TAILQ_ENTRY(item) link;
};
TAILQ_HEAD(items, item);

static void numbers(void)
{
    const char *why;

    assert(strtonum("42", 0, 100, &why) == 42 && why == NULL);
    assert(strtonum("101", 0, 100, &why) == 0 && errno == ERANGE && !strcmp(why, "too large"));
    assert(strtonum("-1", 0, 100, &why) == 0 && errno == ERANGE && !strcmp(why, "too small"));
    assert(strtonum("4x", 0, 100, &why) == 0 && errno == EINVAL && !strcmp(why, "invalid"));
    int *p = reallocarray(NULL, 10, sizeof(*p));
    assert(p != NULL);
    assert(reallocarray(p, SIZE_MAX / 2, 4) == NULL && errno == ENOMEM);
    free(p);
    assert(arc4random_uniform(10) < 10);
    assert(roundup(13, 8) == 16 && howmany(13, 8) == 2 && nitems(((int[]){1, 2, 3})) == 3);
    assert(IOCPARM_LEN(_IOW('x', 1, uint64_t)) == 8 && IOCGROUP(_IO('x', 1)) == 'x');
}

static void strings(void)
{
    char to[8];

    assert(strlcpy(to, "kernel coverage", sizeof(to)) == 15 && !strcmp(to, "kernel "));
    assert(strlcpy(to, "abc", sizeof(to)) == 3 && strlcat(to, "defghij", sizeof(to)) == 10);
    assert(!strcmp(to, "abcdefg"));
    setprogname("/usr/tests/thing");
    assert(!strcmp(getprogname(), "thing"));
    explicit_bzero(to, sizeof(to));
    assert(to[0] == 0 && timingsafe_bcmp(to, to, sizeof(to)) == 0);
}

static void lists(void)
{
    struct items head = TAILQ_HEAD_INITIALIZER(head);
    struct item *it, *next;
    int sum = 0;

    for (int i = 0; i < 5; i++) {
        if ((it = calloc(1, sizeof(*it))) == NULL)
            err(1, NULL);
        it->value = i;
        TAILQ_INSERT_TAIL(&head, it, link);
    }
    TAILQ_FOREACH_SAFE(it, &head, link, next)
    {
        sum += it->value;
        TAILQ_REMOVE(&head, it, link);
        free(it);
    }
    assert(sum == 10 && TAILQ_EMPTY(&head));
}

static void events(void)
{
    struct timespec second = {1, 0}, a = {1, 5}, b = {0, 10}, d;
    struct kevent change, event;
    int kq = kqueue(), p[2];

    assert(kq != -1 && pipe(p) == 0);
    EV_SET(&change, 1, EVFILT_TIMER, EV_ADD | EV_ONESHOT, 0, 2, NULL);
    assert(kevent(kq, &change, 1, &event, 1, &second) == 1);
    assert(event.filter == EVFILT_TIMER && event.ident == 1 && event.data >= 1);
    EV_SET(&change, p[0], EVFILT_READ, EV_ADD, 0, 0, &kq);
    assert(kevent(kq, &change, 1, NULL, 0, NULL) == 0);
    assert(write(p[1], "abc", 3) == 3);
    assert(kevent(kq, NULL, 0, &event, 1, &second) == 1);
    assert(event.filter == EVFILT_READ && event.data == 3 && event.udata == &kq);
    close(p[1]);
    assert(kevent(kq, NULL, 0, &event, 1, &second) == 1 && event.flags & EV_EOF);
    close(p[0]);
    close(kq);
    timespecsub(&a, &b, &d);
    assert(d.tv_sec == 0 && d.tv_nsec == 999999995 && timespeccmp(&a, &b, >));
}

static void *count(void *arg)
{
    volatile unsigned int *n = arg;

    for (int i = 0; i < 1000; i++)
#if defined(__FreeBSD__)
        atomic_add_int(n, 1);
#elif defined(__NetBSD__)
        atomic_inc_uint(n);
#else
        atomic_inc_int(n);
#endif
    return NULL;
}

static void threads(void)
{
    volatile unsigned int n = 0;
    pthread_t th[3];
    int error;

    for (int i = 0; i < 3; i++)
        if ((error = pthread_create(&th[i], NULL, count, (void *)&n)) != 0)
            errc(1, error, "pthread_create");
    for (int i = 0; i < 3; i++)
        pthread_join(th[i], NULL);
    assert(n == 3000);
#if defined(__FreeBSD__) || defined(__OpenBSD__)
    pthread_set_name_np(pthread_self(), "surroundings");
    assert(pthread_main_np() == 1);
#endif
}

static void knobs(void)
{
    int mib[2] = {CTL_HW, HW_NCPU}, ncpu = 0;
    char text[64];
    size_t size = sizeof(ncpu);

    assert(sysctl(mib, 2, &ncpu, &size, NULL, 0) == 0 && ncpu >= 1 && size == sizeof(ncpu));
    size = sizeof(text);
    assert(sysctlbyname("kern.ostype", text, &size, NULL, 0) == 0 && size == strlen(text) + 1);
#if defined(__NetBSD__)
    assert(!strcmp(text, "NetBSD"));
#endif
    size = 2;
    assert(sysctlbyname("kern.ostype", text, &size, NULL, 0) == -1 && errno == ENOMEM);
    assert(sysctlbyname("no.such.knob", NULL, NULL, NULL, 0) == -1 && errno == ENOENT);
}

/* err(3) and its kin: text, name, status. */
static void errors(void)
{
    int p[2], status;
    char text[64] = "";

    assert(pipe(p) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(p[1], STDERR_FILENO);
        warnc(ENXIO, "first");
        errno = EBUSY;
        err(3, "second %d", 2);
    }
    close(p[1]);
    assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    for (size_t got = 0; got < sizeof(text) - 1;) {
        ssize_t n = read(p[0], text + got, sizeof(text) - 1 - got);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    assert(!strncmp(text, "thing: first: ", 14) && strstr(text, "\nthing: second 2: ") != NULL);
}

int main(void)
{
#if defined(__OpenBSD__)
    if (pledge("stdio proc", NULL) == -1 || unveil("/dev", "rw") == -1)
        err(1, "pledge");
#endif
    numbers();
    strings();
    lists();
    events();
    threads();
    knobs();
    errors();
    printf("ok surroundings\n");
    return 0;
}
