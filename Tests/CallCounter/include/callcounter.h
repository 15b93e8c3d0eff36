#ifndef CALLCOUNTER_H
#define CALLCOUNTER_H

#include <stdint.h>

/// The counted calls of a process to the system and to SQLite so far.
struct callcounter_counts {
    /// Calls that allocate or resize a block of memory.
    uint64_t allocations;
    /// Bytes written to files, sockets and pipes.
    uint64_t written_bytes;
    /// Calls of fsync, fdatasync, syncfs and msync.
    uint64_t flushes;
    /// Calls of sqlite3_step.
    uint64_t sqlite_steps;
};

/// Whether calls are counted: only with glibc and without a sanitizer.
int callcounter_works(void);

/// Returns the counts of all threads up to now.
struct callcounter_counts callcounter_read(void);

/// Returns the size of all allocated memory blocks, as the C library counts it; 0 if calls are not
/// counted.
uint64_t callcounter_bytes_in_use(void);

/// Marks the beginning of a measured operation. Callgrind writes its counts here and starts again
/// at zero.
void callcounter_begin(void);

/// Marks the end of a measured operation. Callgrind writes the counts of the operation here.
void callcounter_end(void);

#endif
