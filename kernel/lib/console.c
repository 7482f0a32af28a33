/*
 * Output of kernel messages: through SBI until a driver registers its own output. A panic ignores
 * the lock, because the panicking hart may hold it.
 */
#include "klib.h"
#include "lock.h"
#include "sbi.h"

static void sbi_put(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sbi_console_putchar(s[i]);
}

static void (*output)(const char *s, size_t n) = sbi_put;
static struct spinlock console_lock = SPINLOCK_INIT("console");

void console_set_output(void (*put)(const char *s, size_t n))
{
    output = put;
}

void console_write(const char *s, size_t n)
{
    if (panicking) {
        output(s, n);
        return;
    }
    spin_lock(&console_lock);
    output(s, n);
    spin_unlock(&console_lock);
}
