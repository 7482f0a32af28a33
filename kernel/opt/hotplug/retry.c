/* retry.c: devices whose probe waited for another device. */
#include "driver/internal.h"

/* Probes deferred devices again, until a round binds none: a new binding may serve the next. */
void devices_retry(void)
{
    bool again = true;

    while (again) {
        again = false;
        for (struct device *dev = device_list(); dev; dev = dev->next)
            if (dev->deferred && dev->present && !dev->driver && !probe_any(dev))
                again = true;
    }
}
