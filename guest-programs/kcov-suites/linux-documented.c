/*
 * The steps of Linux's documentation of kcov in one program: an area per descriptor, pcs,
 * comparisons, and remote coverage with a common handle and one of the USB subsystem.
 *
 *     documented pc|cmp|remote
 */
#include <fcntl.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct kcov_remote_arg {
    __u32 trace_mode;
    __u32 area_size;
    __u32 num_handles;
    __aligned_u64 common_handle;
    __aligned_u64 handles[0];
};

#define KCOV_INIT_TRACE    _IOR('c', 1, unsigned long)
#define KCOV_ENABLE        _IO('c', 100)
#define KCOV_DISABLE       _IO('c', 101)
#define KCOV_REMOTE_ENABLE _IOW('c', 102, struct kcov_remote_arg)

#define COVER_SIZE (64 << 10)

#define KCOV_TRACE_PC      0
#define KCOV_TRACE_CMP     1
#define KCOV_WORDS_PER_CMP 4

#define KCOV_SUBSYSTEM_COMMON (0x00ull << 56)
#define KCOV_SUBSYSTEM_USB    (0x01ull << 56)

#define KCOV_SUBSYSTEM_MASK (0xffull << 56)
#define KCOV_INSTANCE_MASK  (0xffffffffull)

#define KCOV_COMMON_ID   0x42
#define KCOV_USB_BUS_NUM 1

static inline __u64 kcov_remote_handle(__u64 subsys, __u64 inst)
{
    if (subsys & ~KCOV_SUBSYSTEM_MASK || inst & ~KCOV_INSTANCE_MASK)
        return 0;
    return subsys | inst;
}

static int start(unsigned long **cover)
{
    int fd = open("/sys/kernel/debug/kcov", O_RDWR);

    if (fd == -1)
        perror("open"), exit(1);
    if (ioctl(fd, KCOV_INIT_TRACE, COVER_SIZE))
        perror("ioctl"), exit(1);
    *cover = (unsigned long *)mmap(NULL, COVER_SIZE * sizeof(unsigned long), PROT_READ | PROT_WRITE,
                                   MAP_SHARED, fd, 0);
    if ((void *)*cover == MAP_FAILED)
        perror("mmap"), exit(1);
    return fd;
}

static void finish(int fd, unsigned long *cover)
{
    if (ioctl(fd, KCOV_DISABLE, 0))
        perror("ioctl"), exit(1);
    if (munmap(cover, COVER_SIZE * sizeof(unsigned long)))
        perror("munmap"), exit(1);
    if (close(fd))
        perror("close"), exit(1);
}

static int local(int mode)
{
    unsigned long *cover, n, i;
    int fd = start(&cover);

    if (ioctl(fd, KCOV_ENABLE, mode))
        perror("ioctl"), exit(1);
    __atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
    read(-1, NULL, 0);
    n = __atomic_load_n(&cover[0], __ATOMIC_RELAXED);
    for (i = 0; i < n; i++) {
        if (mode == KCOV_TRACE_PC) {
            printf("0x%lx\n", cover[i + 1]);
            continue;
        }
        uint64_t type = cover[i * KCOV_WORDS_PER_CMP + 1];
        uint64_t arg1 = cover[i * KCOV_WORDS_PER_CMP + 2];
        uint64_t arg2 = cover[i * KCOV_WORDS_PER_CMP + 3];
        uint64_t ip = cover[i * KCOV_WORDS_PER_CMP + 4];

        printf("ip: 0x%lx type: 0x%lx, arg1: 0x%lx, arg2: 0x%lx, size: %lu, %s\n", ip, type, arg1,
               arg2, 1UL << ((type >> 1) & 3), type & 1 ? "const" : "non-const");
    }
    finish(fd, cover);
    return 0;
}

static int remote(void)
{
    unsigned long *cover, n, i;
    struct kcov_remote_arg *arg;
    int fd = start(&cover);

    arg = calloc(1, sizeof(*arg) + sizeof(uint64_t));
    if (!arg)
        perror("calloc"), exit(1);
    arg->trace_mode = KCOV_TRACE_PC;
    arg->area_size = COVER_SIZE;
    arg->num_handles = 1;
    arg->common_handle = kcov_remote_handle(KCOV_SUBSYSTEM_COMMON, KCOV_COMMON_ID);
    arg->handles[0] = kcov_remote_handle(KCOV_SUBSYSTEM_USB, KCOV_USB_BUS_NUM);
    if (ioctl(fd, KCOV_REMOTE_ENABLE, arg))
        perror("ioctl"), free(arg), exit(1);
    free(arg);
    usleep(2000); /* sleeping: whatever is done for this bus or this thread is collected */
    n = __atomic_load_n(&cover[0], __ATOMIC_RELAXED);
    for (i = 0; i < n; i++)
        printf("0x%lx\n", cover[i + 1]);
    printf("%s\n", n ? "collected" : "nothing");
    finish(fd, cover);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "remote"))
        return remote();
    return local(argc > 1 && !strcmp(argv[1], "cmp") ? KCOV_TRACE_CMP : KCOV_TRACE_PC);
}
