#ifndef ROOST_PAGE_H
#define ROOST_PAGE_H

#include <stddef.h>

// One file of the page of `roost browse`.
struct roost_page_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

// The files; the last one has no name.
const struct roost_page_file *roost_page_files(void);

#endif
