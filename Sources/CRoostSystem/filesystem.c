#define _GNU_SOURCE
#include "CRoostSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#elif defined(__APPLE__)
#include <sys/mount.h>
#include <sys/param.h>
#endif

int croost_file_system_type(const char *path, uint64_t *type) {
#if defined(__linux__)
    struct statfs information;
    int result;
    do result = statfs(path, &information); while (result != 0 && errno == EINTR);
    if (result != 0) return errno;
    // Some type numbers have bit 31 set, and the field is signed on some machines.
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
    // Never repeated after an error other than EINTR: the pages may count as clean by then, and a second call would lie.
    int result;
#if defined(__APPLE__)
    do result = fcntl(descriptor, F_FULLFSYNC); while (result != 0 && errno == EINTR);
    // File systems that cannot flush the drive say so; those have only fsync.
    if (result != 0 && (errno == ENOTSUP || errno == EINVAL)) {
        do result = fsync(descriptor); while (result != 0 && errno == EINTR);
    }
#else
    do result = fsync(descriptor); while (result != 0 && errno == EINTR);
#endif
    return result == 0 ? 0 : errno;
}
