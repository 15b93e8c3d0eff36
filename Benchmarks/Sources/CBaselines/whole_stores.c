#include <stdlib.h>
#include <unistd.h>

#include "stores.h"

// MARK: Loading

/// All objects of the library, in memory.
typedef struct library {
    int64_t album_count, track_count;
    album *albums;
    track *tracks;
} library;

static void close_library(baseline_run *run) {
    library *objects = run->state;
    if (objects == NULL) return;
    free(objects->albums);
    free(objects->tracks);
    free(objects);
    run->state = NULL;
}

static int open_library(baseline_run *run) {
    library *objects = calloc(1, sizeof *objects);
    if (objects == NULL) return baseline_fail(run, "out of memory");
    run->state = objects;
    objects->track_count = run->track_count;
    objects->album_count = tracks_album_count(run->track_count);
    objects->albums = malloc((size_t)objects->album_count * sizeof *objects->albums);
    objects->tracks = malloc((size_t)objects->track_count * sizeof *objects->tracks);
    if (objects->albums == NULL || objects->tracks == NULL) return baseline_fail(run, "out of memory");
    for (int64_t index = 0; index < objects->album_count; index++) album_make(index + 1, &objects->albums[index]);
    for (int64_t index = 0; index < objects->track_count; index++) {
        track_make(index + 1, objects->album_count, &objects->tracks[index]);
    }
    return 0;
}

static int send_library(const library *objects, const object_sink *sink) {
    for (int64_t index = 0; index < objects->album_count; index++) {
        TRY(sink->take_album(sink->state, &objects->albums[index]));
    }
    for (int64_t index = 0; index < objects->track_count; index++) {
        TRY(sink->take_track(sink->state, &objects->tracks[index]));
    }
    return 0;
}

static int load(baseline_run *run, const store_kind *kind) {
    const library *objects = run->state;
    object_sink sink;
    write_options options = {.commit_count = run->batch_size};
    TRY(kind->begin_writing(run, run->destination, options, &sink));
    if (send_library(objects, &sink) != 0) {
        kind->abandon_writing(&sink);
        return -1;
    }
    run->unit_count = (uint64_t)(objects->album_count + objects->track_count);
    return kind->finish_writing(run, &sink);
}

static int load_sqlite(baseline_run *run) { return load(run, &sqlite_kind); }
static int load_lmdb(baseline_run *run) { return load(run, &lmdb_kind); }
static int load_json(baseline_run *run) { return load(run, &json_kind); }
static int load_memory(baseline_run *run) { return load(run, &memory_kind); }

// MARK: Building indexes

/// Writes all rows of a store without building its indexes.
static int open_unindexed(baseline_run *run, const store_kind *kind) {
    object_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL) return baseline_fail(run, "out of memory");
    run->state = sink;
    write_options options = {.is_unpublished = 1, .indexes_title = 1};
    TRY(kind->begin_writing(run, run->destination, options, sink));
    TRY(make_all(run, sink));
    // Writing the rows is not measured, so they are flushed first.
    sync();
    return 0;
}

static void close_unindexed(baseline_run *run, const store_kind *kind) {
    object_sink *sink = run->state;
    if (sink != NULL && sink->state != NULL) kind->abandon_writing(sink);
    free(sink);
    run->state = NULL;
}

static int build_indexes(baseline_run *run, const store_kind *kind) {
    run->unit_count = (uint64_t)run->track_count;
    return kind->finish_writing(run, run->state);
}

static int open_unindexed_sqlite(baseline_run *run) { return open_unindexed(run, &sqlite_kind); }
static int open_unindexed_lmdb(baseline_run *run) { return open_unindexed(run, &lmdb_kind); }
static int index_sqlite(baseline_run *run) { return build_indexes(run, &sqlite_kind); }
static int index_lmdb(baseline_run *run) { return build_indexes(run, &lmdb_kind); }
static void close_unindexed_sqlite(baseline_run *run) { close_unindexed(run, &sqlite_kind); }
static void close_unindexed_lmdb(baseline_run *run) { close_unindexed(run, &lmdb_kind); }

// MARK: Making stores for other benchmarks

static int make_store(baseline_run *run, const store_kind *kind, int indexes_title) {
    object_sink sink;
    write_options options = {.is_unpublished = 1, .indexes_title = indexes_title};
    TRY(kind->begin_writing(run, run->destination, options, &sink));
    if (make_all(run, &sink) != 0) {
        kind->abandon_writing(&sink);
        return -1;
    }
    return kind->finish_writing(run, &sink);
}

static int open_nothing(baseline_run *run) {
    run->state = NULL;
    return 0;
}

static void close_nothing(baseline_run *run) { (void)run; }

static int make_sqlite(baseline_run *run) { return make_store(run, &sqlite_kind, 0); }
static int make_core_data(baseline_run *run) { return make_store(run, &core_data_kind, 0); }
static int make_lmdb(baseline_run *run) { return make_store(run, &lmdb_kind, 0); }
static int make_json(baseline_run *run) { return make_store(run, &json_kind, 0); }
static int make_indexed_sqlite(baseline_run *run) { return make_store(run, &sqlite_kind, 1); }
static int make_indexed_lmdb(baseline_run *run) { return make_store(run, &lmdb_kind, 1); }

// MARK: Reading back what was written

static int read_whole(baseline_run *run, const store_kind *kind) {
    object_sink sink = checksum_sink(run);
    return kind->read_all(run, run->path, &sink);
}

