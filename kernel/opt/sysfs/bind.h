/* bind.h: binding and unbinding by name. */
#pragma once
#include "driver.h"

/* All need driver_lock. */
int device_bind(const struct bus *bus, const char *driver, const char *device);
int device_unbind(const struct bus *bus, const char *driver, const char *device);
