/*
 * Facts on which two Linux kernels without common code must agree when the same binary runs on
 * both: the modes, the form of records, the compared operands of a call, the growth of
 * counts, the errors and their order. Lines that begin with '#' hold counts, which may differ by
 * less than an order of magnitude.
 */
#define DIALECT_LINUX
#include "dialect.h"
#include <sys/stat.h>
#include <sys/syscall.h>

#define WORDS (64UL << 10)

static word *area;
static int fd;

static void die(const char *what)
{
    printf("%s: errno %d\n", what, errno);
    exit(1);
}

static const char *outcome(long result)
{
    static char text[32];
    snprintf(text, sizeof(text), "%d", result == -1 ? errno : 0);
    return text;
}

static void begin(int mode)
{
    if (kcov_enable(fd, mode) == -1)
        die("enable");
    STORE(area, 0);
}

static word end(void)
{
    word n = LOAD(area);
    if (kcov_disable(fd, 0) == -1)
        die("disable");
    return n;
}

/* ---- Records ---- */

static void all_addresses(const char *what, word n)
{
    bool in_text = n > 0;
    for (word i = 1; i <= n; i++)
        in_text &= area[i] >= 0xffffffff00000000UL;
    printf("%s: pcs in kernel text: %s\n", what, in_text ? "yes" : "no");
    printf("# %s pc %lu\n", what, n);
}

/* Whether some comparison of `bits` has these operands, and whether one of the two is constant. */
static void compared(const char *what, word n, int bits, word a, word b)
{
    const char *found = "no";
    for (word i = 0; i < n; i++) {
        const word *r = area + 1 + 4 * i;
        if (8 << (r[0] >> 1) == bits && ((r[1] == a && r[2] == b) || (r[1] == b && r[2] == a)))
            found = r[0] & KCOV_CMP_CONST ? (r[1] == a ? "yes, constant first" : "yes, constant")
                                          : "yes, variables";
    }
    printf("%s: %#lx with %#lx in %d bits: %s\n", what, a, b, bits, found);
}

static void well_formed(const char *what, word n)
{
    bool good = n > 0;
    for (word i = 0; i < n; i++) {
        const word *r = area + 1 + 4 * i;
        int bits = 8 << (r[0] >> 1);
        good &= r[0] < 8 && r[3] >= 0xffffffff00000000UL;
        good &= bits == 64 || (r[1] >> bits == 0 && r[2] >> bits == 0);
    }
    printf("%s: comparisons well-formed: %s\n", what, good ? "yes" : "no");
    printf("# %s cmp %lu\n", what, n);
}

static void records(void)
{
    struct stat st;
    int p[2];

    if (pipe(p) == -1)
        die("pipe");
    begin(MODE_PC);
    (void)syscall(SYS_read, -1, NULL, 0);
    all_addresses("read", end());
    begin(MODE_PC);
    (void)syscall(SYS_pipe2, NULL, 0x12345);
    all_addresses("pipe2", end());
    begin(MODE_PC);
    (void)stat("/sys/kernel/debug/kcov", &st);
    all_addresses("stat", end());

    begin(MODE_CMP);
    (void)syscall(SYS_ioctl, p[0], 0xdeadbeef, 0);
    word n = end();
    well_formed("ioctl", n);
    compared("ioctl", n, 32, 0x5451, 0xdeadbeef); /* FIOCLEX: a case of a switch */
    compared("ioctl", n, 32, 0x5421, 0xdeadbeef); /* FIONBIO */
    begin(MODE_CMP);
    (void)syscall(SYS_lseek, p[0], 0x1122334455667788, 0x77);
    n = end();
    well_formed("lseek", n);
    begin(MODE_CMP);
    (void)syscall(SYS_fcntl, p[0], 0x7abc, 0);
    n = end();
    compared("fcntl", n, 32, F_DUPFD, 0x7abc);
    compared("fcntl", n, 32, F_GETFL, 0x7abc);
    compared("fcntl", n, 32, F_SETFL, 0x7abc);
    close(p[0]);
    close(p[1]);
}

/* ---- Counts ---- */

static void counts(void)
{
    begin(MODE_PC);
    (void)syscall(SYS_read, -1, NULL, 0);
    word one = LOAD(area);
    for (int i = 0; i < 9; i++)
        (void)syscall(SYS_read, -1, NULL, 0);
    word ten = end();
    printf("ten calls make ten times the records of one: %s\n", ten == 10 * one ? "yes" : "no");
    begin(MODE_PC);
    (void)syscall(SYS_read, -1, NULL, 0);
    word again = end();
    (void)syscall(SYS_read, -1, NULL, 0);
    printf("disable ends it: %s\n", LOAD(area) >= again && LOAD(area) < again + one ? "yes" : "no");
    if (kcov_enable(fd, MODE_PC) == -1)
        die("enable");
    word kept = LOAD(area);
    end();
    printf("enable appends: %s\n", kept >= again ? "yes" : "no");
    begin(MODE_PC);
    STORE(area, WORDS - 2);
    for (int i = 0; i < 3; i++)
        (void)syscall(SYS_read, -1, NULL, 0);
    printf("full pc area: %lu of %lu\n", end(), WORDS);
    begin(MODE_CMP);
    STORE(area, WORDS / 4 - 2);
    for (int i = 0; i < 9; i++)
        (void)syscall(SYS_read, 0x3fff, NULL, 0);
    printf("full cmp area: %lu of %lu\n", end(), WORDS);
}

/* ---- Refusals ---- */

static void refusals(void)
{
    for (int mode = 2; mode < 18; mode++)
        printf("mode %d: %s\n", mode, outcome(kcov_enable(fd, mode)));
    printf("init twice: %s\n", outcome(kcov_size(fd, WORDS)));
    printf("disable when ready: %s\n", outcome(kcov_disable(fd, 0)));
    printf("map half: %s\n", outcome(kcov_map(fd, WORDS / 2) ? 0 : -1));
    printf("unknown command: %s\n", outcome(ioctl(fd, 0x6399, 0)));
    printf("read: %s\n", outcome(read(fd, area, 8)));
    printf("open for reading: %s\n", outcome(open(NODE, O_RDONLY)));
    struct stat st;
    printf("stat: %s, mode %o\n", outcome(stat(NODE, &st)), st.st_mode);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if ((fd = kcov_open()) == -1 || kcov_size(fd, WORDS) == -1 || !(area = kcov_map(fd, WORDS)))
        die("kcov");
    memset(area, 0, WORDS * 8); /* no page fault from here on */
    counts();
    for (int round = 0; round < 2; round++) { /* first calls fill caches */
        if (round == 0)
            freopen("/dev/null", "w", stdout);
        else if (!freopen("/dev/console", "w", stdout))
            exit(2);
        setvbuf(stdout, NULL, _IOLBF, 0);
        records();
    }
    refusals();
    return 0;
}
