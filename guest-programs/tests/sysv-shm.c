/* System V shared memory: keys, attaching, visibility, and the end of a segment. */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>

#define NOBODY 29999
#define KEY    0x7e57
#define NONE   ((void *)-1)

static struct shmid_ds stat_of(int id)
{
    struct shmid_ds ds = {.shm_nattch = 99};

    shmctl(id, IPC_STAT, &ds);
    return ds;
}

static void attached_memory_is_shared(void)
{
    int id = shmget(IPC_PRIVATE, 10000, 0600), status;
    char *a, *b;

    CHECK(id >= 0 && (a = shmat(id, NULL, 0)) != NONE && (b = shmat(id, NULL, 0)) != NONE &&
          a != b);
    CHECK(stat_of(id).shm_nattch == 2 && a[9999] == 0 && stat_of(id).shm_lpid == getpid());
    strcpy(a, "hello");
    CHECK(!strcmp(b, "hello"));
    pid_t pid = fork();
    if (!pid) {
        int fine = stat_of(id).shm_nattch == 4 && !strcmp(a, "hello");
        strcpy(b + 4096, "child");
        _exit(!fine || shmdt(a) || stat_of(id).shm_nattch != 3);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0 && !strcmp(a + 4096, "child"));
    CHECK(stat_of(id).shm_nattch == 2 && shmdt(a) == 0 && stat_of(id).shm_nattch == 1);
    CHECK(shmdt(a) == -1 && errno == EINVAL && shmdt(b + 4096) == -1 && errno == EINVAL);
    CHECK(shmctl(id, IPC_RMID, NULL) == 0 && !strcmp(b, "hello"));
    CHECK(stat_of(id).shm_nattch == 1 && stat_of(id).shm_perm.mode & SHM_DEST);
    CHECK(shmdt(b) == 0 && shmctl(id, IPC_STAT, &(struct shmid_ds){0}) == -1 && errno == EINVAL);
    CHECK(shmat(id, NULL, 0) == NONE && errno == EINVAL);
}

static void keys_name_segments(void)
{
    int id;

    CHECK(shmget(KEY, 4096, 0) == -1 && errno == ENOENT);
    CHECK((id = shmget(KEY, 4096, IPC_CREAT | 0640)) >= 0 && shmget(KEY, 0, 0) == id);
    CHECK(shmget(KEY, 4096, IPC_CREAT | IPC_EXCL | 0600) == -1 && errno == EEXIST);
    CHECK(shmget(KEY, 4096, IPC_CREAT | 0600) == id && shmget(KEY, 100, 0400) == id);
    CHECK(shmget(KEY, 4097, 0) == -1 && errno == EINVAL);
    struct shmid_ds ds = stat_of(id);
    CHECK(ds.shm_perm.__key == KEY && ds.shm_perm.mode == 0640 && ds.shm_segsz == 4096);
    CHECK(ds.shm_perm.uid == geteuid() && ds.shm_perm.cgid == getegid() && ds.shm_nattch == 0);
    CHECK(ds.shm_cpid == getpid() && ds.shm_lpid == 0 && ds.shm_ctime != 0 && ds.shm_atime == 0);
    ds.shm_perm.mode = 0604;
    CHECK(shmctl(id, IPC_SET, &ds) == 0 && stat_of(id).shm_perm.mode == 0604);
    CHECK(shmctl(id, IPC_RMID, NULL) == 0 && shmget(KEY, 0, 0) == -1 && errno == ENOENT);
    CHECK(shmctl(id, IPC_RMID, NULL) == -1 && errno == EINVAL);
}

