/* Features of one dialect: remote coverage, NONE, UNIQ, private mappings. Part of behaviour.h. */

#if defined(DIALECT_OPENBSD) || defined(DIALECT_LINUX)

#define EDU_FACTORIAL 0xc0044501u /* kernel/abi/edu.h */

/* Uses a device, whose interrupt and task run for the caller. False: there is no device. */
static bool use_edu(void)
{
    unsigned int n = 5;
    int fd = open("/dev/edu", O_RDWR);
    if (fd == -1) {
        printf("  skipped: the machine has no edu device\n");
        return false;
    }
    REQUIRE(ioctl(fd, EDU_FACTORIAL, &n) == 0 && n == 120);
    REQUIRE(close(fd) == 0);
    return true;
}

#endif
#if defined(DIALECT_OPENBSD)

static struct kcov attached(int mode)
{
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_attach(k.fd, KCOV_REMOTE_COMMON) == 0);
    REQUIRE(kcov_enable(k.fd, mode) == 0);
    return k;
}

static void remote_never_traces_the_caller(void)
{
    struct kcov k = attached(MODE_PC);
    for (int i = 0; i < 20; i++)
        work();
    REQUIRE(LOAD(k.area) == 0);
}

static void remote_collects_timeouts(void)
{
    for (int mode = MODE_PC; mode <= MODE_CMP; mode++) {
        struct kcov k = attached(mode);
        usleep(1000);
        word n = LOAD(k.area);
        REQUIRE(n > 0);
        usleep(1000);
        REQUIRE(LOAD(k.area) > n);
        REQUIRE(kcov_disable(k.fd, 0) == 0);
        n = LOAD(k.area);
        usleep(1000);
        REQUIRE(LOAD(k.area) == n);
        REQUIRE(close(k.fd) == 0);
    }
}

static void remote_is_of_one_process(void)
{
    struct kcov k = attached(MODE_PC);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 5; i++)
            usleep(500);
        _exit(0);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    REQUIRE(LOAD(k.area) == 0);
}

/* Sets the count to `before`, takes one timer interrupt, and returns the count after it. */
static word after_an_interrupt(struct kcov k, word before)
{
    STORE(k.area, before);
    usleep(1000);
    return LOAD(k.area);
}

/*
 * A section in an interrupt is copied whole or not at all. Where time is the host's, a sleep may
 * contain two interrupts, or one with another path: such a try is inconclusive.
 */
static void remote_interrupt_is_all_or_nothing(void)
{
    struct kcov k = attached(MODE_PC);
    for (int tries = 0; tries < 20; tries++) {
        word batch = after_an_interrupt(k, 0);
        REQUIRE(batch > 1);
        word full =
            after_an_interrupt(k, WORDS - batch); /* room for one record less than the batch */
        word fits = after_an_interrupt(k, WORDS - 1 - batch);
        if (full == WORDS - batch && fits == WORDS - 1)
            return;
    }
    REQUIRE(!"a try in which each sleep sees one interrupt");
}

static void remote_collects_a_device(void)
{
    for (int mode = MODE_PC; mode <= MODE_CMP; mode++) {
        struct kcov k = attached(mode);
        if (!use_edu())
            return;
        REQUIRE(LOAD(k.area) > 1);
        REQUIRE(kcov_disable(k.fd, 0) == 0);
        word n = LOAD(k.area);
        use_edu();
        REQUIRE(LOAD(k.area) == n);
        REQUIRE(close(k.fd) == 0);
    }
}

static long free_kib(void)
{
    char line[128];
    long kib = -1;
    FILE *f = fopen("/proc/meminfo", "r");
    REQUIRE(f != NULL);
    while (kib == -1 && fgets(line, sizeof(line), f))
        (void)!sscanf(line, "MemFree: %ld", &kib);
    fclose(f);
    return kib;
}

/* Disabling a remote also ends the caller's own tracing, and with it a descriptor that is closed.
 */
static void remote_disable_lets_go_of_a_closed_one(void)
{
    struct kcov r = ready(WORDS);
    REQUIRE(kcov_attach(r.fd, KCOV_REMOTE_COMMON) == 0);
    long before = 0;
    for (int i = 0; i < 150; i++) {
        int fd = kcov_open();
        REQUIRE(kcov_enable(r.fd, MODE_PC) == 0);
        REQUIRE(kcov_size(fd, 512) == 0 && kcov_enable(fd, MODE_PC) == 0);
        REQUIRE(close(fd) == 0);
        REQUIRE(kcov_disable(r.fd, 0) == 0);
        if (i == 49)
            before = free_kib();
    }
    REQUIRE(free_kib() > before - 200);
}

