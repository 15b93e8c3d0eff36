/// Sources and sinks of objects. Every load, scan and conversion connects a source to a sink.
#ifndef STORES_H
#define STORES_H

#include "CBaselines.h"
#include "CTracks.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A receiver of objects, one at a time. A new store receives all albums, then all tracks, in
/// ascending order of their numbers.
typedef struct object_sink {
    void *state;
    int (*take_album)(void *state, const album *value);
    int (*take_track)(void *state, const track *value);
} object_sink;

/// Options for writing a new store.
typedef struct write_options {
    /// Whether to write without a journal and flush only at the end, because no other program knows
    /// the file.
    int is_unpublished;
    /// Whether track titles have an index.
    int indexes_title;
    /// The number of objects in each durable transaction; the album index is then created first.
    /// 0 for a single transaction; indexes are then built after it.
    int64_t commit_count;
} write_options;

/// The operations on one kind of store. Functions return 0, or -1 with a message in the run's
/// `error`.
typedef struct store_kind {
    /// Sends every object of the store at `path` to `sink`.
    int (*read_all)(baseline_run *run, const char *path, const object_sink *sink);
    int (*begin_writing)(baseline_run *run, const char *path, write_options options, object_sink *out);
    /// Builds the indexes, makes everything durable and closes the store. Frees the state of `sink`
    /// even after an error.
    int (*finish_writing)(baseline_run *run, object_sink *sink);
    /// Abandons the store and frees the state of `sink`.
    void (*abandon_writing)(object_sink *sink);
} store_kind;

/// Sends every object of a store to a new store, one at a time.
int convert_store(baseline_run *run, const store_kind *source, const store_kind *destination);

extern const store_kind sqlite_kind, core_data_kind, lmdb_kind, json_kind, memory_kind;

/// Creates the objects in memory that `memory_kind` reads.
int memory_open_library(baseline_run *run);

/// Frees the store that `memory_kind` wrote last.
void memory_discard(void);

/// Sets the message in the format of `printf`, and returns -1.
int baseline_fail(baseline_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Creates all objects of the run, and sends each to `sink`.
int make_all(baseline_run *run, const object_sink *sink);

/// Returns a sink that counts objects and adds their checksums to the run.
object_sink checksum_sink(baseline_run *run);

int flush_file(baseline_run *run, const char *path);

/// Returns -1 from the caller if a function fails.
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