static int read_sqlite(baseline_run *run) { return read_whole(run, &sqlite_kind); }
static int read_lmdb(baseline_run *run) { return read_whole(run, &lmdb_kind); }
static int read_json(baseline_run *run) { return read_whole(run, &json_kind); }

// MARK: Converting, object by object

/// Counts objects and passes them to the next sink.
typedef struct counting_sink {
    baseline_run *run;
    object_sink next;
} counting_sink;

static int pass_album(void *state, const album *value) {
    counting_sink *sink = state;
    sink->run->unit_count += 1;
    return sink->next.take_album(sink->next.state, value);
}

static int pass_track(void *state, const track *value) {
    counting_sink *sink = state;
    sink->run->unit_count += 1;
    return sink->next.take_track(sink->next.state, value);
}

int convert_store(baseline_run *run, const store_kind *source, const store_kind *destination) {
    counting_sink sink = {.run = run};
    TRY(destination->begin_writing(run, run->destination, (write_options){.is_unpublished = 1}, &sink.next));
    object_sink counter = {.state = &sink, .take_album = pass_album, .take_track = pass_track};
    if (source->read_all(run, run->path, &counter) != 0) {
        destination->abandon_writing(&sink.next);
        return -1;
    }
    return destination->finish_writing(run, &sink.next);
}

#define CONVERSION(source, destination) \
    static int source##_to_##destination(baseline_run *run) { \
        return convert_store(run, &source##_kind, &destination##_kind); \
    }

CONVERSION(sqlite, sqlite)
CONVERSION(sqlite, lmdb)
CONVERSION(sqlite, json)
CONVERSION(sqlite, memory)
CONVERSION(lmdb, sqlite)
CONVERSION(lmdb, lmdb)
CONVERSION(lmdb, json)
CONVERSION(lmdb, memory)
CONVERSION(json, sqlite)
CONVERSION(json, lmdb)
CONVERSION(json, json)
CONVERSION(json, memory)
CONVERSION(memory, sqlite)
CONVERSION(memory, lmdb)
CONVERSION(memory, json)
CONVERSION(memory, memory)
CONVERSION(core_data, sqlite)
CONVERSION(core_data, lmdb)
CONVERSION(core_data, json)
CONVERSION(core_data, memory)

const baseline whole_store_baselines[] = {
    {"sqlite-load", open_library, load_sqlite, close_library},
    {"lmdb-load", open_library, load_lmdb, close_library},
    {"json-load", open_library, load_json, close_library},
    {"memory-load", open_library, load_memory, close_library, memory_discard},
    {"sqlite-index-build", open_unindexed_sqlite, index_sqlite, close_unindexed_sqlite},
    {"lmdb-index-build", open_unindexed_lmdb, index_lmdb, close_unindexed_lmdb},
    {"sqlite-make", open_nothing, make_sqlite, close_nothing},
    {"coredata-make", open_nothing, make_core_data, close_nothing},
    {"lmdb-make", open_nothing, make_lmdb, close_nothing},
    {"sqlite-make-indexed", open_nothing, make_indexed_sqlite, close_nothing},
    {"lmdb-make-indexed", open_nothing, make_indexed_lmdb, close_nothing},
    {"json-make", open_nothing, make_json, close_nothing},
    {"sqlite-read", open_nothing, read_sqlite, close_nothing},
    {"lmdb-read", open_nothing, read_lmdb, close_nothing},
    {"json-read", open_nothing, read_json, close_nothing},
    {"sqlite-to-sqlite", open_nothing, sqlite_to_sqlite, close_nothing},
    {"sqlite-to-lmdb", open_nothing, sqlite_to_lmdb, close_nothing},
    {"sqlite-to-json", open_nothing, sqlite_to_json, close_nothing},
    {"sqlite-to-memory", open_nothing, sqlite_to_memory, close_nothing, memory_discard},
    {"lmdb-to-sqlite", open_nothing, lmdb_to_sqlite, close_nothing},
    {"lmdb-to-lmdb", open_nothing, lmdb_to_lmdb, close_nothing},
    {"lmdb-to-json", open_nothing, lmdb_to_json, close_nothing},
    {"lmdb-to-memory", open_nothing, lmdb_to_memory, close_nothing, memory_discard},
    {"json-to-sqlite", open_nothing, json_to_sqlite, close_nothing},
    {"json-to-lmdb", open_nothing, json_to_lmdb, close_nothing},
    {"json-to-json", open_nothing, json_to_json, close_nothing},
    {"json-to-memory", open_nothing, json_to_memory, close_nothing, memory_discard},
    {"memory-to-sqlite", memory_open_library, memory_to_sqlite, close_nothing},
    {"memory-to-lmdb", memory_open_library, memory_to_lmdb, close_nothing},
    {"memory-to-json", memory_open_library, memory_to_json, close_nothing},
    {"memory-to-memory", memory_open_library, memory_to_memory, close_nothing, memory_discard},
    {"coredata-to-sqlite", open_nothing, core_data_to_sqlite, close_nothing},
    {"coredata-to-lmdb", open_nothing, core_data_to_lmdb, close_nothing},
    {"coredata-to-json", open_nothing, core_data_to_json, close_nothing},
    {"coredata-to-memory", open_nothing, core_data_to_memory, close_nothing, memory_discard},
    {NULL, NULL, NULL, NULL, NULL},
};
