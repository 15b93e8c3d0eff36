// The dynamic linker finds these functions before those of the C library. Each makes the system
// call itself. Calls that change files below the recorded directory run one at a time and are
// recorded.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "crashrecorder.h"

// Sanitizers replace the same functions, so nothing is recorded with them.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) || defined(__linux__)
#include <features.h>
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int crashrecorder_works(void) { return 1; }

static char root[PATH_MAX];
static size_t root_length;
static int trace = -1;
static int64_t fault_classes, fault_number, fault_action, fault_sticky, fault_count;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
// Whether this thread is in a recorded call, whose own calls are not recorded.
static __thread int inside;

// Finds the replaced function on the first call.
#define REAL(name) \
    static __typeof__(&name) real; \
    __typeof__(&name) found = __atomic_load_n(&real, __ATOMIC_ACQUIRE); \
    if (found == NULL) { \
        found = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
        if (found == NULL) abort(); \
        __atomic_store_n(&real, found, __ATOMIC_RELEASE); \
    }

static long raw(long number, long a, long b, long c, long d, long e) {
    REAL(syscall)
    return found(number, a, b, c, d, e);
}

__attribute__((constructor)) static void start(void) {
    const char *directory = getenv("CRASHRECORDER_ROOT");
    if (directory == NULL || realpath(directory, root) == NULL) return;
    const char *file = getenv("CRASHRECORDER_TRACE");
    if (file != NULL) {
        int opened = (int)raw(SYS_openat, AT_FDCWD, (long)file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600, 0);
        // A high number, because programs may rely on low descriptors.
        trace = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, 500);
        if (trace < 0) abort();
        raw(SYS_close, opened, 0, 0, 0, 0);
    }
    const char *fault = getenv("CRASHRECORDER_FAULT");
    long long numbers[4] = {0, 0, 0, 0};
    if (fault != NULL && sscanf(fault, "%lld %lld %lld %lld", &numbers[0], &numbers[1], &numbers[2], &numbers[3]) != 4) abort();
    fault_classes = numbers[0];
    fault_number = numbers[1];
    fault_action = numbers[2];
    fault_sticky = numbers[3];
    // Set last, because recording begins here.
    root_length = strlen(root);
}

int64_t crashrecorder_count(void) { return __atomic_load_n(&fault_count, __ATOMIC_RELAXED); }

// MARK: Paths

// Returns the part of an absolute path below the directory; NULL for a path elsewhere.
static const char *below(const char *path) {
    if (strncmp(path, root, root_length) != 0) return NULL;
    if (path[root_length] == '/') return path + root_length + 1;
    return path[root_length] == 0 ? path + root_length : NULL;
}

static int link_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    long length = raw(SYS_readlink, (long)link, (long)path, PATH_MAX - 1, 0, 0);
    if (length <= 0) return -1;
    path[length] = 0;
    return 0;
}

// Returns the path of an open file below the directory, in `buffer`; NULL for a file elsewhere, or
// if nothing is recorded.
static const char *path_of(int file, char *buffer) {
    if (root_length == 0 || inside || link_of(file, buffer) != 0) return NULL;
    char *deleted = strstr(buffer, " (deleted)");
    if (deleted != NULL) *deleted = 0;
    return below(buffer);
}

// Returns a path below the directory, resolved except for its last component; NULL for a path
// elsewhere.
static const char *resolved(int directory, const char *path, char *buffer) {
    char whole[PATH_MAX * 2];
    if (path[0] == '/') {
        snprintf(whole, sizeof whole, "%s", path);
    } else {
        char base[PATH_MAX];
        if (directory == AT_FDCWD ? getcwd(base, sizeof base) == NULL : link_of(directory, base) != 0) return NULL;
        snprintf(whole, sizeof whole, "%s/%s", base, path);
    }
    size_t length = strlen(whole);
    while (length > 1 && whole[length - 1] == '/') whole[--length] = 0;
    char *slash = strrchr(whole, '/');
    if (slash == NULL) return NULL;
    char parent[PATH_MAX];
    *slash = 0;
    if (realpath(whole[0] == 0 ? "/" : whole, parent) == NULL) return NULL;
    if (snprintf(buffer, PATH_MAX, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, slash + 1) >= PATH_MAX) return NULL;
    return below(buffer);
}

