#include "stores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int baseline_fail(baseline_run *run, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->error, sizeof run->error, format, arguments);
    va_end(arguments);
    return -1;
}

const baseline *baseline_named(const char *name) {
    const baseline *const lists[] = {
        sqlite_baselines, lmdb_baselines, json_baselines, memory_baselines, whole_store_baselines,
        postgresql_baselines,
    };
    for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++) {
        for (const baseline *entry = lists[list]; entry->name != NULL; entry++) {
            if (strcmp(entry->name, name) == 0) return entry;
        }
    }
    return NULL;
}

int make_all(baseline_run *run, const object_sink *sink) {
    int64_t album_count = tracks_album_count(run->track_count);
    for (int64_t id = 1; id <= album_count; id++) {
        album value;
        album_make(id, &value);
        TRY(sink->take_album(sink->state, &value));
    }
    for (int64_t id = 1; id <= run->track_count; id++) {
        track value;
        track_make(id, album_count, &value);
        TRY(sink->take_track(sink->state, &value));
    }
    return 0;
}

static int add_album_checksum(void *state, const album *value) {
    baseline_run *run = state;
    run->checksum += album_checksum(value);
    run->unit_count += 1;
    return 0;
}

static int add_track_checksum(void *state, const track *value) {
    baseline_run *run = state;
    run->checksum += track_checksum(value);
    run->unit_count += 1;
    return 0;
}

object_sink checksum_sink(baseline_run *run) {
    return (object_sink){.state = run, .take_album = add_album_checksum, .take_track = add_track_checksum};
}

int flush_file(baseline_run *run, const char *path) {
    int file = open(path, O_RDONLY);
    if (file < 0) return baseline_fail(run, "open '%s': %s", path, strerror(errno));
    int result = fsync(file);
    int code = errno;
    close(file);
    return result == 0 ? 0 : baseline_fail(run, "flush '%s': %s", path, strerror(code));
}
