/*
 * Process 1. It begins as a kernel thread that may sleep: drivers and file systems start here. Then
 * it executes the program named by "init=" (default /init), whose arguments are the words after
 * "--" on the command line; the environment is a constant plus words "env.NAME=value".
 */
#include "abi/sched.h"
#include "alloc.h"
#include "boot.h"
#include "dev/dev.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "proc.h"
#include "proc/internal.h"
#include "riscv.h"
#include "serial.h"

#define WORDS_MAX 272

static void open_console(void)
{
    struct file *console;
    if (vfs_open("/dev/console", O_RDWR, 0, &console)) {
        kprintf("init: no /dev/console\n");
        return;
    }
    fd_install(file_get(console), 0);
    fd_install(file_get(console), 0);
    fd_install(console, 0);
    tty_give_console(curproc);
}

/*
 * The next word of *text, or NULL. Double quotes keep spaces together and a backslash keeps the
 * next character. Writes into the text.
 */
static char *next_word(char **text)
{
    char *from = *text;
    bool quoted = false;
    while (*from == ' ')
        from++;
    char *word = from, *to = from;
    for (; *from && (quoted || *from != ' '); from++) {
        if (*from == '"') {
            quoted = !quoted;
            continue;
        }
        if (*from == '\\' && from[1])
            from++;
        *to++ = *from;
    }
    bool found = from > word;
    *text = *from ? from + 1 : from;
    *to = 0;
    return found ? word : NULL;
}

static void collect(char *text, char **argv, char **envp)
{
    int argc = 1, envc = 0;
    bool mine = false;
    envp[envc++] = "HOME=/";
    envp[envc++] = "PATH=/bin:/sbin:/usr/bin:/usr/sbin";
    envp[envc++] = "TERM=vt100";
    for (char *word; argc + envc < WORDS_MAX && (word = next_word(&text));) {
        if (mine)
            argv[argc++] = word;
        else if (strcmp(word, "--") == 0)
            mine = true;
        else if (strncmp(word, "init=", 5) == 0)
            argv[0] = argv[0] ? argv[0] : word + 5; /* the first counts, as of other words */
        else if (strncmp(word, "env.", 4) == 0)
            envp[envc++] = word + 4;
    }
    if (!argv[0])
        argv[0] = "/init";
    argv[argc] = envp[envc] = NULL;
}

static void run_init(void)
{
    char **argv = kzalloc(2 * WORDS_MAX * sizeof(char *)), **envp = argv + WORDS_MAX;
    char *text = kstrdup(cmdline);
    if (!argv || !text)
        panic("out of memory for the arguments of init");
    collect(text, argv, envp);
    char path[256];
    strlcpy(path, argv[0], sizeof(path));
    char *name = strrchr(argv[0], '/');
    if (name && name[1])
        argv[0] = name + 1;
    int error = exec_load(path, argv, envp);
    kfree(text);
    kfree(argv);
    if (error) {
        kprintf("init: cannot execute %s: error %d\n", path, -error);
        power_off(STATUS_NO_INIT);
    }
}

static void run_initcalls(void)
{
    extern void (*const __initcalls_start[])(void), (*const __initcalls_end[])(void);

    for (void (*const *call)(void) = __initcalls_start; call < __initcalls_end; call++)
        (*call)();
}

static void init_main(void *arg)
{
    (void)arg;
    fs_init(); /* root from the initramfs, devfs */
    null_init();
    run_initcalls();
    drivers_probe(); /* the device tree's devices */
    kcov_init();     /* coverage device and descriptors */
    open_console();
    take_program();
    fs_limit_root();
    run_init();
    report_boot();
    probe_late_devices();
    fail_first_program();
    trap_return(current->tf);
}

void init_start(void)
{
    struct proc *p = proc_alloc();
    struct thread *t = p ? thread_alloc(p, "init") : NULL;
    if (!t)
        panic("out of memory for process 1");
    p->files = files_new();
    p->fs = fsctx_copy(&kernel_fs);
    p->sigacts = sigacts_new();
    strlcpy(p->comm, "init", sizeof(p->comm));
    t->kthread_fn = init_main;
    spin_lock(&proc_lock);
    p->pid = p->pgid = p->sid = t->tid = 1;
    proc_link(p, NULL);
    thread_link(t);
    init_proc = p;
    spin_unlock(&proc_lock);
    kcov_thread_start(t, current);
    sched_start(t);
}
