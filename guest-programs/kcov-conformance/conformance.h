/*
 * Runs a conformance table in the guest. TABLE is a .def file of
 *
 *     STATE(name, script)               brings a descriptor into a state
 *     EVENT(op, result per state ...)   the results of an operation, one per state, in their order
 *     CASE(name, script, op, result)    a case that does not fit the table
 *
 * A result is 0 or an errno. A script is operations separated by blanks; every operation of a
 * script must succeed. Each cell runs in a process of its own. Operations, on descriptor 1 or, with
 * a 2 at the end of their name, 2:
 *
 *     open size=N enable=pc|cmp|none|N disable[=ARG] close attach=N detach
 *     remote=MODE,AREA,NUM,COMMON,HANDLE,HANDLE      linux: the whole argument of REMOTE_ENABLE
 *     map=BYTES[@OFFSET][:PROT]    PROT of r w x, default rw, p for private; keeps the mapping
 *     openro stat poll             open for reading; fstat; EAGAIN when poll reports nothing
 *     unmap dup (2 becomes a copy of 1) ioctl=NUMBER badsize badenable read write lseek sendfd
 *     fork                         the rest runs in a child that the parent waits for
 *     T:op                         op in a helper thread that stays alive
 *     texit                        the helper thread exits and is joined
 */
#include "dialect.h"
#include <poll.h>
#include <sys/stat.h>

static int fds[3] = {-1, -1, -1};
static void *mapping;
static size_t mapped;

/* ---- The helper thread: one request at a time ---- */

static pthread_t helper;
static bool helper_lives;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static const char *request;
static int answer;
static bool is_asked, is_answered;

static int run_op(const char *op);

static void *helper_main(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!is_asked)
            pthread_cond_wait(&turn, &lock);
        is_asked = false;
        const char *op = request;
        pthread_mutex_unlock(&lock);
        if (!op)
            return NULL;
        int result = run_op(op);
        pthread_mutex_lock(&lock);
        answer = result;
        is_answered = true;
        pthread_cond_broadcast(&turn);
        pthread_mutex_unlock(&lock);
    }
}

static void ask(const char *op)
{
    pthread_mutex_lock(&lock);
    request = op;
    is_asked = true;
    pthread_cond_broadcast(&turn);
    pthread_mutex_unlock(&lock);
}

static int in_helper(const char *op)
{
    if (!helper_lives && pthread_create(&helper, NULL, helper_main, NULL))
        return EAGAIN;
    helper_lives = true;
    ask(op);
    pthread_mutex_lock(&lock);
    while (!is_answered)
        pthread_cond_wait(&turn, &lock);
    is_answered = false;
    pthread_mutex_unlock(&lock);
    return answer;
}

static int end_helper(void)
{
    ask(NULL);
    helper_lives = false;
    return pthread_join(helper, NULL);
}

/* ---- Operations ---- */

static int send_descriptor(int fd)
{
    int pair[2];
    char byte = 0;
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = {&byte, 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.space,
                         .msg_controllen = sizeof(control.space)};

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
        return -1;
    memset(&control, 0, sizeof(control));
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    return sendmsg(pair[0], &msg, 0) == -1 ? -1 : 0;
}

static int map_op(int fd, const char *text)
{
    char *end;
    size_t bytes = strtoul(text, &end, 0);
    off_t offset = 0;
    int prot = PROT_READ | PROT_WRITE;

    if (*end == '@')
        offset = strtol(end + 1, &end, 0);
    if (*end == ':')
        prot = (strchr(end, 'r') ? PROT_READ : 0) | (strchr(end, 'w') ? PROT_WRITE : 0) |
               (strchr(end, 'x') ? PROT_EXEC : 0);
    int how = *end == ':' && strchr(end, 'p') ? MAP_PRIVATE : MAP_SHARED;
    void *p = mmap(NULL, bytes, prot, how, fd, offset);
    if (p == MAP_FAILED)
        return -1;
    mapping = p;
    mapped = bytes;
    return 0;
}

static int poll_op(int fd)
{
    struct pollfd p = {fd, POLLIN | POLLOUT, 0};
    int ready = poll(&p, 1, 0);

    errno = EAGAIN;
    return ready == 1 && p.revents == (POLLIN | POLLOUT) ? 0 : -1;
}

static int enable_op(int fd, const char *mode)
{
    if (!strcmp(mode, "pc"))
        return kcov_enable(fd, MODE_PC);
    if (!strcmp(mode, "cmp"))
        return kcov_enable(fd, MODE_CMP);
    if (!strcmp(mode, "none"))
        return kcov_enable(fd, MODE_NONE);
    return kcov_enable(fd, (int)strtol(mode, NULL, 0));
}

