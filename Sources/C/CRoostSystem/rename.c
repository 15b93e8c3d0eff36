#define _GNU_SOURCE
#include "CRoostSystem.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

static int rename_with(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    return syscall(SYS_renameat2, from_directory, from, to_directory, to, flags) == 0 ? 0 : errno;
}

int croost_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to) {
    return rename_with(from_directory, from, to_directory, to, RENAME_NOREPLACE);
}

int croost_rename_exchange(int from_directory, const char *from, int to_directory, const char *to) {
    return rename_with(from_directory, from, to_directory, to, RENAME_EXCHANGE);
}

#elif defined(__APPLE__)

int croost_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to) {
    return renameatx_np(from_directory, from, to_directory, to, RENAME_EXCL) == 0 ? 0 : errno;
}

int croost_rename_exchange(int from_directory, const char *from, int to_directory, const char *to) {
    return renameatx_np(from_directory, from, to_directory, to, RENAME_SWAP) == 0 ? 0 : errno;
}

#else

int croost_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to) {
    (void)from_directory; (void)from; (void)to_directory; (void)to;
    return ENOSYS;
}

int croost_rename_exchange(int from_directory, const char *from, int to_directory, const char *to) {
    (void)from_directory; (void)from; (void)to_directory; (void)to;
    return ENOSYS;
}

#endif
