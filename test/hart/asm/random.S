# For programs that do something at random and print a hash of what happened; the output must be the same everywhere.
# s7 = random state, s8 = hash, s9 = rounds done.

.equ UART, 0x10000000

.macro HASH register
    xor s8, s8, \register
    li t6, 0x9e3779b97f4a7c15
    mul s8, s8, t6
    srli t6, s8, 29
    xor s8, s8, t6
.endm

.macro SEED_RANDOM
    li s7, 0x2545f4914f6cdd1d
    li s8, 1
    li s9, 0
.endm

# xorshift64*; clobbers t0.
.macro RANDOM register
    srli t0, s7, 12
    xor s7, s7, t0
    slli t0, s7, 25
    xor s7, s7, t0
    srli t0, s7, 27
    xor s7, s7, t0
    li t0, 0x2545f4914f6cdd1d
    mul \register, s7, t0
.endm

# Counts the round, prints the hash after every thousand, and goes on at `again` until there were `rounds`.
.macro NEXT_ROUND again, rounds
    addi s9, s9, 1
    li t0, 1000
    remu t0, s9, t0
    bnez t0, 77f
    call print
77: li t0, \rounds
    bgeu s9, t0, 78f
    j \again
78:
.endm

print:
    li a4, UART
    li a5, 60
1:  srl t0, s8, a5
    andi t0, t0, 15
    addi t0, t0, '0'
    li t1, '9'
    bleu t0, t1, 2f
    addi t0, t0, 'a' - '0' - 10
2:  lbu t1, 5(a4)
    andi t1, t1, 0x20
    beqz t1, 2b
    sb t0, 0(a4)
    addi a5, a5, -4
    bgez a5, 1b
    li t0, '\n'
    sb t0, 0(a4)
    ret
