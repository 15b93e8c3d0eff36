#define _GNU_SOURCE
#include "CRoostSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#ifdef F_OFD_SETLK

int croost_locks_have_regions(void) { return 1; }

int croost_set_lock(int descriptor, int region, enum croost_lock lock) {
    struct flock request;
    memset(&request, 0, sizeof request);
    request.l_type = lock == croost_lock_none ? F_UNLCK : lock == croost_lock_shared ? F_RDLCK : F_WRLCK;
    request.l_whence = SEEK_SET;
    request.l_start = region;
    request.l_len = 1;
    int result;
    do result = fcntl(descriptor, F_OFD_SETLK, &request); while (result != 0 && errno == EINTR);
    if (result == 0) return 0;
    // If the lock is held elsewhere, POSIX allows both codes.
    return errno == EACCES || errno == EAGAIN ? EWOULDBLOCK : errno;
}

int croost_set_range_lock(int descriptor, int64_t start, int64_t length, enum croost_lock lock) {
    struct flock request;
    memset(&request, 0, sizeof request);
    request.l_type = lock == croost_lock_none ? F_UNLCK : lock == croost_lock_shared ? F_RDLCK : F_WRLCK;
    request.l_whence = SEEK_SET;
    request.l_start = start;
    request.l_len = length;
    int result;
    do result = fcntl(descriptor, F_OFD_SETLK, &request); while (result != 0 && errno == EINTR);
    if (result == 0) return 0;
    return errno == EACCES || errno == EAGAIN ? EWOULDBLOCK : errno;
}

int croost_find_lock(int descriptor, int64_t start, int64_t length, enum croost_lock lock, int64_t *found) {
    struct flock request;
    memset(&request, 0, sizeof request);
    request.l_type = lock == croost_lock_shared ? F_RDLCK : F_WRLCK;
    request.l_whence = SEEK_SET;
    request.l_start = start;
    request.l_len = length;
    int result;
    do result = fcntl(descriptor, F_OFD_GETLK, &request); while (result != 0 && errno == EINTR);
    if (result != 0) return errno;
    *found = request.l_type == F_UNLCK ? 0 : request.l_len == 0 ? INT64_MAX : request.l_len;
    return 0;
}

#else

int croost_locks_have_regions(void) { return 0; }

int croost_set_lock(int descriptor, int region, enum croost_lock lock) {
    (void)region;
    int operation = lock == croost_lock_none ? LOCK_UN : lock == croost_lock_shared ? LOCK_SH : LOCK_EX;
    int result;
    do result = flock(descriptor, operation | LOCK_NB); while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

int croost_set_range_lock(int descriptor, int64_t start, int64_t length, enum croost_lock lock) {
    (void)descriptor; (void)start; (void)length; (void)lock;
    return ENOTSUP;
}

int croost_find_lock(int descriptor, int64_t start, int64_t length, enum croost_lock lock, int64_t *found) {
    (void)descriptor; (void)start; (void)length; (void)lock; (void)found;
    return ENOTSUP;
}

#endif
