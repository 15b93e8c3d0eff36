// These functions replace functions of the C library and SQLite, because they are part of the
// executable, where the dynamic linker searches first. Each counts its calls or bytes, and calls
// the real function.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "callcounter.h"

#include <stdlib.h>

static struct callcounter_counts counts;

#define COUNT(field, amount) __atomic_fetch_add(&counts.field, (amount), __ATOMIC_RELAXED)
#define READ(field) __atomic_load_n(&counts.field, __ATOMIC_RELAXED)

struct callcounter_counts callcounter_read(void) {
    struct callcounter_counts now = {READ(allocations), READ(written_bytes), READ(flushes), READ(sqlite_steps)};
    return now;
}

// Empty functions that the compiler does not inline or remove, so that callgrind sees their calls.
__attribute__((noinline)) void callcounter_begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void callcounter_end(void) { __asm__ volatile(""); }

// Sanitizers replace the same functions, so nothing is counted in a build with a sanitizer.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

int callcounter_works(void) { return 1; }

uint64_t callcounter_bytes_in_use(void) {
    struct mallinfo2 state = mallinfo2();
    return (uint64_t)state.uordblks + (uint64_t)state.hblkhd;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    COUNT(allocations, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    COUNT(allocations, 1);
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    COUNT(allocations, 1);
    return __libc_realloc(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    COUNT(allocations, 1);
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *made = __libc_memalign(alignment, size);
    if (made == NULL) return ENOMEM;
    *block = made;
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
    COUNT(allocations, 1);
    return __libc_memalign(alignment, size);
}

// Finds the real function of a name, and keeps it for later calls.
#define REAL(name) \
    static __typeof__(&name) real; \
    __typeof__(&name) found = __atomic_load_n(&real, __ATOMIC_ACQUIRE); \
    if (found == NULL) { \
        found = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
        if (found == NULL) abort(); \
        __atomic_store_n(&real, found, __ATOMIC_RELEASE); \
    }

#define WRITES(name, parameters, arguments) \
    ssize_t name parameters { \
        REAL(name) \
        ssize_t written = found arguments; \
        if (written > 0) COUNT(written_bytes, (uint64_t)written); \
        return written; \
    }

WRITES(write, (int file, const void *bytes, size_t size), (file, bytes, size))
WRITES(pwrite, (int file, const void *bytes, size_t size, off_t place), (file, bytes, size, place))
WRITES(pwrite64, (int file, const void *bytes, size_t size, off64_t place), (file, bytes, size, place))
WRITES(writev, (int file, const struct iovec *parts, int count), (file, parts, count))
WRITES(pwritev, (int file, const struct iovec *parts, int count, off_t place), (file, parts, count, place))
WRITES(pwritev64, (int file, const struct iovec *parts, int count, off64_t place), (file, parts, count, place))

#define FLUSHES(name, parameters, arguments) \
    int name parameters { \
        REAL(name) \
        COUNT(flushes, 1); \
        return found arguments; \
    }

FLUSHES(fsync, (int file), (file))
FLUSHES(fdatasync, (int file), (file))
FLUSHES(syncfs, (int file), (file))
FLUSHES(msync, (void *place, size_t size, int flags), (place, size, flags))

int sqlite3_step(void *statement);

int sqlite3_step(void *statement) {
    REAL(sqlite3_step)
    COUNT(sqlite_steps, 1);
    return found(statement);
}

#else

int callcounter_works(void) { return 0; }

uint64_t callcounter_bytes_in_use(void) { return 0; }

#endif
