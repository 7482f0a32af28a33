/* scripts.c: programs that name another one which runs them: scripts, and dynamically linked ones.
 */
#include "abi/errno.h"
#include "fs.h"
#include "klib.h"
#include "proc.h"
#include "opt/exec/exec.h"
#include "vm.h"

#define SCRIPT_DEPTH_MAX 4
#define INTERP_BASE      0x2000000000UL

/* Puts n bytes of new strings in front and drops the first old one (a script's argv[0]). */
static int replace_argv0(struct exec_strings *s, const char *front, size_t n, u32 added)
{
    size_t first = s->argc ? strlen(s->bytes) + 1 : 0;
    if (s->used - first + n > ARG_BYTES_MAX)
        return -E2BIG;
    memmove(s->bytes + n, s->bytes + first, s->used - first);
    memcpy(s->bytes, front, n);
    s->used = s->used - first + n;
    s->argc = s->argc - (s->argc ? 1 : 0) + added;
    return 0;
}

/* Reads "#! interpreter [argument]": path becomes the interpreter, and the script an argument. */
static int script_parse(struct file *file, char *path, size_t path_size, struct exec_strings *s)
{
    char line[256];
    i64 n = file_read_at(file, line, sizeof(line) - 1, 0);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return -ENOEXEC;
    line[n] = 0;
    char *end = strchr(line, '\n');
    if (!end)
        return -ENOEXEC;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n'))
        end--;
    *end = 0;
    char *name = line + 2;
    while (*name == ' ' || *name == '\t')
        name++;
    char *arg = name;
    while (*arg && *arg != ' ' && *arg != '\t')
        arg++;
    if (*arg)
        *arg++ = 0;
    while (*arg == ' ' || *arg == '\t')
        arg++;
    if (!*name)
        return -ENOEXEC;
    char front[sizeof(line) + 512];
    size_t used = strlcpy(front, name, sizeof(line)) + 1;
    if (*arg)
        used += strlcpy(front + used, arg, sizeof(line)) + 1;
    size_t script_len = strlen(path) + 1;
    if (used + script_len > sizeof(front))
        return -E2BIG;
    memcpy(front + used, path, script_len);
    used += script_len;
    strlcpy(path, name, path_size);
    return replace_argv0(s, front, used, *arg ? 3 : 2);
}

/* Maps the dynamic loader, if the program asks for one; *entry is where execution starts. */
int map_interp(const struct image *program, struct vm *vm, u64 *base, u64 *entry)
{
    if (!program->interp[0])
        return 0;
    struct file *file;
    struct image loader;
    int error = open_program(program->interp, &file);
    if (error)
        return error;
    error = image_read(file, &loader);
    if (!error)
        error = image_map(&loader, vm, INTERP_BASE);
    *base = loader.base;
    *entry = loader.entry;
    image_drop(&loader);
    return error;
}

int script_follow(char *path, size_t path_size, struct exec_strings *s, struct image *img)
{
    int error = -ENOEXEC;
    for (int depth = 0; error == -ENOEXEC; depth++) {
        error = script_parse(img->file, path, path_size, s);
        image_drop(img);
        if (error)
            return error;
        if (depth == SCRIPT_DEPTH_MAX)
            return -ELOOP;
        error = find_image(path, img);
    }
    return error;
}

int read_interp(struct image *img, const struct elf_phdr *ph)
{
    if (ph->filesz < 2 || ph->filesz > sizeof(img->interp))
        return -ENOEXEC;
    if (file_read_at(img->file, img->interp, ph->filesz, (i64)ph->offset) != (i64)ph->filesz)
        return -ENOEXEC;
    return img->interp[ph->filesz - 1] ? -ENOEXEC : 0;
}