static uint64_t inode_of(int file) {
    struct stat status;
    return fstat(file, &status) == 0 ? status.st_ino : 0;
}

static int status_below(const char *path, struct stat *status) {
    char whole[PATH_MAX * 2];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    return lstat(whole, status);
}

static uint64_t inode_below(const char *path) {
    struct stat status;
    return status_below(path, &status) == 0 ? status.st_ino : 0;
}

// MARK: Records and faults

static void record(
    int kind, int flags, uint64_t inode, uint64_t offset, const char *path, const char *other, const void *data, size_t size) {
    if (trace < 0) return;
    struct __attribute__((packed)) {
        uint8_t kind, flags;
        uint16_t path, other;
        uint32_t data;
        uint64_t offset, inode;
    } head = {
        (uint8_t)kind, (uint8_t)flags, path ? (uint16_t)strlen(path) : 0, other ? (uint16_t)strlen(other) : 0, (uint32_t)size,
        offset, inode};
    struct iovec parts[4] = {
        {&head, sizeof head}, {(void *)path, head.path}, {(void *)other, head.other}, {(void *)data, size}};
    long length = (long)(sizeof head + head.path + head.other + size);
    // An incomplete trace would prove nothing.
    if (raw(SYS_writev, trace, (long)parts, 4, 0, 0) != length) abort();
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// Returns the fault of a call: 0 for none, an errno, or an action.
static int fault(int classes) {
    if ((fault_classes & classes) == 0) return 0;
    int64_t count = __atomic_add_fetch(&fault_count, 1, __ATOMIC_RELAXED);
    if (count != fault_number && !(fault_sticky && fault_number > 0 && count > fault_number)) return 0;
    if (fault_action == crashrecorder_kill) die();
    return (int)fault_action;
}

static void enter(void) {
    pthread_mutex_lock(&order);
    inside = 1;
}

// Ends a recorded call, sets its errno and returns its result.
static long leave(long result, int code, int action) {
    if (action == crashrecorder_kill_after) die();
    inside = 0;
    pthread_mutex_unlock(&order);
    errno = code;
    return result;
}

#define REFUSE(action) if ((action) > 0) return leave(-1, (action), 0)

void crashrecorder_mark(const char *text) {
    if (root_length == 0) return;
    enter();
    record(crashrecorder_marked, 0, 0, 0, text, NULL, NULL, 0);
    leave(0, 0, 0);
}

void crashrecorder_set_fault(int64_t classes, int64_t number, int64_t action, int64_t sticky) {
    enter();
    fault_classes = classes;
    fault_number = number;
    fault_action = action;
    fault_sticky = sticky;
    __atomic_store_n(&fault_count, 0, __ATOMIC_RELAXED);
    leave(0, errno, 0);
}

// MARK: Opening

static int record_open(int directory, const char *path, int flags, mode_t mode) {
    char buffer[PATH_MAX];
    if (root_length == 0 || inside) return (int)raw(SYS_openat, directory, (long)path, flags, mode, 0);
    enter();
    const char *name = resolved(directory, path, buffer);
    struct stat before;
    int existed = name != NULL && status_below(name, &before) == 0;
    int makes = name != NULL && (flags & O_CREAT) != 0 && !existed;
    int action = name == NULL ? 0 : fault(crashrecorder_open | (makes ? crashrecorder_create : 0));
    REFUSE(action);
    int file = (int)raw(SYS_openat, directory, (long)path, flags, mode, 0);
    int code = errno;
    if (file >= 0 && makes) record(crashrecorder_created, 0, inode_of(file), 0, name, NULL, NULL, 0);
    if (file >= 0 && existed && (flags & O_TRUNC) != 0 && before.st_size > 0) {
        record(crashrecorder_truncated, 0, inode_of(file), 0, name, NULL, NULL, 0);
    }
    return (int)leave(file, code, action);
}

#define MODE \
    mode_t mode = 0; \
    if ((flags & (O_CREAT | __O_TMPFILE)) != 0) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

int open(const char *path, int flags, ...) { MODE return record_open(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return record_open(AT_FDCWD, path, flags, mode); }
int openat(int directory, const char *path, int flags, ...) { MODE return record_open(directory, path, flags, mode); }
int openat64(int directory, const char *path, int flags, ...) { MODE return record_open(directory, path, flags, mode); }
int creat(const char *path, mode_t mode) { return record_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// MARK: Writing and reading

static ssize_t record_write(int file, const struct iovec *parts, int count, off_t place, int has_place) {
    char buffer[PATH_MAX];
    if (path_of(file, buffer) == NULL) {
        return has_place ? raw(SYS_pwritev, file, (long)parts, count, place, 0) : raw(SYS_writev, file, (long)parts, count, 0, 0);
    }
    enter();
    int action = fault(crashrecorder_write);
    REFUSE(action);
    int flags = fcntl(file, F_GETFL);
    off_t offset = has_place && (flags & O_APPEND) == 0 ? place : lseek(file, 0, (flags & O_APPEND) ? SEEK_END : SEEK_CUR);
    size_t size = 0;
    for (int part = 0; part < count; part++) size += parts[part].iov_len;
    // All parts are written as one piece, so that the trace has exactly the written bytes.
    char *bytes = malloc(size + 1);
    if (bytes == NULL) abort();
    size_t filled = 0;
    for (int part = 0; part < count; part++) {
        memcpy(bytes + filled, parts[part].iov_base, parts[part].iov_len);
        filled += parts[part].iov_len;
    }
    long written = has_place ? raw(SYS_pwrite64, file, (long)bytes, (long)size, place, 0)
                             : raw(SYS_write, file, (long)bytes, (long)size, 0, 0);
    int code = errno;
    if (written > 0) {
        int durable = (flags & (O_DSYNC | O_SYNC)) != 0 ? crashrecorder_durable : 0;
        record(crashrecorder_written, durable, inode_of(file), (uint64_t)offset, NULL, NULL, bytes, (size_t)written);
    }
    free(bytes);
    return leave(written, code, action);
}

#define ONE_PART struct iovec part = {(void *)bytes, size}

ssize_t write(int file, const void *bytes, size_t size) { ONE_PART; return record_write(file, &part, 1, 0, 0); }
ssize_t pwrite(int file, const void *bytes, size_t size, off_t place) { ONE_PART; return record_write(file, &part, 1, place, 1); }
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t place) { ONE_PART; return record_write(file, &part, 1, place, 1); }
ssize_t writev(int file, const struct iovec *parts, int count) { return record_write(file, parts, count, 0, 0); }
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t place) { return record_write(file, parts, count, place, 1); }
ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t place) { return record_write(file, parts, count, place, 1); }

