#include "lmdb_store.h"

#include <stdlib.h>
#include <string.h>

/// The maximum size of the file. LMDB reserves only address space of this size.
static const size_t map_bytes = (size_t)16 << 30;

int lmdb_fail(baseline_run *run, int code) { return baseline_fail(run, "LMDB: %s", mdb_strerror(code)); }

// MARK: An environment

static int open_databases(baseline_run *run, lmdb_store *store) {
    MDB_txn *transaction = NULL;
    TRY_LMDB(run, mdb_txn_begin(store->environment, NULL, 0, &transaction));
    unsigned pairs = MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP;
    int code = mdb_dbi_open(transaction, "tracks", MDB_CREATE | MDB_INTEGERKEY, &store->tracks);
    if (code == 0) code = mdb_dbi_open(transaction, "albums", MDB_CREATE | MDB_INTEGERKEY, &store->albums);
    if (code == 0) code = mdb_dbi_open(transaction, "tracks_by_album", pairs | MDB_INTEGERKEY, &store->tracks_by_album);
    if (code == 0) code = mdb_dbi_open(transaction, "tracks_by_title", pairs, &store->tracks_by_title);
    if (code != 0) {
        mdb_txn_abort(transaction);
        return lmdb_fail(run, code);
    }
    TRY_LMDB(run, mdb_txn_commit(transaction));
    return 0;
}

int lmdb_open(baseline_run *run, const char *path, int is_flushed, lmdb_store *out) {
    unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (is_flushed ? 0 : MDB_NOSYNC);
    TRY_LMDB(run, mdb_env_create(&out->environment));
    int code = mdb_env_set_mapsize(out->environment, map_bytes);
    if (code == 0) code = mdb_env_set_maxdbs(out->environment, 4);
    if (code == 0) code = mdb_env_open(out->environment, path, flags, 0600);
    int result = code == 0 ? open_databases(run, out) : lmdb_fail(run, code);
    if (result != 0) lmdb_close(out);
    return result;
}

void lmdb_close(lmdb_store *store) {
    if (store->environment != NULL) mdb_env_close(store->environment);
    store->environment = NULL;
}

// MARK: Packed objects

