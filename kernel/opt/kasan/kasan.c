/* kcov: not instrumented: the checker itself */
/*
 * Address sanitizer (CONFIG_KASAN). The compiler calls __asan_loadN/__asan_storeN before every
 * access; a shadow byte describes 8 bytes of RAM: 0 all are accessible, 1..7 only the first ones,
 * other values none, with the reason. The shadow is an array over RAM after that of struct page.
 * Reports have the format of Linux's, which existing tools parse; the kernel goes on afterwards
 * unless "panic_on_warn" is given. Freed objects stay in a quarantine before they are reused. A
 * site reports once. A small table has the sites that allocated and freed the latest objects.
 *
 * Divergence: accesses outside the linear map (kernel stacks, devices) are not checked.
 */
#include "alloc.h"
#include "opt/kasan/kasan.h"
#include "klib.h"
#include "opt/bootinfo/flag.h"
#include "lock.h"
#include "memlayout.h"
#include "proc.h"

#define SHADOW_SCALE 8
#define FREE_PAGE    0xff
#define REDZONE      0xfc
#define FREE_OBJECT  0xfb
#define GLOBAL_ZONE  0xf9
#define QUARANTINE   512
#define SITES_MAX    64   /* that have reported */
#define TRACKS       4096 /* a power of two */

static u64 first_covered, bytes_covered; /* 0 bytes until kasan_init() */
static u8 *shadow_base;                  /* where the shadow of address 0 would be */
static bool reporting;

/* Of an object; another one with the same place in the table replaces it. */
struct track {
    u64 object;
    u32 size, capacity;
    u64 alloc_pc, free_pc; /* free_pc 0: in use */
    int alloc_tid, free_tid;
};
static struct track tracks[TRACKS];

static struct track *track_of(u64 object)
{
    return &tracks[(object >> 4 ^ object >> 16) & (TRACKS - 1)];
}

/* The object with this address in it, or in its redzone. */
static const struct track *find_track(u64 addr)
{
    for (const struct track *t = tracks; t < tracks + TRACKS; t++)
        if (t->object && addr - t->object < t->capacity)
            return t;
    return NULL;
}

size_t kasan_shadow_size(pa_t start, pa_t end)
{
    return (end - start) / SHADOW_SCALE;
}

void kasan_register_globals(void);

void kasan_init(void *memory, pa_t start, pa_t end)
{
    memset(memory, 0, kasan_shadow_size(start, end));
    first_covered = LINEAR_BASE + start;
    shadow_base = (u8 *)memory - first_covered / SHADOW_SCALE;
    bytes_covered = end - start;
    kasan_register_globals();
}

static bool covered(u64 addr)
{
    return addr - first_covered < bytes_covered;
}

static u8 *shadow_of(u64 addr)
{
    return shadow_base + addr / SHADOW_SCALE;
}

static void poison(const void *addr, size_t size, u8 value)
{
    if (covered((u64)addr))
        memset(shadow_of((u64)addr), value, size / SHADOW_SCALE);
}

static void unpoison(const void *addr, size_t size)
{
    poison(addr, ALIGN_DOWN(size, SHADOW_SCALE), 0);
    if (size % SHADOW_SCALE && covered((u64)addr))
        *shadow_of((u64)addr + size) = size % SHADOW_SCALE;
}

/* The first inaccessible byte of the access, or 0. */
static u64 first_bad(u64 addr, size_t size)
{
    for (u64 at = addr; at < addr + size; at = ALIGN_DOWN(at, SHADOW_SCALE) + SHADOW_SCALE) {
        u8 s = *shadow_of(at);
        u64 last = MIN(addr + size, ALIGN_DOWN(at, SHADOW_SCALE) + SHADOW_SCALE) - 1;
        if (s == 0)
            continue;
        if (s >= SHADOW_SCALE)
            return at;
        if ((last & 7) >= s)
            return MAX(at, ALIGN_DOWN(at, SHADOW_SCALE) + s);
    }
    return 0;
}

