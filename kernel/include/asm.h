/* Offsets that assembly knows; proc/offsets.c asserts every one against the C structures. */
#pragma once

#define THREAD_KERNEL_SP 0
#define THREAD_SCRATCH   8
#define THREAD_CPU       16
#define THREAD_CTX       24
#define THREAD_KCOV      192
#define CPU_INTR_DEPTH   0
#define CPU_INDEX        4

#define TF_SIZE   304
#define TF_RA     0
#define TF_SP     8
#define TF_GP     16
#define TF_TP     24
#define TF_T0     32
#define TF_S0     56
#define TF_A0     72
#define TF_EPC    248
#define TF_STATUS 256
#define TF_CAUSE  264
#define TF_TVAL   272
