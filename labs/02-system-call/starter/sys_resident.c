/* resident(addr, len): how many pages of the range are in memory? */
#include "types.h"
#include "abi/errno.h"
#include "memlayout.h"
#include "proc.h"
#include "riscv.h"
#include "syscall.h"
#include "vm.h"
