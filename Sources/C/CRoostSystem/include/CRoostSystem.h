#ifndef CROOSTSYSTEM_H
#define CROOSTSYSTEM_H

#include <stddef.h>
#include <stdint.h>

/// Renames like renameat(2), but fails with EEXIST when `to` exists. Returns 0, or the errno value.
int croost_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to);

/// Exchanges two existing names atomically. Returns 0, or the errno value; ENOSYS or EINVAL where unsupported.
int croost_rename_exchange(int from_directory, const char *from, int to_directory, const char *to);

/// Whether byte ranges of one file can be locked apart from each other (open file description locks). If not, a lock is on the whole file.
int croost_locks_have_regions(void);

enum croost_lock { croost_lock_none, croost_lock_shared, croost_lock_exclusive };

/// Sets the lock that an open file has on the byte at `region`, without waiting.
///
/// The lock belongs to the open file, not to the process: two opens of one file exclude each other, and closing some
/// other descriptor of the file does not drop it. Returns 0; EWOULDBLOCK when another holds it; or the errno value.
int croost_set_lock(int descriptor, int region, enum croost_lock lock);

/// Sets the lock that an open file has on `length` bytes from `start`, without waiting. It conflicts with the locks that other programs
/// set by fcntl(2), also with those of this process. Returns 0; EWOULDBLOCK when another holds one; ENOTSUP without such locks; or the
/// errno value.
int croost_set_range_lock(int descriptor, int64_t start, int64_t length, enum croost_lock lock);

/// Stores the length of a lock that another open file or process holds on some of `length` bytes from `start` and that is in the way of
/// `lock`; 0 without one. Returns 0, or the errno value; ENOTSUP without such locks.
int croost_find_lock(int descriptor, int64_t start, int64_t length, enum croost_lock lock, int64_t *found);

/// Stores the type number of the file system that holds `path` (Linux), or 1 for a network file system and 0 for a
/// local one (elsewhere). Returns 0, or the errno value.
int croost_file_system_type(const char *path, uint64_t *type);

/// Flushes a file to the medium, through the drive's cache where the system needs to be asked for that. Returns 0, or the errno value.
int croost_sync(int descriptor);

/// Puts the first `size` bytes of an open file on the disk, making it longer if it is shorter; what is in it stays.
/// Returns 0, also where the file system cannot reserve space, or the errno value.
int croost_allocate(int descriptor, int64_t size);

/// The columns of the terminal behind a descriptor; 0 when there is none, or it does not say.
int croost_terminal_width(int descriptor);

/// Has all threads take memory from one heap where the address space of the process is limited (RLIMIT_AS): glibc sets 64 MiB of it aside for
/// each thread otherwise. Call it before the second thread.
void croost_spare_address_space(void);

/// Starts a detached thread that calls `run` with `argument`. Returns 0, or the errno value; then `run` is not called.
int croost_start_thread(size_t stack_size, void (*run)(void *argument), void *argument);

/// Gives the calling thread the name that debuggers show, as much of it as the system keeps.
void croost_name_thread(const char *name);

/// Opens a watch of files (inotify, kqueue). Returns its descriptor, or the negative errno value; -ENOSYS where there is none.
int croost_open_watch(void);

/// Watches for changes of a file's attributes, such as its times. Returns a number for the file, the same for all its names on Linux, or the
/// negative errno value.
int croost_watch_file(int watch, const char *path);

/// Ends the watch of one file.
void croost_unwatch_file(int watch, int number);

/// Waits until a file changes, or the time is over, and stores the numbers of the changed files.
///
/// Returns how many there are; more than `capacity` if any file can have changed; 0 at the end of the time; or the negative errno value.
int croost_wait_for_files(int watch, int milliseconds, int *numbers, int capacity);

/// Has the processor fetch the memory at `address` into its cache, which takes no time now. Any address will do.
static inline void croost_prefetch(const void *address) { __builtin_prefetch(address); }

/// Where the first `part_size` bytes of `part` are first found in the `size` bytes of `text`; null where they are not. Takes time linear in
/// the sizes.
const void *croost_find(const void *text, size_t size, const void *part, size_t part_size);

#endif
