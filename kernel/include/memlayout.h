/*
 * The three maps: physical, kernel virtual, user virtual.
 *
 * Physical (as QEMU's virt board; devices are found by the device tree, not by these numbers):
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
#define PAGE_SIZE  4096UL
#define PAGE_MASK  (PAGE_SIZE - 1)

#define LINEAR_BASE 0xffffffff00000000UL
#define KERNEL_LINK 0xffffffff80200000UL
#define RAM_BASE    0x80000000UL
#define LINEAR_SIZE 0x100000000UL

#define VMAP_BASE   0xffffffd000000000UL
#define VMAP_SIZE   0x40000000UL
#define SHADOW_BASE 0xffffffe000000000UL

#define USER_TOP       0x4000000000UL
#define USER_MIN       0x1000UL /* nothing is ever mapped at page 0 */
#define USER_TRAMPOLINE (USER_TOP - 2 * PAGE_SIZE) /* signal return code, R-X in every process */
#define USER_STACK_TOP (USER_TOP - 16 * PAGE_SIZE)
#define USER_STACK_MAX (8UL << 20)
#define USER_MMAP_TOP  (USER_STACK_TOP - USER_STACK_MAX - (1UL << 20))
#define USER_PIE_BASE  0x1000000000UL

/*
 * A kernel stack fills the upper half of a naturally aligned slot of twice its size; the lower half
 * is never mapped. So trap entry recognises an overflow by one address bit (trap/entry.S).
 */
#define KSTACK_SHIFT 14
#define KSTACK_SIZE  (1UL << KSTACK_SHIFT)
#define KSTACK_SLOT  (2 * KSTACK_SIZE)

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