static void remote_and_local_side_by_side(void)
{
    struct kcov r = attached(MODE_PC), k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    usleep(1000);
    REQUIRE(LOAD(k.area) > 0 && LOAD(r.area) > 0);
}

#define OWN_TESTS                                                                                  \
    TEST(remote_never_traces_the_caller), TEST(remote_collects_timeouts),                          \
        TEST(remote_is_of_one_process), TEST(remote_interrupt_is_all_or_nothing),                  \
        TEST(remote_and_local_side_by_side), TEST(remote_collects_a_device),                       \
        TEST(remote_disable_lets_go_of_a_closed_one),

#elif defined(DIALECT_NETBSD)

#include <dev/usb/vhci.h>

static const unsigned char keyboard[] = {
    18, 1, 0x00, 0x02, 0, 0, 0,  8,    1,  2, 3, 4, 0, 1, 0, 0, 0, 1, /* device */
    9,  2, 34,   0,    1, 1, 0,  0xa0, 50,                            /* configuration */
    9,  4, 0,    0,    1, 3, 1,  1,    0,                             /* interface */
    7,  5, 0x81, 3,    8, 0, 10,                                      /* endpoint */
};

static int plug(unsigned int port, const void *descriptors, size_t length)
{
    struct vhci_ioc_set_port arg = {port};
    char status[64] = "";
    int fd = open("/dev/vhci0", O_RDWR);

    REQUIRE(fd != -1);
    REQUIRE(ioctl(fd, VHCI_IOC_SET_PORT, &arg) == 0);
    REQUIRE(write(fd, descriptors, length) == (ssize_t)length);
    REQUIRE(ioctl(fd, VHCI_IOC_USB_ATTACH) == 0);
    REQUIRE(read(fd, status, sizeof(status) - 1) > 0);
    close(fd);
    return strncmp(status, "attached 1 1", 12) == 0;
}

static word *mailbox(int fd, word port, int mode)
{
    REQUIRE(kcov_attach(fd, port) == 0);
    word *area = kcov_map(fd, 262144);
    REQUIRE(area != NULL);
    REQUIRE(kcov_enable(fd, mode) == 0);
    return area;
}

static void mailbox_collects_the_port(void)
{
    for (int mode = MODE_PC; mode <= MODE_CMP; mode++) {
        int fd = kcov_open();
        word *area = mailbox(fd, 3, mode);
        STORE(area, 0);
        work();
        REQUIRE(LOAD(area) == 0);
        REQUIRE(plug(3, keyboard, sizeof(keyboard)));
        word n = LOAD(area);
        REQUIRE(n > 0);
        REQUIRE(plug(4, keyboard, sizeof(keyboard))); /* another port, another mailbox */
        REQUIRE(LOAD(area) == n);
        REQUIRE(!plug(3, keyboard, 20));
        REQUIRE(LOAD(area) > n);
        REQUIRE(kcov_disable(fd, 0) == 0);
        n = LOAD(area);
        REQUIRE(plug(3, keyboard, sizeof(keyboard)));
        REQUIRE(LOAD(area) == n);
        close(fd);
    }
}

static void mailbox_is_shared_by_descriptors(void)
{
    int one = kcov_open(), two = kcov_open();
    word *area = mailbox(one, 5, MODE_PC);
    REQUIRE(kcov_attach(two, 5) == 0);
    word *again = kcov_map(two, 262144);
    STORE(area, 0);
    REQUIRE(plug(5, keyboard, sizeof(keyboard)));
    REQUIRE(LOAD(area) > 0 && LOAD(again) == LOAD(area));
}

static void none_records_nothing(void)
{
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_NONE) == 0);
    work();
    REQUIRE(LOAD(k.area) == 0);
}

static void protection_is_frozen(void)
{
    struct kcov k = ready(512);
    void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, k.fd, 0);
    REQUIRE(p != MAP_FAILED);
    REQUIRE(mprotect(p, 4096, PROT_READ | PROT_WRITE) == -1);
    REQUIRE(mprotect(k.area, 4096, PROT_READ) == 0);
}

#define OWN_TESTS                                                                                  \
    TEST(mailbox_collects_the_port), TEST(mailbox_is_shared_by_descriptors),                       \
        TEST(none_records_nothing), TEST(protection_is_frozen),

#elif defined(DIALECT_FREEBSD)

#include <sys/sysctl.h>