/* -1 with errno on failure; word_ is the operation without 2 and value. */
static int perform(const char *word_, int n, const char *value)
{
    static word scratch;

    if (!strcmp(word_, "open"))
        return fds[n] = kcov_open();
    if (!strcmp(word_, "openro"))
        return fds[n] = open(NODE, O_RDONLY);
    if (!strcmp(word_, "stat"))
        return fstat(fds[n], &(struct stat){0});
    if (!strcmp(word_, "poll"))
        return poll_op(fds[n]);
    if (!strcmp(word_, "size"))
        return kcov_size(fds[n], strtoul(value, NULL, 0));
    if (!strcmp(word_, "enable"))
        return enable_op(fds[n], value);
    if (!strcmp(word_, "disable"))
        return kcov_disable(fds[n], strtol(value, NULL, 0));
    if (!strcmp(word_, "close"))
        return close(fds[n]);
    if (!strcmp(word_, "dup"))
        return fds[2] = dup(fds[1]);
    if (!strcmp(word_, "map"))
        return map_op(fds[n], value);
    if (!strcmp(word_, "unmap"))
        return munmap(mapping, mapped);
    if (!strcmp(word_, "attach"))
        return kcov_attach(fds[n], strtoul(value, NULL, 0));
    if (!strcmp(word_, "remote"))
        return kcov_remote(fds[n], value);
    if (!strcmp(word_, "detach"))
        return kcov_detach(fds[n]);
    if (!strcmp(word_, "ioctl"))
        return ioctl(fds[n], strtoul(value, NULL, 0), &scratch);
    if (!strcmp(word_, "badsize") || !strcmp(word_, "badenable"))
        return kcov_bad_pointer(fds[n], !strcmp(word_, "badenable"));
    if (!strcmp(word_, "read"))
        return (int)read(fds[n], &scratch, sizeof(scratch));
    if (!strcmp(word_, "write"))
        return (int)write(fds[n], &scratch, sizeof(scratch));
    if (!strcmp(word_, "lseek"))
        return (int)lseek(fds[n], 0, SEEK_SET);
    if (!strcmp(word_, "sendfd"))
        return send_descriptor(fds[n]);
    fprintf(stderr, "unknown operation %s\n", word_);
    exit(2);
}

/* 0 or an errno. */
static int run_op(const char *op)
{
    char name[64];
    const char *value = strchr(op, '=');
    size_t length = value ? (size_t)(value - op) : strlen(op);
    int n = 1;

    if (!strncmp(op, "T:", 2))
        return in_helper(op + 2);
    if (!strcmp(op, "texit"))
        return end_helper();
    if (length >= sizeof(name))
        exit(2);
    memcpy(name, op, length);
    if (name[length - 1] == '2') {
        n = 2;
        length--;
    }
    name[length] = '\0';
    return perform(name, n, value ? value + 1 : "0") == -1 ? errno : 0;
}

static void pass_on(pid_t child)
{
    int status;

    if (child == -1 || waitpid(child, &status, 0) == -1 || !WIFEXITED(status))
        _exit(250);
    _exit(WEXITSTATUS(status));
}

/* The whole script, then op; ends the process with its errno, or 200 + n when step n failed. */
static void run_cell(const char *script, const char *op)
{
    char copy[256];
    int step = 0;

    snprintf(copy, sizeof(copy), "%s", script);
    for (char *word_ = strtok(copy, " "); word_; word_ = strtok(NULL, " "), step++) {
        if (!strcmp(word_, "fork")) {
            pid_t child = fork();
            if (child)
                pass_on(child);
        } else if (run_op(strdup(word_))) {
            _exit(200 + step);
        }
    }
    _exit(run_op(op));
}

static int cells, failures;

static void check(const char *name, const char *script, const char *op, int want)
{
    int status = 0;
    pid_t child;

    cells++;
    fflush(stdout);
    if ((child = fork()) == 0)
        run_cell(script, op);
    waitpid(child, &status, 0);
    int got = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    if (got == want)
        return;
    failures++;
    printf("not ok: %s: [%s] %s: ", name, script, op);
    if (got >= 1000)
        printf("killed by signal %d\n", got - 1000);
    else if (got >= 200)
        printf("step %d of the script failed\n", got - 200);
    else
        printf("got %d (%s), want %d\n", got, got ? strerror(got) : "success", want);
}

int main(void)
{
    static const struct {
        const char *name, *script;
    } states[] = {
#define STATE(name, script) {name, script},
#define EVENT(...)
#define CASE(...)
#include TABLE
#undef STATE
#undef EVENT
#undef CASE
    };
    static const struct {
        const char *op;
        int want[sizeof(states) / sizeof(states[0])];
    } events[] = {
#define STATE(...)
#define EVENT(op, ...) {op, {__VA_ARGS__}},
#define CASE(...)
#include TABLE
#undef STATE
#undef EVENT
#undef CASE
    };
    static const struct {
        const char *name, *script, *op;
        int want;
    } cases[] = {
#define STATE(...)
#define EVENT(...)
#define CASE(name, script, op, want) {name, script, op, want},
#include TABLE
    };
    const size_t nstates = sizeof(states) / sizeof(states[0]);

    for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++)
        for (size_t s = 0; s < nstates; s++)
            check(states[s].name, states[s].script, events[e].op, events[e].want[s]);
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        check(cases[c].name, cases[c].script, cases[c].op, cases[c].want);
    printf("%d cells, %d failed\n", cells, failures);
    return failures != 0;
}
