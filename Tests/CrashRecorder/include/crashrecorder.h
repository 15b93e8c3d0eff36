#ifndef CRASHRECORDER_H
#define CRASHRECORDER_H

#include <stdint.h>

// A process that is linked with this library records its changes of files and names below one
// directory, and can make system calls fail there. The library replaces functions of the C library.
//
// The environment variables are:
//   CRASHRECORDER_ROOT    the directory; without it nothing is recorded and nothing fails
//   CRASHRECORDER_TRACE   the file for the records, in the order of the calls
//   CRASHRECORDER_FAULT   "<classes> <number> <action> <sticky>": the fault of call <number> (from 1) of these
//                         classes. The action is an errno or one of the actions below. With sticky 1, every
//                         later call of the classes has the fault too.
//
// A record, little-endian without gaps: kind (1 byte), flags (1), lengths of two paths (2 each), length of the data
// (4), offset (8), inode (8), the paths relative to the directory, the data.

/// The classes of calls in which a fault can occur; each is a bit.
enum crashrecorder_class {
    crashrecorder_open = 1,
    crashrecorder_write = 2,
    crashrecorder_truncate = 4,
    crashrecorder_sync = 8,
    crashrecorder_rename = 16,
    crashrecorder_unlink = 32,
    crashrecorder_read = 64,
    /// Calls that need space for a name: creating a file or directory, and linking.
    crashrecorder_create = 128,
    /// Flushing a directory. `crashrecorder_sync` is for files.
    crashrecorder_sync_directory = 256
};

/// Actions besides an errno.
enum crashrecorder_action {
    /// The call does nothing, but returns success; for syncs.
    crashrecorder_skip = -1,
    /// The process dies before the call.
    crashrecorder_kill = -2,
    /// The process dies after the call.
    crashrecorder_kill_after = -3
};

/// The kinds of records.
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
    /// A sync that the fault prevented. Its data may be lost, although programs still read them.
    crashrecorder_failed_sync = 14
};

/// The flag of a write that is durable when it returns.
enum { crashrecorder_durable = 1 };

/// Whether calls are recorded: only with glibc and without a sanitizer.
int crashrecorder_works(void);

void crashrecorder_mark(const char *text);

/// Returns the number of calls of the fault's classes since the fault was set.
int64_t crashrecorder_count(void);

/// Sets the fault like CRASHRECORDER_FAULT, and restarts the count. Without a class, there is no
/// fault.
void crashrecorder_set_fault(int64_t classes, int64_t number, int64_t action, int64_t sticky);

#endif
