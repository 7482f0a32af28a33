/* sigmask.c: a mask for the time of one system call. */
#include "proc.h"
#include "signal.h"

void signal_mask_begin(sigset_t mask)
{
    spin_lock(&proc_lock);
    current->saved_blocked = current->blocked;
    current->blocked = mask & ~UNBLOCKABLE;
    current->restore_blocked = true;
    spin_unlock(&proc_lock);
}

void signal_mask_end(void)
{
    spin_lock(&proc_lock);
    if (current->restore_blocked)
        current->blocked = current->saved_blocked;
    current->restore_blocked = false;
    spin_unlock(&proc_lock);
}

bool signal_mask_is_borrowed(void)
{
    return current->restore_blocked;
}