static ssize_t record_read(int file, void *bytes, size_t size, off_t place, int has_place) {
    char buffer[PATH_MAX];
    if ((fault_classes & crashrecorder_read) != 0 && path_of(file, buffer) != NULL) {
        enter();
        int action = fault(crashrecorder_read);
        REFUSE(action);
        leave(0, 0, action);
    }
    return has_place ? raw(SYS_pread64, file, (long)bytes, (long)size, place, 0) : raw(SYS_read, file, (long)bytes, (long)size, 0, 0);
}

ssize_t read(int file, void *bytes, size_t size) { return record_read(file, bytes, size, 0, 0); }
ssize_t pread(int file, void *bytes, size_t size, off_t place) { return record_read(file, bytes, size, place, 1); }
ssize_t pread64(int file, void *bytes, size_t size, off64_t place) { return record_read(file, bytes, size, place, 1); }

// MARK: Sizes

static int record_size(int file, long number, long mode, off_t offset, off_t size) {
    char buffer[PATH_MAX];
    const char *path = path_of(file, buffer);
    if (path == NULL) {
        return (int)(number == SYS_ftruncate ? raw(number, file, size, 0, 0, 0) : raw(number, file, mode, offset, size, 0));
    }
    enter();
    int action = fault(crashrecorder_truncate);
    REFUSE(action);
    struct stat before;
    int known = fstat(file, &before);
    long result = number == SYS_ftruncate ? raw(number, file, size, 0, 0, 0) : raw(number, file, mode, offset, size, 0);
    int code = errno;
    if (result == 0 && number == SYS_ftruncate) {
        record(crashrecorder_truncated, 0, inode_of(file), (uint64_t)size, path, NULL, NULL, 0);
    } else if (result == 0 && known == 0 && (mode & FALLOC_FL_KEEP_SIZE) == 0 && offset + size > before.st_size) {
        record(crashrecorder_truncated, 0, before.st_ino, (uint64_t)(offset + size), path, NULL, NULL, 0);
    }
    return (int)leave(result, code, action);
}

