/* Commands of terminals. */
#ifndef KCOVBOX_FREEBSD_SYS_TTYCOM_H
#define KCOVBOX_FREEBSD_SYS_TTYCOM_H
#include <sys/ioctl.h>
#include <termios.h>
#endif