static const char *bug_kind(u64 bad)
{
    u8 s = *shadow_of(bad);
    if (s < SHADOW_SCALE) /* partial: the reason is in the next granule */
        s = covered(bad + SHADOW_SCALE) ? *shadow_of(bad + SHADOW_SCALE) : REDZONE;
    switch (s) {
    case FREE_PAGE:
        return "use-after-free";
    case FREE_OBJECT:
        return "slab-use-after-free";
    case GLOBAL_ZONE:
        return "global-out-of-bounds";
    default:
        return "slab-out-of-bounds";
    }
}

static void print_shadow(u64 bad)
{
    u64 row = ALIGN_DOWN(bad, 16 * SHADOW_SCALE);
    kprintf("Memory state around the buggy address:\n");
    for (u64 at = row - 2 * 128; at <= row + 2 * 128; at += 128) {
        if (!covered(at))
            continue;
        kprintf("%c%016lx:", at == row ? '>' : ' ', at);
        for (int i = 0; i < 16; i++)
            kprintf(" %02x", *shadow_of(at + (u64)i * SHADOW_SCALE));
        kprintf("\n");
    }
}

/* The first time that this site reports. */
static bool is_new_site(u64 pc)
{
    static u64 sites[SITES_MAX];
    static u32 n;

    for (u32 i = 0; i < n; i++)
        if (sites[i] == pc)
            return false;
    if (n < SITES_MAX)
        sites[n++] = pc;
    return true;
}

static void print_site(const char *what, int tid, u64 pc)
{
    u64 start = 0;
    const char *name = symbol_at(pc - 1, &start);

    kprintf("%s by task %d:\n  [<%016lx>] %s+0x%lx\n", what, tid, pc, name ? name : "?",
            pc - start);
}

static void print_object(u64 bad)
{
    const struct track *t = find_track(bad);

    if (!t)
        return;
    kprintf("The address is %lu bytes into an object of %u bytes at %016lx\n", bad - t->object,
            t->size, t->object);
    print_site("Allocated", t->alloc_tid, t->alloc_pc);
    if (t->free_pc)
        print_site("Freed", t->free_tid, t->free_pc);
}

static void report(const char *kind, const char *access, u64 addr, size_t size, u64 pc, u64 bad)
{
    u64 start = 0;
    const char *name = symbol_at(pc, &start);
    if (!is_new_site(pc))
        return;
    reporting = true;
    kprintf("==================================================================\n");
    kprintf("BUG: KASAN: %s in %s+0x%lx\n", kind, name ? name : "?", pc - start);
    kprintf("%s of %s%lu at addr %016lx by task %s/%d\n", access,
            *access == 'F' ? "object " : "size ", size, addr, current->name, current->tid);
    backtrace((u64)__builtin_frame_address(0), 0);
    print_object(bad);
    print_shadow(bad);
    kprintf("==================================================================\n");
    reporting = false;
    if (cmdline_flag("panic_on_warn"))
        panic("KASAN: %s", kind);
}

static void check_slowly(u64 addr, size_t size, bool write, u64 pc)
{
    if (!size || !covered(addr) || !covered(addr + size - 1) || reporting || panicking)
        return;
    u64 bad = first_bad(addr, size);
    if (bad)
        report(bug_kind(bad), write ? "Write" : "Read", addr, size, pc, bad);
}

/* The fast path: nearly every access is to fully accessible granules, or to a kernel stack. */
static inline void check(u64 addr, size_t size, bool write, u64 pc)
{
    u64 last = addr + size - 1;
    if (likely(addr - first_covered >= bytes_covered))
        return;
    if (likely(size <= SHADOW_SCALE && *shadow_of(addr) == 0 &&
               (addr / SHADOW_SCALE == last / SHADOW_SCALE || *shadow_of(last) == 0)))
        return;
    check_slowly(addr, size, write, pc);
}

#define PC ((u64)__builtin_return_address(0))
#define ASAN_ACCESS(n)                                                                             \
    void __asan_load##n##_noabort(u64 addr);                                                       \
    void __asan_load##n##_noabort(u64 addr)                                                        \
    {                                                                                              \
        check(addr, n, false, PC);                                                                 \
    }                                                                                              \
    void __asan_store##n##_noabort(u64 addr);                                                      \
    void __asan_store##n##_noabort(u64 addr)                                                       \
    {                                                                                              \
        check(addr, n, true, PC);                                                                  \
    }
