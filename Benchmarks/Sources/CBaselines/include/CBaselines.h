/// What a C programmer would write: the other side of every benchmark.
///
/// A baseline promises the same durability as Roost does in the same place, and reads or writes the same objects; it has no
/// checksums, no versions and no model.
#ifndef CBASELINES_H
#define CBASELINES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a baseline works on, and what it found.
typedef struct baseline_run {
    /// The store that is read or changed; empty for one in memory.
    const char *path;
    /// The store that a load or a conversion makes; empty for one in memory.
    const char *destination;
    /// The tracks of the store.
    int64_t track_count;
    /// How often a baseline does what it does once: reads, transactions, look-ups.
    int64_t repetitions;
    /// The objects of one transaction.
    int64_t batch_size;

    /// What was done, in the unit the benchmark counts in.
    uint64_t unit_count;
    /// The sum of the checksums of the objects that were read or written.
    uint64_t checksum;
    /// What went wrong, when a function did not return 0.
    char error[400];
    /// What `open` made.
    void *state;
} baseline_run;

/// One baseline; `run` is what is measured. Each function returns 0, or -1 with a message in `error`.
typedef struct baseline {
    const char *name;
    int (*open)(baseline_run *run);
    int (*run)(baseline_run *run);
    /// Lets go of what `open` made, also after an error. Called once for each `open`.
    void (*close)(baseline_run *run);
    /// Lets go of what `run` made, outside of what is measured; NULL when that is nothing but files.
    void (*clean)(void);
} baseline;

/// The baseline with this name; NULL if there is none.
const baseline *baseline_named(const char *name);

#ifdef __cplusplus
}
#endif

#endif
