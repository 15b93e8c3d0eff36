#ifndef CROOSTSYSTEM_H
#define CROOSTSYSTEM_H

#include <stddef.h>
#include <stdint.h>

// By default, a function returns 0 for success, or the errno value of the failure.

/// Renames like renameat(2), but fails with EEXIST if `to` exists.
int croost_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to);

/// Exchanges two existing names atomically. If unsupported, fails with ENOSYS or EINVAL, for
/// example.
int croost_rename_exchange(int from_directory, const char *from, int to_directory, const char *to);

/// Returns whether byte ranges of a file can have separate locks. If not, a lock covers the whole
/// file.
int croost_locks_have_regions(void);

enum croost_lock { croost_lock_none, croost_lock_shared, croost_lock_exclusive };

/// Sets the lock that an open file has on the byte at `region`, without waiting.
///
/// The lock belongs to the open file, not to the process. Two descriptors of one process can
/// conflict, and closing one does not release the lock of the other. Fails with EWOULDBLOCK if a
/// conflicting lock is held.
int croost_set_lock(int descriptor, int region, enum croost_lock lock);

/// Sets the lock that an open file has on `length` bytes from `start`, without waiting. The lock
/// conflicts with locks of fcntl(2), including those of this process. Fails with EWOULDBLOCK if a
/// conflicting lock is held, and with ENOTSUP if unsupported.
int croost_set_range_lock(int descriptor, int64_t start, int64_t length, enum croost_lock lock);

/// Finds a lock that conflicts with `lock` on `length` bytes from `start`, and stores the length of
/// the found lock: INT64_MAX for a lock without end, 0 for no lock. Fails with ENOTSUP if
/// unsupported.
int croost_find_lock(int descriptor, int64_t start, int64_t length, enum croost_lock lock, int64_t *found);

/// Stores the type of the file system that contains `path`. On Linux, this is the type number; on
/// Apple systems, 1 for a network file system and 0 for a local one; on other systems, always 0.
int croost_file_system_type(const char *path, uint64_t *type);

/// Flushes a file to the medium, including the drive's cache if the file system can do that.
int croost_sync(int descriptor);

/// Allocates disk space for the first `size` bytes of an open file. A shorter file is extended to
/// `size` bytes; the existing content is unchanged. If the file system cannot reserve space, the
/// call may do nothing.
int croost_allocate(int descriptor, int64_t size);

/// Returns the number of columns of a descriptor's terminal; 0 if unknown.
int croost_terminal_width(int descriptor);

/// Makes all threads use one heap if the address space is limited (RLIMIT_AS), because glibc
/// reserves 64 MiB for each thread. Call this before starting a second thread.
void croost_spare_address_space(void);

/// Starts a detached thread that calls `run` with `argument`.
int croost_start_thread(size_t stack_size, void (*run)(void *argument), void *argument);

/// Gives the calling thread the name that debuggers show. Linux shows at most 15 bytes.
void croost_name_thread(const char *name);

/// Opens a watch of files (inotify, kqueue). Returns its descriptor, or the negative errno value;
/// -ENOSYS if unsupported.
int croost_open_watch(void);

/// Watches for changes of a file's attributes, such as its times. Returns a number that identifies
/// the file (on Linux, under all its names), or the negative errno value.
int croost_watch_file(int watch, const char *path);

/// Ends the watch of one file.
void croost_unwatch_file(int watch, int number);

/// Waits until a file changes or the timeout passes, and stores the numbers of the changed files.
///
/// Returns the count of the changed files; 0 after the timeout or a signal; or the negative errno
/// value. If the count is more than `capacity`, any file may have changed.
int croost_wait_for_files(int watch, int milliseconds, int *numbers, int capacity);

/// Prefetches the memory at `address`, which may be any address, into the processor's cache.
static inline void croost_prefetch(const void *address) { __builtin_prefetch(address); }

/// Returns the first occurrence of `part` (`part_size` bytes) in `text` (`size` bytes), or null.
/// With glibc, takes time linear in the sizes.
const void *croost_find(const void *text, size_t size, const void *part, size_t part_size);

#endif
