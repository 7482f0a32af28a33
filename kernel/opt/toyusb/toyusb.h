/* A toy USB host controller; see toyusb.c. */
#pragma once
#include "optional.h"

/* netbsd: /dev/vhci0, kcov mailboxes by bus and port. */
OPTIONAL(CONFIG_TOYUSB, void, toyusb_init_vhci, (void))
/* linux: /dev/toyusb, kcov handles by bus, softirq, common handle. */
OPTIONAL(CONFIG_TOYUSB, void, toyusb_init_gadget, (void))
