/*
 * Loading ELF images: segments become private file mappings, read on demand. Hostile files get
 * -ENOEXEC: sizes and addresses are checked before anything is mapped. Divergence: alignments
 * larger than a page are ignored.
 */
#include "abi/errno.h"
#include "abi/mman.h"
#include "alloc.h"
#include "file.h"
#include "klib.h"
#include "proc.h"
#include "opt/exec/exec.h"
#include "opt/vmaccess/vmaccess.h"

#define PHDRS_MAX 64

static bool header_ok(const struct elf_header *h)
{
    return h->magic == ELF_MAGIC && h->class == ELFCLASS64 && h->data == ELFDATA2LSB &&
           (h->type == ET_EXEC || h->type == ET_DYN) && h->machine == EM_RISCV &&
           h->phentsize == sizeof(struct elf_phdr) && h->phnum > 0 && h->phnum <= PHDRS_MAX &&
           h->phoff < USER_TOP;
}

static bool segment_ok(const struct elf_phdr *ph)
{
    return ph->filesz <= ph->memsz && ph->vaddr < USER_TOP && ph->memsz < USER_TOP &&
           ph->vaddr + ph->memsz < USER_MMAP_TOP && ph->offset < USER_TOP &&
           ((ph->vaddr ^ ph->offset) & PAGE_MASK) == 0;
}

int image_read(struct file *file, struct image *img)
{
    memset(img, 0, sizeof(*img));
    img->file = file;
    i64 n = file_read_at(file, &img->header, sizeof(img->header), 0);
    if (n < 0)
        return (int)n;
    if (n != sizeof(img->header) || !header_ok(&img->header))
        return -ENOEXEC;
    size_t bytes = img->header.phnum * sizeof(struct elf_phdr);
    img->phdrs = kmalloc(bytes);
    if (!img->phdrs)
        return -ENOMEM;
    n = file_read_at(file, img->phdrs, bytes, (i64)img->header.phoff);
    if (n != (i64)bytes)
        return n < 0 ? (int)n : -ENOEXEC;
    for (int i = 0; i < img->header.phnum; i++) {
        const struct elf_phdr *ph = &img->phdrs[i];
        int error = ph->type == PT_LOAD && !segment_ok(ph) ? -ENOEXEC
                    : ph->type == PT_INTERP                ? read_interp(img, ph)
                                                           : 0;
        if (error)
            return error;
    }
    return 0;
}

void image_drop(struct image *img)
{
    kfree(img->phdrs);
    if (img->file)
        file_put(img->file);
    img->phdrs = NULL;
    img->file = NULL;
}

static u32 segment_prot(const struct elf_phdr *ph)
{
    return (ph->flags & PF_R ? PROT_READ : 0) | (ph->flags & PF_W ? PROT_WRITE : 0) |
           (ph->flags & PF_X ? PROT_EXEC : 0);
}

/* Maps the part in the file, clears the rest of its last page, then maps pages of zeros. */
static int map_segment(struct image *img, struct vm *vm, const struct elf_phdr *ph)
{
    va_t start = img->base + ph->vaddr, file_end = start + ph->filesz, end = start + ph->memsz;
    va_t page = ALIGN_DOWN(start, PAGE_SIZE), file_pages = ALIGN_UP(file_end, PAGE_SIZE);
    u32 prot = segment_prot(ph);
    long r = 0;
    if (ph->filesz)
        r = vm_mmap(vm, page, file_pages - page, prot, MAP_PRIVATE | MAP_FIXED, img->file,
                    ALIGN_DOWN(ph->offset, PAGE_SIZE));
    else
        file_pages = page;
    if (r < 0)
        return (int)r;
    if (ph->filesz && end > file_end && prot & PROT_WRITE)
        r = vm_zero(vm, file_end, MIN(end, file_pages) - file_end);
    if (r == 0 || r == (long)page)
        r = end > file_pages ? vm_mmap(vm, file_pages, ALIGN_UP(end, PAGE_SIZE) - file_pages, prot,
                                       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, NULL, 0)
                             : 0;
    if (r < 0)
        return (int)r;
    img->end = MAX(img->end, ALIGN_UP(end, PAGE_SIZE));
    if (img->header.phoff >= ph->offset && img->header.phoff < ph->offset + ph->filesz)
        img->phdr_va = start + img->header.phoff - ph->offset;
    return 0;
}

int image_map(struct image *img, struct vm *vm, u64 base)
{
    img->base = img->header.type == ET_DYN ? base : 0;
    img->entry = img->base + img->header.entry;
    for (int i = 0; i < img->header.phnum; i++) {
        if (img->phdrs[i].type != PT_LOAD || img->phdrs[i].memsz == 0)
            continue;
        if (img->base + img->phdrs[i].vaddr < USER_MIN)
            return -ENOEXEC;
        int error = map_segment(img, vm, &img->phdrs[i]);
        if (error)
            return error;
    }
    return img->end ? 0 : -ENOEXEC;
}
