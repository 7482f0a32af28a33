/* mremap.h: the flags of mremap(2). */
#pragma once

#define MREMAP_MAYMOVE   1
#define MREMAP_FIXED     2
#define MREMAP_DONTUNMAP 4
