/* errno.h: the error numbers of sockets; the others are in abi/errno.h. */
#pragma once

#define ENOTSOCK        88
#define EDESTADDRREQ    89
#define EMSGSIZE        90
#define EPROTOTYPE      91
#define ENOPROTOOPT     92
#define EPROTONOSUPPORT 93
#define ESOCKTNOSUPPORT 94
#define EPFNOSUPPORT    96
#define EAFNOSUPPORT    97
#define EADDRINUSE      98
#define EADDRNOTAVAIL   99
#define ECONNABORTED    103
#define ECONNRESET      104
#define EISCONN         106
#define ENOTCONN        107
#define ECONNREFUSED    111
#define EALREADY        114
#define EINPROGRESS     115
