/*
 * The three maps: physical, kernel virtual, user virtual.
 *
 * Physical (as on QEMU's virt board; the kernel finds devices through the device tree):
 *   0010_0000  test finisher      0200_0000  CLINT      0400_0000  kcov device (ours)
 *   0c00_0000  PLIC               1000_0000  UART       8000_0000  RAM
 *
 * Kernel virtual (Sv39, upper half; the same entries in every page table):
 *   ffffffd0_00000000  mapped area, 1 GiB: kernel stacks with guard pages
 *   ffffffe0_00000000  KASAN shadow (only in KASAN builds)
 *   ffffffff_00000000  linear map of physical 0 .. 4 GiB
 *   ffffffff_80200000  the kernel image, inside the linear map; text RX, constants R, data RW
 *
 * User virtual: 0 .. 40_0000_0000
 *   0001_0000 program, heap (brk) above it ... mmap area downward from the stack ... stack
 */
#pragma once

#define PAGE_SHIFT 12
#ifdef __ASSEMBLER__
#define UL(x) x
#else
#define UL(x) x##UL
#endif

#define PAGE_SIZE UL(4096)
#define PAGE_MASK (PAGE_SIZE - 1)

#define LINEAR_BASE UL(0xffffffff00000000)
#define KERNEL_LINK UL(0xffffffff80200000)
#define RAM_BASE    UL(0x80000000)
#define LINEAR_SIZE UL(0x100000000)

#define VMAP_BASE UL(0xffffffd000000000)
#define VMAP_SIZE UL(0x40000000)

#define USER_TOP        UL(0x4000000000)
#define USER_MIN        UL(0x1000)                 /* nothing is ever mapped at page 0 */
#define USER_TRAMPOLINE (USER_TOP - 2 * PAGE_SIZE) /* signal return code, R-X in every process */
#define USER_STACK_TOP  (USER_TOP - 16 * PAGE_SIZE)
#define USER_STACK_MAX  (UL(8) << 20)
#define USER_MMAP_TOP   (USER_STACK_TOP - USER_STACK_MAX - (UL(1) << 20))

/*
 * A kernel stack fills the upper half of a naturally aligned slot of twice its size; the lower half
 * is never mapped. So one address bit tells trap entry of an overflow (trap/entry.S).
 */
#ifdef CONFIG_KASAN
#define KSTACK_SHIFT 15 /* redzones make frames larger */
#else
#define KSTACK_SHIFT 14
#endif
#define KSTACK_SIZE (UL(1) << KSTACK_SHIFT)
#define KSTACK_SLOT (2 * KSTACK_SIZE)

#define MAX_HARTS 8

#ifndef __ASSEMBLER__
static inline void *pa_to_va(u64 pa)
{
    return (void *)(pa + LINEAR_BASE);
}
static inline u64 va_to_pa(const void *va)
{
    return (u64)va - LINEAR_BASE;
}
#endif