ASAN_ACCESS(1)
ASAN_ACCESS(2)
ASAN_ACCESS(4)
ASAN_ACCESS(8)
ASAN_ACCESS(16)

void __asan_loadN_noabort(u64 addr, size_t size);
void __asan_loadN_noabort(u64 addr, size_t size)
{
    check(addr, size, false, PC);
}

void __asan_storeN_noabort(u64 addr, size_t size);
void __asan_storeN_noabort(u64 addr, size_t size)
{
    check(addr, size, true, PC);
}

void __asan_handle_no_return(void);
void __asan_handle_no_return(void) {}

void *__asan_memcpy(void *dst, const void *src, size_t n);
void *__asan_memcpy(void *dst, const void *src, size_t n)
{
    check((u64)src, n, false, PC);
    check((u64)dst, n, true, PC);
    return memcpy(dst, src, n);
}

void *__asan_memmove(void *dst, const void *src, size_t n);
void *__asan_memmove(void *dst, const void *src, size_t n)
{
    check((u64)src, n, false, PC);
    check((u64)dst, n, true, PC);
    return memmove(dst, src, n);
}

void *__asan_memset(void *dst, int c, size_t n);
void *__asan_memset(void *dst, int c, size_t n)
{
    check((u64)dst, n, true, PC);
    return memset(dst, c, n);
}

/* Globals: the compiler lists each with its redzone; constructors register them. */

struct asan_global {
    const void *start;
    size_t size, size_with_redzone;
    const void *name, *module;
    u64 has_dynamic_init;
    const void *location, *odr_indicator;
};

void __asan_register_globals(struct asan_global *globals, size_t n);
void __asan_register_globals(struct asan_global *globals, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        u64 used = ALIGN_UP(globals[i].size, SHADOW_SCALE);
        unpoison(globals[i].start, globals[i].size);
        poison((const u8 *)globals[i].start + used, globals[i].size_with_redzone - used,
               GLOBAL_ZONE);
    }
}

void __asan_unregister_globals(struct asan_global *globals, size_t n);
void __asan_unregister_globals(struct asan_global *globals, size_t n)
{
    (void)globals, (void)n;
}

void kasan_register_globals(void)
{
    extern void (*const __init_array_start[])(void), (*const __init_array_end[])(void);
    for (void (*const *f)(void) = __init_array_start; f < __init_array_end; f++)
        (*f)();
}

/* Calls from the allocators */

void kasan_alloc_pages(void *va, size_t size)
{
    unpoison(va, size);
}

void kasan_free_pages(void *va, size_t size)
{
    poison(va, size, FREE_PAGE);
}

void kasan_slab_page(void *va)
{
    poison(va, PAGE_SIZE, REDZONE);
}

void kasan_alloc_object(void *object, size_t size, size_t capacity, u64 pc)
{
    if (covered((u64)object))
        *track_of((u64)object) = (struct track){
            .object = (u64)object,
            .size = (u32)size,
            .capacity = (u32)capacity,
            .alloc_pc = pc,
            .alloc_tid = current->tid,
        };
    poison(object, capacity, REDZONE);
    unpoison(object, size);
}

bool kasan_free_object(void *object, size_t capacity, u64 pc)
{
    if (covered((u64)object) && *shadow_of((u64)object) >= SHADOW_SCALE) {
        report("double-free", "Free", (u64)object, capacity, pc, (u64)object);
        return false;
    }
    struct track *t = track_of((u64)object);
    if (t->object == (u64)object) {
        t->free_pc = pc;
        t->free_tid = current->tid;
    }
    poison(object, capacity, FREE_OBJECT);
    return true;
}

static struct spinlock quarantine_lock = SPINLOCK_INIT("kasan");
static void *quarantine[QUARANTINE];
static u32 quarantine_next;

void *kasan_quarantine(void *object)
{
    spin_lock(&quarantine_lock);
    void *oldest = quarantine[quarantine_next];
    quarantine[quarantine_next] = object;
    quarantine_next = (quarantine_next + 1) % QUARANTINE;
    spin_unlock(&quarantine_lock);
    return oldest;
}
