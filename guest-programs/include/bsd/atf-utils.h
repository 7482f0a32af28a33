/*
 * The atf_utils_* functions: files to look into, and children whose output and end are checked.
 * Part of atf-c.h.
 */
#ifndef KCOVBOX_BSD_ATF_UTILS_H
#define KCOVBOX_BSD_ATF_UTILS_H

KCOVBOX_ATF_UNUSED KCOVBOX_ATF_FMT(2, 3) void atf_utils_create_file(const char *name,
                                                                    const char *fmt, ...)
{
    va_list ap;
    FILE *file = fopen(name, "w");

    if (!file)
        atf_tc_fail("Cannot create file %s: %s", name, strerror(errno));
    va_start(ap, fmt);
    vfprintf(file, fmt, ap);
    va_end(ap);
    fclose(file);
}

KCOVBOX_ATF_UNUSED bool atf_utils_file_exists(const char *name)
{
    return access(name, F_OK) == 0;
}

/* The file, up to the size that a test would compare; the caller frees it. NULL: no such file. */
KCOVBOX_ATF_UNUSED char *kcovbox_atf_slurp(const char *name)
{
    enum { MOST = 64 * 1024 };
    FILE *file = fopen(name, "r");

    if (!file)
        return NULL;
    char *text = malloc(MOST + 1);
    size_t length = text ? fread(text, 1, MOST, file) : 0;
    fclose(file);
    if (text)
        text[length] = '\0';
    return text;
}

KCOVBOX_ATF_UNUSED bool atf_utils_compare_file(const char *name, const char *contents)
{
    char *text = kcovbox_atf_slurp(name);
    bool same = text && !strcmp(text, contents);

    free(text);
    return same;
}

KCOVBOX_ATF_UNUSED void atf_utils_cat_file(const char *name, const char *prefix)
{
    char *text = kcovbox_atf_slurp(name), *rest = text, *line;

    while (rest && *rest && (line = strsep(&rest, "\n")) != NULL)
        printf("%s%s\n", prefix, line);
    free(text);
}

KCOVBOX_ATF_UNUSED void atf_utils_copy_file(const char *from, const char *to)
{
    char *text = kcovbox_atf_slurp(from);

    if (!text)
        atf_tc_fail("Cannot open %s: %s", from, strerror(errno));
    atf_utils_create_file(to, "%s", text);
    free(text);
}

KCOVBOX_ATF_UNUSED bool atf_utils_grep_string(const char *fmt, const char *text, ...)
{
    char pattern[512];
    va_list ap;

    va_start(ap, text);
    vsnprintf(pattern, sizeof(pattern), fmt, ap);
    va_end(ap);
    return kcovbox_atf_matches(pattern, text);
}

/* True when a line of the file matches. */
KCOVBOX_ATF_UNUSED bool atf_utils_grep_file(const char *fmt, const char *name, ...)
{
    char pattern[512], *text = kcovbox_atf_slurp(name), *rest = text, *line;
    bool found = false;
    va_list ap;

    if (!text)
        atf_tc_fail("Cannot open %s: %s", name, strerror(errno));
    va_start(ap, name);
    vsnprintf(pattern, sizeof(pattern), fmt, ap);
    va_end(ap);
    while (!found && (line = strsep(&rest, "\n")) != NULL)
        found = kcovbox_atf_matches(pattern, line);
    free(text);
    return found;
}

KCOVBOX_ATF_UNUSED void atf_utils_redirect(int fd, const char *name)
{
    fflush(stdout);
    fflush(stderr);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file == -1 || dup2(file, fd) == -1)
        atf_tc_fail("Cannot redirect descriptor %d to %s: %s", fd, name, strerror(errno));
    if (file != fd)
        close(file);
}

/* The child's output goes to files that atf_utils_wait checks. */
KCOVBOX_ATF_UNUSED pid_t atf_utils_fork(void)
{
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    if (pid == -1)
        atf_tc_fail("fork failed: %s", strerror(errno));
    if (pid == 0) {
        atf_utils_redirect(STDOUT_FILENO, "atf_utils_fork_out.txt");
        atf_utils_redirect(STDERR_FILENO, "atf_utils_fork_err.txt");
    }
    return pid;
}

/* want: the exact text, "save:FILE" to keep it, or "ignore". */
KCOVBOX_ATF_UNUSED void kcovbox_atf_output(const char *name, const char *want)
{
    if (!strncmp(want, "save:", 5))
        atf_utils_copy_file(name, want + 5);
    else if (strcmp(want, "ignore") != 0 && !atf_utils_compare_file(name, want))
        atf_tc_fail("%s does not hold what was expected", name);
    unlink(name);
}

KCOVBOX_ATF_UNUSED void atf_utils_wait(pid_t pid, int status_wanted, const char *out,
                                       const char *err)
{
    int status;

    if (waitpid(pid, &status, 0) == -1)
        atf_tc_fail("waitpid failed: %s", strerror(errno));
    atf_utils_cat_file("atf_utils_fork_out.txt", "subprocess stdout: ");
    atf_utils_cat_file("atf_utils_fork_err.txt", "subprocess stderr: ");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != status_wanted)
        atf_tc_fail("Subprocess ended with status %#x, expected %d", (unsigned)status,
                    status_wanted);
    kcovbox_atf_output("atf_utils_fork_out.txt", out);
    kcovbox_atf_output("atf_utils_fork_err.txt", err);
}

KCOVBOX_ATF_UNUSED void atf_utils_reset_resultsfile(void)
{
    kcovbox_atf_result_file = NULL;
}

#endif
