// memmem is not part of POSIX.
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE

#include <string.h>

#include "CRoostSystem.h"

const void *croost_find(const void *text, size_t size, const void *part, size_t part_size) {
    return memmem(text, size, part, part_size);
}