/* A switch: operand with bit 0 set, then the case, and never the constant bit. */
static void switches_lack_the_constant_bit(void)
{
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_CMP) == 0);
    STORE(k.area, 0);
    (void)!ioctl(0, 0xdeadbeef,
                 0); /* a switch on the command, which the compiler keeps as a switch */
    work();
    word n = LOAD(k.area), runs = 0;
    for (word i = 0; i + 1 < n; i++) {
        const word *r = k.area + 1 + 4 * i;
        if (r[3] == r[7] && r[1] == r[5] && r[2] < r[6]) { /* same pc and operand, next case */
            runs++;
            REQUIRE((r[0] & KCOV_CMP_CONST) == 0);
            REQUIRE(r[1] & 1);
        }
    }
    REQUIRE(runs > 0);
}

static void the_limit_is_a_sysctl(void)
{
    unsigned int limit = 0;
    size_t size = sizeof(limit);
    REQUIRE(sysctlbyname("kern.kcov.max_entries", &limit, &size, NULL, 0) == 0);
    REQUIRE(limit == KCOV_MAXENTRIES);
    limit = 1024;
    REQUIRE(sysctlbyname("kern.kcov.max_entries", NULL, NULL, &limit, sizeof(limit)) == 0);
    int fd = kcov_open();
    REQUIRE(kcov_size(fd, 1025) == -1 && errno == EINVAL);
    REQUIRE(kcov_size(fd, 1024) == 0);
    limit = KCOV_MAXENTRIES;
    REQUIRE(sysctlbyname("kern.kcov.max_entries", NULL, NULL, &limit, sizeof(limit)) == 0);
}

#define OWN_TESTS TEST(switches_lack_the_constant_bit), TEST(the_limit_is_a_sysctl),

#else

#ifndef KCOV_PLAIN
static word *edges_of(int fd)
{
    void *p = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, WORDS * 8);
    REQUIRE(p != MAP_FAILED);
    return p;
}

static bool has_duplicates(const word *records, word n, word length)
{
    for (word i = 0; i < n; i++)
        for (word j = i + 1; j < n; j++)
            if (!memcmp(records + i * length, records + j * length, length * sizeof(word)))
                return true;
    return false;
}

static void uniq_modes_report_once(void)
{
    static const int modes[] = {KCOV_TRACE_UNIQ_PC, KCOV_TRACE_UNIQ_EDGE, 6, KCOV_TRACE_UNIQ_CMP};
    for (int m = 0; m < 4; m++) {
        struct kcov k = ready(WORDS);
        word *edges = edges_of(k.fd);
        word length = modes[m] == KCOV_TRACE_UNIQ_CMP ? 4 : 1;
        STORE(edges, 0); /* takes the page fault before tracing, which would record it */
        REQUIRE(ioctl(k.fd, KCOV_ENABLE, modes[m]) == 0);
        for (int i = 0; i < 10; i++)
            work();
        word n = LOAD(k.area), e = LOAD(edges);
        for (int i = 0; i < 10; i++)
            work();
        REQUIRE(LOAD(k.area) == n && LOAD(edges) == e);
        REQUIRE(!has_duplicates(k.area + 1, n, length) && !has_duplicates(edges + 1, e, 1));
        REQUIRE((n > 0) == (modes[m] != KCOV_TRACE_UNIQ_EDGE));
        REQUIRE((e > 0) == ((modes[m] & KCOV_TRACE_UNIQ_EDGE) != 0));
        STORE(k.area, 0); /* neither this nor disable empties the seen-set */
        STORE(edges, 0);
        REQUIRE(kcov_disable(k.fd, 0) == 0);
        REQUIRE(ioctl(k.fd, KCOV_ENABLE, modes[m]) == 0);
        word before = LOAD(k.area);
        for (int i = 0; i < 10; i++)
            work();
        REQUIRE(before <= n && LOAD(k.area) <= before + 2);
        REQUIRE(kcov_disable(k.fd, 0) == 0);
        REQUIRE(kcov_enable(k.fd, MODE_PC) == 0); /* plain modes do not use the set */
        STORE(k.area, 0);
        work();
        REQUIRE(LOAD(k.area) > 5);
        REQUIRE(kcov_disable(k.fd, 0) == 0);
        munmap(edges, WORDS * 8);
        munmap(k.area, WORDS * 8);
        close(k.fd);
    }
}

