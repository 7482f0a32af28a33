/* hotplug.h: devices that go while they are in use. */
#pragma once
#include "driver.h"

/* References to the binding, for users without an open file: a mounted disk. */
void binding_put(struct binding *b);
struct binding *binding_get(struct binding *b);
/* Brackets a use of the hardware; enter is false, without a leave, once the removal has begun. */
bool binding_enter(struct binding *b);
void binding_leave(struct binding *b);

/* Calls fn(arg) right before the memory of dev_zalloc is freed. */
int dev_at_end(struct device *dev, void (*fn)(void *arg), void *arg);
/* Unbinds it; it is absent afterwards. (driver_lock) */
int device_del(struct device *dev, bool is_lost);
/* The same from its driver alone. (driver_lock) */
int device_release(struct device *dev, bool is_lost);
