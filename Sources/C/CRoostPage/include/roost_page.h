#ifndef ROOST_PAGE_H
#define ROOST_PAGE_H

#include <stddef.h>

// A file of the page of `roost browse`.
struct roost_page_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

// An element without a name ends the list.
const struct roost_page_file *roost_page_files(void);

#endif