/* Plain pcs of a steady call tell which edges a fresh descriptor must report. */
static void edges_follow_the_formula(void)
{
    static word pcs[WORDS];
    struct kcov plain = ready(WORDS), k = ready(WORDS);
    word *edges = edges_of(k.fd);
    REQUIRE(kcov_enable(plain.fd, MODE_PC) == 0);
    for (int i = 0; i < 3; i++) {
        STORE(plain.area, 0);
        (void)!read(-1, NULL, 0);
    }
    word n = LOAD(plain.area);
    memcpy(pcs, plain.area + 1, n * sizeof(word));
    REQUIRE(kcov_disable(plain.fd, 0) == 0);
    REQUIRE(ioctl(k.fd, KCOV_ENABLE, KCOV_TRACE_UNIQ_EDGE) == 0);
    (void)!read(-1, NULL, 0);
    word e = LOAD(edges);
    for (word i = 1; i < n; i++) {
        word edge = pcs[i] ^ (((pcs[i - 1] & 0xfff) * 0x61C8864680B583EBUL) & 0xfff);
        bool found = false;
        for (word j = 1; j <= e && !found; j++)
            found = edges[j] == edge;
        REQUIRE(found);
    }
}

#endif

static void a_private_mapping_is_a_private_copy(void)
{
    struct kcov k = ready(512);
    word *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, k.fd, 0);
    REQUIRE(copy != MAP_FAILED);
    STORE(copy + 5, 99);
    REQUIRE(LOAD(k.area + 5) == 0);
}

/* The pages are mapped by mmap and copied by fork; no fault brings a dropped one back. */
static void a_dropped_page_is_gone(void)
{
    struct kcov k = ready(1024);
    int status;
    REQUIRE(madvise(k.area + 512, 4096, MADV_DONTNEED) == 0);
    REQUIRE(LOAD(k.area) == 0);
    for (int page = 0; page < 2; page++) {
        pid_t child = fork();
        if (child == 0) {
            (void)LOAD(k.area + page * 512);
            _exit(0);
        }
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(page ? WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS : status == 0);
    }
    k.area = NULL; /* show_areas() must not read it: half of it is unmapped */
    made--;
}

#include "linux-triggers.h"

static struct kcov remote(word common, word handle, unsigned int mode, unsigned int area_size)
{
    struct kcov k = ready(REMOTE_WORDS);
    union {
        struct kcov_remote_arg arg;
        word space[4];
    } u = {.space = {0}};
    u.arg.trace_mode = mode;
    u.arg.area_size = area_size;
    u.arg.num_handles = handle != 0;
    u.arg.common_handle = common;
    u.space[3] = handle;
    REQUIRE(ioctl(k.fd, KCOV_REMOTE_ENABLE, &u.arg) == 0);
    return k;
}

#define USB_BUS_1 (KCOV_SUBSYSTEM_USB | 1)
#define COMMON    (KCOV_SUBSYSTEM_COMMON | 0x42)

static void drop(struct kcov k)
{
    munmap(k.area, REMOTE_WORDS * 8);
    close(k.fd);
}

static void usb_handle_collects_hub_and_completion(void)
{
    for (unsigned int mode = 0; mode < 2; mode++) {
        struct kcov k = remote(0, USB_BUS_1, mode, REMOTE_WORDS);
        work();
        REQUIRE(LOAD(k.area) == 0);
        usb_traffic(true);
        word n = LOAD(k.area);
        REQUIRE(n > 0 && k.area[mode ? 4 : 1] > KERNEL_FIRST);
        usb_traffic(false);
        REQUIRE(LOAD(k.area) > n);
        REQUIRE(kcov_disable(k.fd, 0) == 0);
        n = LOAD(k.area);
        usb_traffic(true);
        REQUIRE(LOAD(k.area) == n);
        drop(k);
    }
}

static void a_section_keeps_what_fits_its_own_area(void)
{
    struct kcov k = remote(0, USB_BUS_1, 0, 4); /* room for three pcs per thread section */
    usb_traffic(true);
    word n = LOAD(k.area);
    REQUIRE(n >= 3);
    STORE(k.area, REMOTE_WORDS - 2); /* one more record fits: appending takes as many as fit */
    usb_traffic(true);
    REQUIRE(LOAD(k.area) == REMOTE_WORDS - 1);
}

