/* sigwait.h: signals that a thread waits for. */
#pragma once
#include "signal.h"

/* Takes a pending signal of a set for the current thread: its number, or 0. */
int signal_take_wanted(sigset_t set, siginfo_t *info);
bool signal_is_waiting(sigset_t set);