static void what_is_wrong_is_refused(void)
{
    int id = shmget(IPC_PRIVATE, 5000, 0600);
    char *at = mmap(NULL, 16384, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(id >= 0 && at != MAP_FAILED && shmget(IPC_PRIVATE, 0, 0600) == -1 && errno == EINVAL);
    CHECK(shmat(-1, NULL, 0) == NONE && errno == EINVAL);
    CHECK(shmat(id, at + 5, 0) == NONE && errno == EINVAL);
    CHECK(shmat(id, at, 0) == NONE && errno == EINVAL);
    CHECK(shmctl(-1, IPC_STAT, &(struct shmid_ds){0}) == -1 && errno == EINVAL);
    CHECK(shmctl(id, 99, NULL) == -1 && errno == EINVAL);
    CHECK(shmctl(id, IPC_RMID, NULL) == 0 && munmap(at, 16384) == 0);
}

static void remapping_needs_a_place(void)
{
    int id = shmget(IPC_PRIVATE, 5000, 0600);

    CHECK(shmat(id, NULL, SHM_REMAP) == NONE && errno == EINVAL);
    CHECK(shmctl(id, IPC_RMID, NULL) == 0);
}

static void places_are_chosen(void)
{
    int id = shmget(IPC_PRIVATE, 8192, 0600);
    char *at = mmap(NULL, 16384, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(shmat(id, at + 5, SHM_RND | SHM_REMAP) == at && stat_of(id).shm_nattch == 1);
    at[8191] = 'x';
    CHECK(shmdt(at) == 0 && munmap(at, 16384) == 0);
    CHECK(shmat(id, at, SHM_RDONLY) == at && at[8191] == 'x');
    CHECK(mprotect(at, 4096, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
    CHECK(munmap(at, 4096) == 0 && at[8191] == 'x' && shmdt(at) == 0);
    CHECK(stat_of(id).shm_nattch == 0 && shmctl(id, IPC_RMID, NULL) == 0);
}

static int as_nobody(int id)
{
    struct shmid_ds ds;

    if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
        return 1;
    if (shmat(id, NULL, 0) != NONE || errno != EACCES || shmat(id, NULL, SHM_RDONLY) == NONE)
        return 2;
    if (shmget(KEY, 0, 0600) != -1 || errno != EACCES || shmget(KEY, 0, 0004) != id)
        return 3;
    if (shmctl(id, IPC_STAT, &ds) || shmctl(id, IPC_SET, &ds) != -1 || errno != EPERM)
        return 4;
    return shmctl(id, IPC_RMID, NULL) != -1 || errno != EPERM ? 5 : 0;
}

static void modes_are_looked_at(void)
{
    int id = shmget(KEY, 4096, IPC_CREAT | 0604), status;
    pid_t pid = fork();

    if (!pid)
        _exit(as_nobody(id));
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(stat_of(id).shm_nattch == 0 && shmctl(id, IPC_RMID, NULL) == 0);
}

static void the_end_of_a_process_detaches(void)
{
    int id = shmget(IPC_PRIVATE, 1 << 20, 0600), status;
    pid_t pid = fork();

    if (!pid) {
        char *at = shmat(id, NULL, 0);
        memset(at, 'z', 1 << 20);
        kill(getpid(), SIGKILL);
    }
    CHECK(waitpid(pid, &status, 0) == pid && stat_of(id).shm_nattch == 0);
    char *at = shmat(id, NULL, 0);
    CHECK(at != NONE && at[(1 << 20) - 1] == 'z' && shmctl(id, IPC_RMID, NULL) == 0);
    CHECK(shmat(id, NULL, 0) != NONE && stat_of(id).shm_nattch == 2); /* as Linux allows */
}

int main(void)
{
    int old = shmget(KEY, 0, 0);

    if (old >= 0) /* of a run that failed */
        shmctl(old, IPC_RMID, NULL);
    RUN(attached_memory_is_shared);
    RUN(keys_name_segments);
    RUN(what_is_wrong_is_refused);
    RUN_ON_KERNEL(remapping_needs_a_place); /* the emulation looks for one */
    RUN(places_are_chosen);
    if (getuid())
        printf("ok modes_are_looked_at # skipped: needs root\n");
    else
        RUN(modes_are_looked_at);
    RUN(the_end_of_a_process_detaches);
    DONE();
}
