/* kcov: not instrumented: part of the kcov driver */
/*
 * Areas: contiguous, counted pages that the hooks write by physical address and that any number of
 * mappings share. The last mapping keeps an area alive after close, thread exit and the end of the
 * descriptor.
 *
 * Divergence: OpenBSD frees the area with the descriptor even if it is mapped, so touched pages
 * stay mapped to freed memory; here the memory stays valid, and programs still read their records.
 */
#include "engine.h"

#ifdef CONFIG_KCOV

u64 kcov_area_pages(u64 words)
{
    return ALIGN_UP(words * 8, PAGE_SIZE) >> PAGE_SHIFT;
}

struct vm_pages *kcov_area_new(u64 words)
{
    return vm_pages_new(kcov_area_pages(words));
}

bool kcov_provide(struct vm_pages **area, u64 words)
{
    struct vm_pages *mine;

    if (atomic_load(area))
        return true;
    mine = kcov_area_new(words);
    if (!mine)
        return false;
    spin_lock(&kcov_lock);
    if (!*area) {
        atomic_store(area, mine);
        mine = NULL;
    }
    spin_unlock(&kcov_lock);
    vm_pages_put(mine);
    return true;
}

/* Under the lock, because another thread may be setting area and length at this moment. */
struct vm_pages *kcov_area_of(struct kcov_desc *desc, u64 *words)
{
    spin_lock(&kcov_lock);
    struct vm_pages *area = desc->area;
    *words = desc->words;
    spin_unlock(&kcov_lock);
    return area;
}

/*
 * Maps the part of the area that vma covers. On the BSDs a mapping holds no reference to the open
 * file, so the last close releases it even while the area is mapped.
 */
long kcov_map_area(struct file *file, struct vma *vma, struct vm_pages *area)
{
    int error = vm_map_pages(vma, area);

    if (error)
        return error;
    if (kcov_dialect.map_at_once && HAS_OPTION(CONFIG_MEMADVICE)) /* only madvise shows it */
        vma->flags |= VMA_PREMAPPED;
    if (!kcov_dialect.map_pins_file && vma->file) {
        vma->file = NULL;
        file_put(file);
    }
    return 0;
}
#endif