int ftruncate(int file, off_t size) { return record_size(file, SYS_ftruncate, 0, 0, size); }
int ftruncate64(int file, off64_t size) { return record_size(file, SYS_ftruncate, 0, 0, size); }
int fallocate(int file, int mode, off_t offset, off_t size) { return record_size(file, SYS_fallocate, mode, offset, size); }
int fallocate64(int file, int mode, off64_t offset, off64_t size) { return record_size(file, SYS_fallocate, mode, offset, size); }
int posix_fallocate(int file, off_t offset, off_t size) {
    return record_size(file, SYS_fallocate, 0, offset, size) == 0 ? 0 : errno;
}
int posix_fallocate64(int file, off64_t offset, off64_t size) { return posix_fallocate(file, offset, size); }

int truncate(const char *path, off_t size) {
    int file = record_open(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
    if (file < 0) return -1;
    int result = ftruncate(file, size);
    int code = errno;
    raw(SYS_close, file, 0, 0, 0, 0);
    errno = code;
    return result;
}
int truncate64(const char *path, off64_t size) { return truncate(path, size); }

// MARK: Syncing

static int record_sync(int file, long number) {
    char buffer[PATH_MAX];
    const char *path = path_of(file, buffer);
    if (path == NULL) return (int)raw(number, file, 0, 0, 0, 0);
    enter();
    struct stat status;
    int is_directory = fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
    int action = fault(is_directory ? crashrecorder_sync_directory : crashrecorder_sync);
    if (action > 0) record(crashrecorder_failed_sync, 0, inode_of(file), 0, path, NULL, NULL, 0);
    REFUSE(action);
    if (action == crashrecorder_skip) return (int)leave(0, 0, 0);
    long result = raw(number, file, 0, 0, 0, 0);
    int code = errno;
    if (result == 0) {
        int kind = is_directory ? crashrecorder_synced_directory : crashrecorder_synced;
        record(kind, 0, inode_of(file), 0, path, NULL, NULL, 0);
    }
    return (int)leave(result, code, action);
}

int fsync(int file) { return record_sync(file, SYS_fsync); }
int fdatasync(int file) { return record_sync(file, SYS_fdatasync); }

static long record_sync_all(long number, int file) {
    if (root_length == 0 || inside) return raw(number, file, 0, 0, 0, 0);
    enter();
    long result = raw(number, file, 0, 0, 0, 0);
    int code = errno;
    if (result == 0) record(crashrecorder_synced_all, 0, 0, 0, NULL, NULL, NULL, 0);
    return leave(result, code, 0);
}

int syncfs(int file) { return (int)record_sync_all(SYS_syncfs, file); }
void sync(void) { record_sync_all(SYS_sync, 0); }

// MARK: Names

static int record_rename(int from, const char *old, int to, const char *new, unsigned flags) {
    if (root_length == 0 || inside) return (int)raw(SYS_renameat2, from, (long)old, to, (long)new, flags);
    char buffers[2][PATH_MAX];
    enter();
    const char *before = resolved(from, old, buffers[0]);
    const char *after = resolved(to, new, buffers[1]);
    int action = before == NULL && after == NULL ? 0 : fault(crashrecorder_rename);
    REFUSE(action);
    uint64_t inode = before == NULL ? 0 : inode_below(before);
    long result = raw(SYS_renameat2, from, (long)old, to, (long)new, flags);
    int code = errno;
    if (result == 0 && before != NULL && after != NULL) {
        // Bit 1 of the flags exchanges the two names.
        record((flags & 2) != 0 ? crashrecorder_exchanged : crashrecorder_renamed, 0, inode, 0, before, after, NULL, 0);
    }
    return (int)leave(result, code, action);
}

int rename(const char *old, const char *new) { return record_rename(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int from, const char *old, int to, const char *new) { return record_rename(from, old, to, new, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return record_rename(from, old, to, new, flags);
}

// Programs call renameat2 through this function if the C library lacks renameat2.
long syscall(long number, ...) {
    va_list list;
    long a[6];
    va_start(list, number);
    for (int index = 0; index < 6; index++) a[index] = va_arg(list, long);
    va_end(list);
    if (number == SYS_renameat2) {
        return record_rename((int)a[0], (const char *)a[1], (int)a[2], (const char *)a[3], (unsigned)a[4]);
    }
    REAL(syscall)
    return found(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int record_unlink(int directory, const char *path, int flags) {
    if (root_length == 0 || inside) return (int)raw(SYS_unlinkat, directory, (long)path, flags, 0, 0);
    char buffer[PATH_MAX];
    enter();
    const char *name = resolved(directory, path, buffer);
    int action = name == NULL ? 0 : fault(crashrecorder_unlink);
    REFUSE(action);
    long result = raw(SYS_unlinkat, directory, (long)path, flags, 0, 0);
    int code = errno;
    if (result == 0 && name != NULL) {
        int kind = (flags & AT_REMOVEDIR) != 0 ? crashrecorder_removed_directory : crashrecorder_unlinked;
        record(kind, 0, 0, 0, name, NULL, NULL, 0);
    }
    return (int)leave(result, code, action);
}

int unlink(const char *path) { return record_unlink(AT_FDCWD, path, 0); }
int unlinkat(int directory, const char *path, int flags) { return record_unlink(directory, path, flags); }
int rmdir(const char *path) { return record_unlink(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return -1;
    return record_unlink(AT_FDCWD, path, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
}

// Creates and records a link or a directory.
static int record_name(int kind, long number, int directory, const char *path, long a, long b, long c, long d, long e) {
    if (root_length == 0 || inside) return (int)raw(number, a, b, c, d, e);
    char buffer[PATH_MAX];
    enter();
    const char *name = resolved(directory, path, buffer);
    int action = name == NULL ? 0 : fault(crashrecorder_create);
    REFUSE(action);
    long result = raw(number, a, b, c, d, e);
    int code = errno;
    if (result == 0 && name != NULL) record(kind, 0, inode_below(name), 0, name, NULL, NULL, 0);
    return (int)leave(result, code, action);
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
    return record_name(crashrecorder_linked, SYS_linkat, to, new, from, (long)old, to, (long)new, flags);
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }
int mkdirat(int directory, const char *path, mode_t mode) {
    return record_name(crashrecorder_made_directory, SYS_mkdirat, directory, path, directory, (long)path, mode, 0, 0);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

#else

int crashrecorder_works(void) { return 0; }
void crashrecorder_mark(const char *text) { (void)text; }
int64_t crashrecorder_count(void) { return 0; }
void crashrecorder_set_fault(int64_t classes, int64_t number, int64_t action, int64_t sticky) {
    (void)classes, (void)number, (void)action, (void)sticky;
}

#endif
