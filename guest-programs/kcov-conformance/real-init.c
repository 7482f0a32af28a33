/*
 * First process of a real Linux kernel: mounts the file systems kcov needs, runs each line of /runs
 * as a command, prints "== status LINE" after each, and powers the machine off.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void mount_at(const char *type, const char *where)
{
    mkdir(where, 0755);
    if (mount(type, where, type, 0, NULL) == -1)
        perror(where);
}

static void run(char *line)
{
    char copy[256], *args[16];
    int count = 0, status = 0;

    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word && count < 15; word = strtok(NULL, " "))
        args[count++] = word;
    args[count] = NULL;
    pid_t child = fork();
    if (child == 0) {
        execv(args[0], args);
        perror(args[0]);
        _exit(127);
    }
    waitpid(child, &status, 0);
    printf("== %d %s\n", WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), line);
    fflush(stdout);
}

int main(void)
{
    char line[256];

    mount_at("proc", "/proc");
    mount_at("sysfs", "/sys");
    mount_at("devtmpfs", "/dev");
    mount_at("debugfs", "/sys/kernel/debug");
    int console = open("/dev/console", O_RDWR); /* the kernel did not open one */
    for (int fd = 0; fd < 3 && console != -1; fd++)
        dup2(console, fd);
    FILE *runs = fopen("/runs", "r");
    while (runs && fgets(line, sizeof(line), runs)) {
        line[strcspn(line, "\n")] = '\0';
        run(line);
    }
    reboot(RB_POWER_OFF);
    return 1;
}
