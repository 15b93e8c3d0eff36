/// The baselines: programs in C that do the work of each benchmark.
///
/// A baseline is as durable as Roost in the same operation, and reads or writes the same objects.
/// It verifies no records, checks no versions, and has no model.
#ifndef CBASELINES_H
#define CBASELINES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The input and the results of a baseline.
typedef struct baseline_run {
    /// The store to read or change; empty for a store in memory.
    const char *path;
    /// The store that a load or a conversion creates; empty for a store in memory.
    const char *destination;
    int64_t track_count;
    /// The number of repetitions of the work: reads, transactions, lookups.
    int64_t repetitions;
    /// The number of objects in one transaction.
    int64_t batch_size;

    /// The work done, in the benchmark's unit: objects or transactions.
    uint64_t unit_count;
    /// The sum of the checksums of the objects that were read or written.
    uint64_t checksum;
    /// The error message if a function did not return 0.
    char error[400];
    /// The state that `open` created.
    void *state;
} baseline_run;

/// Only `run` is measured. `open` and `run` return 0, or -1 with a message in `error`.
typedef struct baseline {
    const char *name;
    int (*open)(baseline_run *run);
    int (*run)(baseline_run *run);
    /// Releases the state, also after an error. Called once for each `open`.
    void (*close)(baseline_run *run);
    /// Releases the results of `run`, outside the measurement; NULL if the results are only files.
    void (*clean)(void);
} baseline;

/// Returns the baseline with the given name, or NULL.
const baseline *baseline_named(const char *name);

#ifdef __cplusplus
}
#endif

#endif
