#ifndef CRASHRECORDER_H
#define CRASHRECORDER_H

#include <stdint.h>

// A process that is linked with this records every change of the file system below one directory, and can make one call of the
// system fail. Functions with the names of the C library's do it, which the dynamic linker takes first.
//
// The environment says what to do:
//   CRASHRECORDER_ROOT    the directory; without it nothing is recorded and nothing fails
//   CRASHRECORDER_TRACE   the file that gets the records, in the order in which they happened
//   CRASHRECORDER_FAULT   "<classes> <number> <action> <sticky>": the number-th call (from 1) of one of the classes, and with sticky 1
//                         every later one, gets what the action says: an errno, or one of the actions below
//
// A record, little-endian without gaps: kind (1 byte), flags (1), lengths of two paths (2 each), length of the data (4), offset (8),
// inode (8), the paths relative to the directory, the data.

/// What a record says, and which calls a fault may meet: each class is a bit.
enum crashrecorder_class {
    crashrecorder_open = 1,
    crashrecorder_write = 2,
    crashrecorder_truncate = 4,
    crashrecorder_sync = 8,
    crashrecorder_rename = 16,
    crashrecorder_unlink = 32,
    crashrecorder_read = 64,
    /// Opening that makes a file, making a directory, linking: what needs space for a name.
    crashrecorder_create = 128,
    /// Flushing a directory; the other one is for files.
    crashrecorder_sync_directory = 256
};

/// Actions beside an errno.
enum crashrecorder_action {
    /// The call says that it succeeded, and does nothing: for sync.
    crashrecorder_skip = -1,
    /// The process dies before the call.
    crashrecorder_kill = -2,
    /// The process dies after the call.
    crashrecorder_kill_after = -3
};

/// What a record says.
enum crashrecorder_kind {
    crashrecorder_created = 1,
    crashrecorder_truncated = 2,
    crashrecorder_written = 3,
    crashrecorder_synced = 4,
    crashrecorder_synced_directory = 5,
    crashrecorder_renamed = 6,
    crashrecorder_unlinked = 7,
    crashrecorder_linked = 8,
    crashrecorder_made_directory = 9,
    crashrecorder_removed_directory = 10,
    crashrecorder_marked = 11,
    crashrecorder_synced_all = 12,
    crashrecorder_exchanged = 13,
    /// A sync that failed: what it should have written is lost, though it still shows.
    crashrecorder_failed_sync = 14
};

/// The flag of a write that is durable when it returns.
enum { crashrecorder_durable = 1 };

/// Whether calls are recorded here: only where a program's own functions take the place of the C library's (Linux with glibc).
int crashrecorder_works(void);

/// Adds a mark to the trace.
void crashrecorder_mark(const char *text);

/// How many calls of the fault's classes there were.
int64_t crashrecorder_count(void);

/// Sets what CRASHRECORDER_FAULT says, and counts from the beginning; no class for no fault.
void crashrecorder_set_fault(int64_t classes, int64_t number, int64_t action, int64_t sticky);

#endif