int64_t lmdb_number(const void *bytes) {
    int64_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

static uint8_t packed_length(int16_t length) { return length < 0 ? 255 : (uint8_t)length; }

static int16_t unpacked_length(uint8_t length) { return length == 255 ? TRACK_NULL : length; }

/// Appends a value and returns the end.
static uint8_t *pack_bytes(uint8_t *end, const void *bytes, int16_t length) {
    if (length <= 0) return end;
    memcpy(end, bytes, (size_t)length);
    return end + length;
}

static const uint8_t *unpack_bytes(const uint8_t *bytes, void *out, int16_t length) {
    if (length <= 0) return bytes;
    memcpy(out, bytes, (size_t)length);
    return bytes + length;
}

size_t lmdb_pack_track(const track *value, uint8_t *out) {
    memcpy(out + PACKED_DURATION, &value->duration, 8);
    memcpy(out + PACKED_DATE, &value->date, 8);
    memcpy(out + PACKED_PLAY_COUNT, &value->play_count, 8);
    memcpy(out + PACKED_ALBUM, &value->album, 8);
    memcpy(out + PACKED_UUID, value->uuid, 16);
    out[PACKED_LOVED] = value->loved;
    out[PACKED_TITLE_LENGTH] = packed_length(value->title_length);
    out[PACKED_ARTIST_LENGTH] = packed_length(value->artist_length);
    out[PACKED_THUMB_LENGTH] = packed_length(value->thumb_length);
    uint8_t *end = pack_bytes(out + PACKED_TITLE, value->title, value->title_length);
    end = pack_bytes(end, value->artist, value->artist_length);
    end = pack_bytes(end, value->thumb, value->thumb_length);
    return (size_t)(end - out);
}

void lmdb_unpack_track(int64_t id, const uint8_t *bytes, track *out) {
    out->id = id;
    memcpy(&out->duration, bytes + PACKED_DURATION, 8);
    memcpy(&out->date, bytes + PACKED_DATE, 8);
    memcpy(&out->play_count, bytes + PACKED_PLAY_COUNT, 8);
    memcpy(&out->album, bytes + PACKED_ALBUM, 8);
    memcpy(out->uuid, bytes + PACKED_UUID, 16);
    out->loved = bytes[PACKED_LOVED];
    out->title_length = unpacked_length(bytes[PACKED_TITLE_LENGTH]);
    out->artist_length = unpacked_length(bytes[PACKED_ARTIST_LENGTH]);
    out->thumb_length = unpacked_length(bytes[PACKED_THUMB_LENGTH]);
    const uint8_t *next = unpack_bytes(bytes + PACKED_TITLE, out->title, out->title_length);
    next = unpack_bytes(next, out->artist, out->artist_length);
    (void)unpack_bytes(next, out->thumb, out->thumb_length);
}

static size_t pack_album(const album *value, uint8_t *out) {
    memcpy(out, &value->year, 8);
    out[8] = (uint8_t)value->title_length;
    return (size_t)(pack_bytes(out + 9, value->title, value->title_length) - out);
}

void lmdb_unpack_album(int64_t id, const uint8_t *bytes, album *out) {
    out->id = id;
    memcpy(&out->year, bytes, 8);
    out->title_length = bytes[8];
    (void)unpack_bytes(bytes + 9, out->title, out->title_length);
}

// MARK: Reading everything

int lmdb_send_tracks(baseline_run *run, const lmdb_store *store, const object_sink *sink) {
    MDB_txn *transaction = NULL;
    MDB_cursor *cursor = NULL;
    TRY_LMDB(run, mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &transaction));
    int code = mdb_cursor_open(transaction, store->tracks, &cursor), result = 0;
    MDB_val key, bytes;
    track value;
    while (code == 0 && result == 0 && (code = mdb_cursor_get(cursor, &key, &bytes, MDB_NEXT)) == 0) {
        lmdb_unpack_track(lmdb_number(key.mv_data), bytes.mv_data, &value);
        result = sink->take_track(sink->state, &value);
    }
    if (cursor != NULL) mdb_cursor_close(cursor);
    mdb_txn_abort(transaction);
    if (result == 0 && code != MDB_NOTFOUND) return lmdb_fail(run, code);
    return result;
}

static int send_albums(baseline_run *run, const lmdb_store *store, const object_sink *sink) {
    MDB_txn *transaction = NULL;
    MDB_cursor *cursor = NULL;
    TRY_LMDB(run, mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &transaction));
    int code = mdb_cursor_open(transaction, store->albums, &cursor), result = 0;
    MDB_val key, bytes;
    album value;
    while (code == 0 && result == 0 && (code = mdb_cursor_get(cursor, &key, &bytes, MDB_NEXT)) == 0) {
        lmdb_unpack_album(lmdb_number(key.mv_data), bytes.mv_data, &value);
        result = sink->take_album(sink->state, &value);
    }
    if (cursor != NULL) mdb_cursor_close(cursor);
    mdb_txn_abort(transaction);
    if (result == 0 && code != MDB_NOTFOUND) return lmdb_fail(run, code);
    return result;
}

static int read_all(baseline_run *run, const char *path, const object_sink *sink) {
    lmdb_store store = {0};
    TRY(lmdb_open(run, path, 1, &store));
    int result = send_albums(run, &store, sink);
    if (result == 0) result = lmdb_send_tracks(run, &store, sink);
    lmdb_close(&store);
    return result;
}

// MARK: Writing everything

typedef struct album_entry {
    int64_t album, track;
} album_entry;

/// A track and its title in the memory map, for sorting by title.
typedef struct title_entry {
    const uint8_t *title;
    int64_t track;
    uint8_t length;
} title_entry;

typedef struct lmdb_writer {
    baseline_run *run;
    lmdb_store store;
    write_options options;
    /// The number of objects in the current transaction.
    int64_t count;
    MDB_txn *transaction;
    MDB_cursor *albums, *tracks;
} lmdb_writer;