static void a_common_handle_follows_work_and_children(void)
{
    struct kcov k = remote(COMMON, 0, 0, REMOTE_WORDS);
    int status;
    REQUIRE(LOAD(k.area) == 0);
    common_work();
    word n = LOAD(k.area);
    REQUIRE(n > 0 && k.area[1] > KERNEL_FIRST);
    pid_t child = fork();
    if (child == 0) {
        common_work();
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    REQUIRE(LOAD(k.area) > n);
    n = LOAD(k.area);
    REQUIRE(kcov_disable(k.fd, 0) == 0);
    common_work();
    REQUIRE(LOAD(k.area) == n);
}

/* KCOV_DISABLE resets the task's common handle after ENABLE as after REMOTE_ENABLE. */
static void a_local_disable_forgets_the_inherited_handle(void)
{
    struct kcov k = remote(COMMON, 0, 0, REMOTE_WORDS);
    int status;
    for (int local = 0; local < 2; local++) {
        word n = LOAD(k.area);
        pid_t child = fork();
        if (child == 0) {
            if (local) {
                struct kcov own = {.fd = kcov_open()};
                REQUIRE(kcov_size(own.fd, 512) == 0);
                REQUIRE(kcov_enable(own.fd, MODE_PC) == 0 && kcov_disable(own.fd, 0) == 0);
            }
            common_work();
            _exit(0);
        }
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
        REQUIRE((LOAD(k.area) > n) == !local);
    }
}

static void a_common_handle_collects_a_device(void)
{
    struct kcov k = remote(COMMON, 0, 0, REMOTE_WORDS);
    if (use_edu())
        REQUIRE(LOAD(k.area) > 0);
}

static void a_closed_remote_goes_on_until_its_owner_exits(void)
{
    struct kcov k = remote(0, USB_BUS_1, 0, REMOTE_WORDS);
    close(k.fd);
    usb_traffic(true);
    REQUIRE(LOAD(k.area) > 0);
}

static void *enable_remote_and_exit(void *arg)
{
    struct kcov *k = arg;
    *k = remote(COMMON, USB_BUS_1, 0, REMOTE_WORDS);
    return NULL;
}

static void a_remote_ends_with_its_owner(void)
{
    struct kcov k;
    pthread_t t;
    REQUIRE(pthread_create(&t, NULL, enable_remote_and_exit, &k) == 0);
    REQUIRE(pthread_join(t, NULL) == 0);
    word n = LOAD(k.area);
    usb_traffic(true);
    REQUIRE(LOAD(k.area) == n);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
}

#ifdef KCOV_PLAIN
#define UNIQ_TESTS
#else
/* The series accepts its modes for remotes and drops what sections record in them. */
static void uniq_modes_are_not_for_sections(void)
{
    static const unsigned int modes[] = {KCOV_TRACE_UNIQ_PC, KCOV_TRACE_UNIQ_EDGE, 6,
                                         KCOV_TRACE_UNIQ_CMP};
    for (int m = 0; m < 4; m++) {
        struct kcov k = remote(COMMON, USB_BUS_1, modes[m], REMOTE_WORDS);
        word *edges = mmap(NULL, REMOTE_WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, k.fd,
                           REMOTE_WORDS * 8);
        REQUIRE(edges != MAP_FAILED);
        usb_traffic(true);
        common_work();
        REQUIRE(LOAD(k.area) == 0 && LOAD(edges) == 0);
        REQUIRE(kcov_disable(k.fd, 0) == 0);
        munmap(edges, REMOTE_WORDS * 8);
        drop(k);
    }
}

/* Private areas of 4 MiB, each of another size: together more than there is memory. */
static void sections_of_many_sizes_find_memory(void)
{
    for (unsigned int i = 0; i < 70; i++) {
        struct kcov k = remote(COMMON, 0, 0, 2 * REMOTE_WORDS + 512 * i);
        common_work();
        REQUIRE(LOAD(k.area) > 0);
        REQUIRE(kcov_disable(k.fd, 0) == 0);
        drop(k);
    }
}

#define UNIQ_TESTS                                                                                 \
    TEST(uniq_modes_report_once), TEST(edges_follow_the_formula),                                  \
        TEST(uniq_modes_are_not_for_sections), TEST(sections_of_many_sizes_find_memory),
#endif
#define OWN_TESTS                                                                                  \
    UNIQ_TESTS TEST(a_private_mapping_is_a_private_copy), TEST(a_dropped_page_is_gone),            \
        TEST(a_local_disable_forgets_the_inherited_handle),                                        \
        TEST(usb_handle_collects_hub_and_completion),                                              \
        TEST(a_section_keeps_what_fits_its_own_area),                                              \
        TEST(a_common_handle_follows_work_and_children), TEST(a_common_handle_collects_a_device),  \
        TEST(a_closed_remote_goes_on_until_its_owner_exits), TEST(a_remote_ends_with_its_owner),

#endif
