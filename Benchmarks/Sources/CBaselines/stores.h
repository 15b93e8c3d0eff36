/// Where objects come from and where they go: every load, scan and conversion joins one source to one sink.
#ifndef STORES_H
#define STORES_H

#include "CBaselines.h"
#include "CTracks.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Takes objects, one at a time: all albums, then all tracks, in ascending order of their numbers.
typedef struct object_sink {
    void *state;
    int (*take_album)(void *state, const album *value);
    int (*take_track)(void *state, const track *value);
} object_sink;

/// How a new store is written.
typedef struct write_options {
    /// Whether nobody knows the file yet: no journal, no flush before the end. Otherwise as any program writes.
    int is_unpublished;
    /// Whether the titles of tracks get an index too.
    int indexes_title;
    /// The objects of one durable transaction, with the index over the albums kept from the beginning; 0 for one transaction
    /// over all, and the index afterwards. Such a store has no index over titles.
    int64_t commit_count;
} write_options;

/// What can be done with the stores of one library. Functions return 0, or -1 with a message in the run's `error`.
typedef struct store_kind {
    /// Sends every object of the store at `path` to `sink`.
    int (*read_all)(baseline_run *run, const char *path, const object_sink *sink);
    /// Begins a new store at `path`.
    int (*begin_writing)(baseline_run *run, const char *path, write_options options, object_sink *out);
    /// Builds the indexes, makes everything durable and closes. Frees `sink` even after an error.
    int (*finish_writing)(baseline_run *run, object_sink *sink);
    /// Gives up and frees `sink`.
    void (*abandon_writing)(object_sink *sink);
} store_kind;

extern const store_kind sqlite_kind, core_data_kind, lmdb_kind, json_kind, memory_kind;

/// Makes the library in memory, where `memory_kind` reads it. One process has one.
int memory_open_library(baseline_run *run);

/// Frees what `memory_kind` wrote last.
void memory_discard(void);

/// Sets the message, with `printf`'s format, and returns -1.
int baseline_fail(baseline_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Makes every object of the library with `track_count` tracks.
int make_all(baseline_run *run, const object_sink *sink);

/// A sink that adds the checksums of what it takes to the run, and counts.
object_sink checksum_sink(baseline_run *run);

/// Flushes the file at `path` to the disk.
int flush_file(baseline_run *run, const char *path);

/// Runs a function that says -1 on failure, and returns -1 then.
#define TRY(expression) \
    do { \
        if ((expression) != 0) return -1; \
    } while (0)

extern const baseline sqlite_baselines[], lmdb_baselines[], json_baselines[], memory_baselines[], whole_store_baselines[],
    postgresql_baselines[];

#ifdef __cplusplus
}
#endif

#endif
