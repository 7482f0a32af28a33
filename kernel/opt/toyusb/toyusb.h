/* A toy USB host controller; see toyusb.c. */
#pragma once

#ifdef CONFIG_TOYUSB
void toyusb_init_vhci(void);   /* netbsd: /dev/vhci0, kcov mailboxes by bus and port */
void toyusb_init_gadget(void); /* linux: /dev/toyusb, kcov handles by bus, softirq, common handle */
#else
static inline void toyusb_init_vhci(void) {}
static inline void toyusb_init_gadget(void) {}
#endif