static int begin_transaction(lmdb_writer *writer) {
    TRY_LMDB(writer->run, mdb_txn_begin(writer->store.environment, NULL, 0, &writer->transaction));
    TRY_LMDB(writer->run, mdb_cursor_open(writer->transaction, writer->store.albums, &writer->albums));
    TRY_LMDB(writer->run, mdb_cursor_open(writer->transaction, writer->store.tracks, &writer->tracks));
    return 0;
}

static int commit(lmdb_writer *writer) {
    MDB_txn *transaction = writer->transaction;
    mdb_cursor_close(writer->albums);
    mdb_cursor_close(writer->tracks);
    writer->transaction = NULL;
    TRY_LMDB(writer->run, mdb_txn_commit(transaction));
    return 0;
}

static int append(lmdb_writer *writer, MDB_cursor *cursor, int64_t id, uint8_t *bytes, size_t byte_count) {
    MDB_val key = {sizeof id, &id}, value = {byte_count, bytes};
    TRY_LMDB(writer->run, mdb_cursor_put(cursor, &key, &value, MDB_APPEND));
    return 0;
}

/// Commits a full transaction, and begins the next one.
static int commit_if_full(lmdb_writer *writer) {
    writer->count += 1;
    if (writer->count != writer->options.commit_count) return 0;
    writer->count = 0;
    TRY(commit(writer));
    return begin_transaction(writer);
}

static int write_album(void *state, const album *value) {
    lmdb_writer *writer = state;
    uint8_t bytes[LMDB_PACKED_LIMIT];
    TRY(append(writer, writer->albums, value->id, bytes, pack_album(value, bytes)));
    return commit_if_full(writer);
}

static int write_track(void *state, const track *value) {
    lmdb_writer *writer = state;
    uint8_t bytes[LMDB_PACKED_LIMIT];
    TRY(append(writer, writer->tracks, value->id, bytes, lmdb_pack_track(value, bytes)));
    if (writer->options.commit_count > 0) {
        int64_t album_id = value->album, id = value->id;
        MDB_val key = {sizeof album_id, &album_id}, entry = {sizeof id, &id};
        TRY_LMDB(writer->run, mdb_put(writer->transaction, writer->store.tracks_by_album, &key, &entry, 0));
    }
    return commit_if_full(writer);
}

static void abandon(object_sink *sink) {
    lmdb_writer *writer = sink->state;
    if (writer == NULL) return;
    if (writer->transaction != NULL) mdb_txn_abort(writer->transaction);
    lmdb_close(&writer->store);
    free(writer);
    sink->state = NULL;
}

static int begin(baseline_run *run, const char *path, write_options options, object_sink *out) {
    lmdb_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) return baseline_fail(run, "out of memory");
    writer->run = run;
    writer->options = options;
    *out = (object_sink){.state = writer, .take_album = write_album, .take_track = write_track};
    if (lmdb_open(run, path, !options.is_unpublished, &writer->store) != 0 || begin_transaction(writer) != 0) {
        abandon(out);
        return -1;
    }
    return 0;
}

