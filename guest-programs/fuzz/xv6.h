/*
 * Numbers of xv6's hooks (xv6-hooks.c, in the kernel) and of its first program (xv6-init.c).
 * fuzz/executor/layout.ts has the same ones.
 */
#ifndef KCOVBOX_XV6_H
#define KCOVBOX_XV6_H

/*
 * Memory of the agent to which arguments point. It is small, because fork copies all of a process,
 * and it is in front of the program's code: there it is the same for the C program of a crash.
 */
#define XV6_ARENA       0x1000UL
#define XV6_ARENA_BYTES 0x8000UL

/* Calls of the hooks' own. */
#define XV6_CALL_PREPARE 1000000 /* take most of the free memory */
#define XV6_CALL_READY   1000001 /* the agent is ready: the moment of the snapshot */
#define XV6_CALL_NEXT    1000002 /* make the next call of the program */
#define XV6_CALL_END     1000003 /* end the machine */

/* Codes for the board's finisher. */
#define XV6_ASLEEP 0xff60 /* the agent sleeps, and nothing has woken it */
#define XV6_PANIC  0xff7e /* as of kcovbox's own kernel */

#endif
