#define _GNU_SOURCE
#include "CRoostSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#elif defined(__APPLE__)
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/param.h>
#endif

int croost_file_system_type(const char *path, uint64_t *type) {
#if defined(__linux__)
    struct statfs information;
    int result;
    do result = statfs(path, &information); while (result != 0 && errno == EINTR);
    if (result != 0) return errno;
    // Some type numbers have bit 31 set. The cast prevents a sign extension where the field is signed.
    *type = (uint32_t)information.f_type;
    return 0;
#elif defined(__APPLE__)
    struct statfs information;
    int result;
    do result = statfs(path, &information); while (result != 0 && errno == EINTR);
    if (result != 0) return errno;
    *type = information.f_flags & MNT_LOCAL ? 0 : 1;
    return 0;
#else
    (void)path;
    *type = 0;
    return 0;
#endif
}

int croost_sync(int descriptor) {
    // Only EINTR is retried. After another error the pages may be marked clean, and a second call would falsely
    // succeed.
    int result;
#if defined(__APPLE__)
    do result = fcntl(descriptor, F_FULLFSYNC); while (result != 0 && errno == EINTR);
    // If the file system cannot flush the drive's cache, only fsync is left.
    if (result != 0 && (errno == ENOTSUP || errno == EINVAL)) {
        do result = fsync(descriptor); while (result != 0 && errno == EINTR);
    }
#else
    do result = fsync(descriptor); while (result != 0 && errno == EINTR);
#endif
    return result == 0 ? 0 : errno;
}

int croost_allocate(int descriptor, int64_t size) {
    int code;
#if defined(__APPLE__)
    struct stat status;
    if (fstat(descriptor, &status) != 0) return errno;
    if (status.st_size >= size) return 0;
    fstore_t request = { F_ALLOCATEALL, F_PEOFPOSMODE, 0, size - status.st_size, 0 };
    if (fcntl(descriptor, F_PREALLOCATE, &request) != 0 && errno != ENOTSUP && errno != EINVAL) return errno;
    int result;
    do result = ftruncate(descriptor, size); while (result != 0 && errno == EINTR);
    code = result == 0 ? 0 : errno;
#else
    do code = posix_fallocate(descriptor, 0, size); while (code == EINTR);
#endif
    return code == EOPNOTSUPP || code == EINVAL || code == ENOSYS ? 0 : code;
}