static int compare_entries(const void *left, const void *right) {
    const album_entry *a = left, *b = right;
    if (a->album != b->album) return a->album < b->album ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/// Appends the sorted entries to the index, with each album as a key and its tracks as values.
static int append_entries(lmdb_writer *writer, album_entry *entries, size_t count) {
    MDB_cursor *cursor = NULL;
    TRY_LMDB(writer->run, mdb_cursor_open(writer->transaction, writer->store.tracks_by_album, &cursor));
    for (size_t index = 0; index < count; index++) {
        int is_first = index == 0 || entries[index].album != entries[index - 1].album;
        MDB_val key = {8, &entries[index].album}, value = {8, &entries[index].track};
        TRY_LMDB(writer->run, mdb_cursor_put(cursor, &key, &value, is_first ? MDB_APPEND : MDB_APPENDDUP));
    }
    mdb_cursor_close(cursor);
    return 0;
}

static int build_album_index(lmdb_writer *writer) {
    MDB_stat counts;
    TRY_LMDB(writer->run, mdb_stat(writer->transaction, writer->store.tracks, &counts));
    album_entry *entries = malloc((counts.ms_entries + 1) * sizeof *entries);
    if (entries == NULL) return baseline_fail(writer->run, "out of memory");
    MDB_val key, bytes;
    size_t count = 0;
    int code = mdb_cursor_get(writer->tracks, &key, &bytes, MDB_FIRST);
    for (; code == 0 && count < counts.ms_entries; count++) {
        entries[count].album = lmdb_number((const uint8_t *)bytes.mv_data + PACKED_ALBUM);
        entries[count].track = lmdb_number(key.mv_data);
        code = mdb_cursor_get(writer->tracks, &key, &bytes, MDB_NEXT);
    }
    int result = code == MDB_NOTFOUND || count == counts.ms_entries ? 0 : lmdb_fail(writer->run, code);
    if (result == 0) {
        qsort(entries, count, sizeof *entries, compare_entries);
        result = append_entries(writer, entries, count);
    }
    free(entries);
    return result;
}

static int compare_title_entries(const void *left, const void *right) {
    const title_entry *a = left, *b = right;
    int order = memcmp(a->title, b->title, a->length < b->length ? a->length : b->length);
    if (order != 0) return order;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

static int same_title(const title_entry *a, const title_entry *b) {
    return a->length == b->length && memcmp(a->title, b->title, a->length) == 0;
}

static int append_titles(lmdb_writer *writer, title_entry *entries, size_t count) {
    MDB_cursor *cursor = NULL;
    TRY_LMDB(writer->run, mdb_cursor_open(writer->transaction, writer->store.tracks_by_title, &cursor));
    for (size_t index = 0; index < count; index++) {
        int is_first = index == 0 || !same_title(&entries[index], &entries[index - 1]);
        // LMDB does not change the key, so the cast may remove `const`.
        MDB_val key = {entries[index].length, (void *)entries[index].title}, value = {8, &entries[index].track};
        TRY_LMDB(writer->run, mdb_cursor_put(cursor, &key, &value, is_first ? MDB_APPEND : MDB_APPENDDUP));
    }
    mdb_cursor_close(cursor);
    return 0;
}

static int build_title_index(lmdb_writer *writer) {
    MDB_stat counts;
    TRY_LMDB(writer->run, mdb_stat(writer->transaction, writer->store.tracks, &counts));
    title_entry *entries = malloc((counts.ms_entries + 1) * sizeof *entries);
    if (entries == NULL) return baseline_fail(writer->run, "out of memory");
    MDB_val key, bytes;
    size_t count = 0;
    int code = mdb_cursor_get(writer->tracks, &key, &bytes, MDB_FIRST);
    for (; code == 0 && count < counts.ms_entries; count++) {
        const uint8_t *packed = bytes.mv_data;
        entries[count] = (title_entry){packed + PACKED_TITLE, lmdb_number(key.mv_data), packed[PACKED_TITLE_LENGTH]};
        code = mdb_cursor_get(writer->tracks, &key, &bytes, MDB_NEXT);
    }
    int result = code == MDB_NOTFOUND || count == counts.ms_entries ? 0 : lmdb_fail(writer->run, code);
    if (result == 0) {
        qsort(entries, count, sizeof *entries, compare_title_entries);
        result = append_titles(writer, entries, count);
    }
    free(entries);
    return result;
}

static int finish(baseline_run *run, object_sink *sink) {
    lmdb_writer *writer = sink->state;
    int result = commit(writer);
    int builds_index = writer->options.commit_count == 0;
    if (result == 0 && builds_index) result = begin_transaction(writer);
    if (result == 0 && builds_index) result = build_album_index(writer);
    if (result == 0 && builds_index && writer->options.indexes_title) result = build_title_index(writer);
    if (result == 0 && builds_index) result = commit(writer);
    if (result == 0 && writer->options.is_unpublished) {
        int code = mdb_env_sync(writer->store.environment, 1);
        if (code != 0) result = lmdb_fail(run, code);
    }
    abandon(sink);
    return result;
}

const store_kind lmdb_kind = {
    .read_all = read_all, .begin_writing = begin, .finish_writing = finish, .abandon_writing = abandon,
};
