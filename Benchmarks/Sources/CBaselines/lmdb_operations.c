#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "folded_text.h"
#include "lmdb_store.h"

/// The state of a benchmark between its rounds.
typedef struct lmdb_session {
    lmdb_store store;
    /// The ID of the next track to insert.
    int64_t next_id;
} lmdb_session;

static int open_session(baseline_run *run) {
    lmdb_session *session = calloc(1, sizeof *session);
    if (session == NULL) return baseline_fail(run, "out of memory");
    run->state = session;
    session->next_id = run->track_count + 1;
    return lmdb_open(run, run->path, 1, &session->store);
}

static void close_session(baseline_run *run) {
    lmdb_session *session = run->state;
    if (session != NULL) lmdb_close(&session->store);
    free(session);
    run->state = NULL;
}

static lmdb_store *store_of(baseline_run *run) { return &((lmdb_session *)run->state)->store; }

static void count_track(baseline_run *run, const track *value) {
    run->checksum += track_checksum(value);
    run->unit_count += 1;
}

/// A function that reads inside a transaction. Returns 0 or a code of LMDB.
typedef int (*lmdb_reading)(baseline_run *run, const lmdb_store *store, MDB_txn *transaction);

/// Runs `body` in one read transaction.
static int read_inside(baseline_run *run, lmdb_reading body) {
    lmdb_store *store = store_of(run);
    MDB_txn *transaction = NULL;
    TRY_LMDB(run, mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &transaction));
    int code = body(run, store, transaction);
    mdb_txn_abort(transaction);
    return code == 0 ? 0 : lmdb_fail(run, code);
}

static int get(MDB_txn *transaction, MDB_dbi database, int64_t id, MDB_val *out) {
    MDB_val key = {sizeof id, &id};
    return mdb_get(transaction, database, &key, out);
}

// MARK: Reading

static int scan(baseline_run *run) {
    object_sink sink = checksum_sink(run);
    return lmdb_send_tracks(run, store_of(run), &sink);
}

static int read_points(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    for (int64_t index = 0; index < run->repetitions; index++) {
        int64_t id = tracks_random_key((uint64_t)index, run->track_count);
        MDB_val bytes;
        int code = get(transaction, store->tracks, id, &bytes);
        if (code != 0) return code;
        track value;
        lmdb_unpack_track(id, bytes.mv_data, &value);
        count_track(run, &value);
    }
    return 0;
}

static int point_read(baseline_run *run) { return read_inside(run, read_points); }

static int look_up_albums(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    int64_t album_count = tracks_album_count(run->track_count);
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(transaction, store->tracks_by_album, &cursor);
    for (int64_t index = 0; code == 0 && index < run->repetitions; index++) {
        int64_t album_id = tracks_random_key((uint64_t)index, album_count);
        MDB_val key = {sizeof album_id, &album_id}, id, bytes;
        code = mdb_cursor_get(cursor, &key, &id, MDB_SET_KEY);
        while (code == 0 && (code = get(transaction, store->tracks, lmdb_number(id.mv_data), &bytes)) == 0) {
            track value;
            lmdb_unpack_track(lmdb_number(id.mv_data), bytes.mv_data, &value);
            count_track(run, &value);
            code = mdb_cursor_get(cursor, &key, &id, MDB_NEXT_DUP);
        }
        if (code == MDB_NOTFOUND) code = 0;
    }
    if (cursor != NULL) mdb_cursor_close(cursor);
    return code;
}

static int index_lookup(baseline_run *run) { return read_inside(run, look_up_albums); }

/// Reads the tracks whose titles are in a range, in the order of the index.
static int look_up_range(
    baseline_run *run, const lmdb_store *store, MDB_txn *transaction, MDB_cursor *cursor, char *lower, const char *upper
) {
    MDB_val key = {strlen(lower), lower}, id, bytes;
    size_t upper_length = strlen(upper);
    int code = mdb_cursor_get(cursor, &key, &id, MDB_SET_RANGE);
    while (code == 0) {
        size_t common = key.mv_size < upper_length ? key.mv_size : upper_length;
        int order = memcmp(key.mv_data, upper, common);
        if (order > 0 || (order == 0 && key.mv_size >= upper_length)) return 0;
        code = get(transaction, store->tracks, lmdb_number(id.mv_data), &bytes);
        if (code != 0) return code;
        track value;
        lmdb_unpack_track(lmdb_number(id.mv_data), bytes.mv_data, &value);
        count_track(run, &value);
        code = mdb_cursor_get(cursor, &key, &id, MDB_NEXT);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

static int look_up_titles(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(transaction, store->tracks_by_title, &cursor);
    for (int64_t index = 0; code == 0 && index < run->repetitions; index++) {
        char lower[TRACK_TITLE_LIMIT], upper[TRACK_TITLE_LIMIT];
        tracks_title_range((uint64_t)index, run->track_count, lower, upper);
        code = look_up_range(run, store, transaction, cursor, lower, upper);
    }
    if (cursor != NULL) mdb_cursor_close(cursor);
    return code;
}

static int index_range(baseline_run *run) { return read_inside(run, look_up_titles); }

/// Calls `visit` with every packed track, directly in the memory map.
static int visit_packed(
    baseline_run *run, const lmdb_store *store, MDB_txn *transaction,
    void (*visit)(void *context, int64_t id, const uint8_t *bytes), void *context
) {
    MDB_cursor *cursor = NULL;
    MDB_val key, bytes;
    int code = mdb_cursor_open(transaction, store->tracks, &cursor);
    while (code == 0 && (code = mdb_cursor_get(cursor, &key, &bytes, MDB_NEXT)) == 0) {
        visit(context, lmdb_number(key.mv_data), bytes.mv_data);
        run->unit_count += 1;
    }
    if (cursor != NULL) mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

static void filter_track(void *context, int64_t id, const uint8_t *bytes) {
    baseline_run *run = context;
    if (lmdb_number(bytes + PACKED_PLAY_COUNT) <= 1000 || bytes[PACKED_TITLE_LENGTH] < 3) return;
    if (memcmp(bytes + PACKED_TITLE, "Mid", 3) != 0) return;
    track value;
    lmdb_unpack_track(id, bytes, &value);
    run->checksum += track_checksum(&value);
}

static int filter_tracks(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    return visit_packed(run, store, transaction, filter_track, run);
}

static int filter_scan(baseline_run *run) { return read_inside(run, filter_tracks); }

static void count_if_played(void *context, int64_t id, const uint8_t *bytes) {
    (void)id;
    ((baseline_run *)context)->checksum += lmdb_number(bytes + PACKED_PLAY_COUNT) > 1000;
}

static int count_played(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    return visit_packed(run, store, transaction, count_if_played, run);
}

static int one_field_filter(baseline_run *run) { return read_inside(run, count_played); }

static void count_if_loved(void *context, int64_t id, const uint8_t *bytes) {
    (void)id;
    ((baseline_run *)context)->checksum += bytes[PACKED_LOVED];
}

static int count_all_loved(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    return visit_packed(run, store, transaction, count_if_loved, run);
}

static int count_loved(baseline_run *run) { return read_inside(run, count_all_loved); }

// MARK: Queries

static void count_if_folded(void *context, int64_t id, const uint8_t *bytes) {
    (void)id;
    ((baseline_run *)context)->checksum +=
        (uint64_t)contains_folded((const char *)bytes + PACKED_TITLE, bytes[PACKED_TITLE_LENGTH], "naive", 5);
}

static int count_folded(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    return visit_packed(run, store, transaction, count_if_folded, run);
}

static int contains_folded_text(baseline_run *run) { return read_inside(run, count_folded); }

static void add_played(void *context, int64_t id, const uint8_t *bytes) {
    (void)id;
    ((baseline_run *)context)->checksum += (uint64_t)lmdb_number(bytes + PACKED_PLAY_COUNT);
}

static int add_all_played(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    return visit_packed(run, store, transaction, add_played, run);
}

static int sum(baseline_run *run) { return read_inside(run, add_all_played); }

/// A flag or a count of tracks for each album; the index is the album's number.
typedef struct album_notes {
    baseline_run *run;
    uint16_t *notes;
} album_notes;

/// Runs `body` with a note of 0 for each album.
static int with_notes(
    baseline_run *run, const lmdb_store *store, MDB_txn *transaction,
    int (*body)(album_notes *notes, const lmdb_store *store, MDB_txn *transaction)
) {
    album_notes notes = {run, calloc((size_t)tracks_album_count(run->track_count) + 1, sizeof(uint16_t))};
    int code = notes.notes == NULL ? ENOMEM : body(&notes, store, transaction);
    free(notes.notes);
    return code;
}

static void count_if_of_noted(void *context, int64_t id, const uint8_t *bytes) {
    (void)id;
    album_notes *notes = context;
    notes->run->checksum += notes->notes[lmdb_number(bytes + PACKED_ALBUM)];
}

/// Sets the note of each album from 2020 or later to 1, then counts the tracks of these albums.
static int count_of_years(album_notes *notes, const lmdb_store *store, MDB_txn *transaction) {
    MDB_cursor *cursor = NULL;
    MDB_val key, bytes;
    int code = mdb_cursor_open(transaction, store->albums, &cursor);
    while (code == 0 && (code = mdb_cursor_get(cursor, &key, &bytes, MDB_NEXT)) == 0) {
        album value;
        lmdb_unpack_album(lmdb_number(key.mv_data), bytes.mv_data, &value);
        notes->notes[value.id] = value.year >= 2020;
    }
    if (cursor != NULL) mdb_cursor_close(cursor);
    if (code != MDB_NOTFOUND) return code;
    return visit_packed(notes->run, store, transaction, count_if_of_noted, notes);
}

static int read_to_one_path(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    return with_notes(run, store, transaction, count_of_years);
}

static int to_one_path(baseline_run *run) { return read_inside(run, read_to_one_path); }

static void note_if_played_most(void *context, int64_t id, const uint8_t *bytes) {
    (void)id;
    if (lmdb_number(bytes + PACKED_PLAY_COUNT) > 4800) {
        ((album_notes *)context)->notes[lmdb_number(bytes + PACKED_ALBUM)] += 1;
    }
}

static void note_if_loved(void *context, int64_t id, const uint8_t *bytes) {
    (void)id;
    ((album_notes *)context)->notes[lmdb_number(bytes + PACKED_ALBUM)] += bytes[PACKED_LOVED];
}

static void count_noted(album_notes *notes, uint16_t least) {
    int64_t album_count = tracks_album_count(notes->run->track_count);
    for (int64_t id = 1; id <= album_count; id++) notes->run->checksum += notes->notes[id] >= least;
}

static int count_with_any(album_notes *notes, const lmdb_store *store, MDB_txn *transaction) {
    int code = visit_packed(notes->run, store, transaction, note_if_played_most, notes);
    count_noted(notes, 1);
    return code;
}

static int read_any(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    return with_notes(run, store, transaction, count_with_any);
}

static int any_to_many(baseline_run *run) { return read_inside(run, read_any); }

static int count_with_four(album_notes *notes, const lmdb_store *store, MDB_txn *transaction) {
    int code = visit_packed(notes->run, store, transaction, note_if_loved, notes);
    count_noted(notes, 4);
    return code;
}

static int read_subquery(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    return with_notes(run, store, transaction, count_with_four);
}

static int subquery(baseline_run *run) { return read_inside(run, read_subquery); }

// MARK: The first by title

enum { TOP_COUNT = 100 };

/// The first tracks by title among those visited so far, in order.
typedef struct top_tracks {
    const uint8_t *bytes[TOP_COUNT];
    int64_t ids[TOP_COUNT];
    int count;
} top_tracks;

/// Orders packed tracks by title, then number.
static int compare_titles(const uint8_t *left, int64_t left_id, const uint8_t *right, int64_t right_id) {
    uint8_t left_length = left[PACKED_TITLE_LENGTH], right_length = right[PACKED_TITLE_LENGTH];
    uint8_t common = left_length < right_length ? left_length : right_length;
    int order = memcmp(left + PACKED_TITLE, right + PACKED_TITLE, common);
    if (order != 0) return order;
    if (left_length != right_length) return left_length < right_length ? -1 : 1;
    return left_id < right_id ? -1 : left_id > right_id;
}

static void keep_if_first(void *context, int64_t id, const uint8_t *bytes) {
    top_tracks *top = context;
    int place = top->count;
    if (place == TOP_COUNT) {
        place -= 1;
        if (compare_titles(bytes, id, top->bytes[place], top->ids[place]) >= 0) return;
    } else {
        top->count += 1;
    }
    while (place > 0 && compare_titles(bytes, id, top->bytes[place - 1], top->ids[place - 1]) < 0) {
        top->bytes[place] = top->bytes[place - 1];
        top->ids[place] = top->ids[place - 1];
        place -= 1;
    }
    top->bytes[place] = bytes;
    top->ids[place] = id;
}

static int find_first_by_title(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    top_tracks top = {.count = 0};
    int code = visit_packed(run, store, transaction, keep_if_first, &top);
    for (int place = 0; code == 0 && place < top.count; place++) {
        track value;
        lmdb_unpack_track(top.ids[place], top.bytes[place], &value);
        run->checksum += track_checksum(&value);
    }
    return code;
}

static int sort_with_limit(baseline_run *run) { return read_inside(run, find_first_by_title); }

// MARK: Links

static int visit_album_tracks(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    int64_t album_count = tracks_album_count(run->track_count);
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(transaction, store->tracks_by_album, &cursor);
    for (int64_t index = 0; code == 0 && index < run->repetitions; index++) {
        int64_t album_id = tracks_random_key((uint64_t)index, album_count);
        MDB_val key = {sizeof album_id, &album_id}, id;
        code = mdb_cursor_get(cursor, &key, &id, MDB_SET_KEY);
        while (code == 0) {
            run->checksum += (uint64_t)lmdb_number(id.mv_data);
            run->unit_count += 1;
            code = mdb_cursor_get(cursor, &key, &id, MDB_NEXT_DUP);
        }
        if (code == MDB_NOTFOUND) code = 0;
    }
    if (cursor != NULL) mdb_cursor_close(cursor);
    return code;
}

static int links_to_many(baseline_run *run) { return read_inside(run, visit_album_tracks); }

static int visit_track_albums(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    for (int64_t index = 0; index < run->repetitions; index++) {
        MDB_val bytes;
        int code = get(transaction, store->tracks, tracks_random_key((uint64_t)index, run->track_count), &bytes);
        if (code != 0) return code;
        int64_t album_id = lmdb_number((const uint8_t *)bytes.mv_data + PACKED_ALBUM);
        code = get(transaction, store->albums, album_id, &bytes);
        if (code != 0) return code;
        album value;
        lmdb_unpack_album(album_id, bytes.mv_data, &value);
        run->checksum += album_checksum(&value);
        run->unit_count += 1;
    }
    return 0;
}

static int links_to_one(baseline_run *run) { return read_inside(run, visit_track_albums); }

// MARK: Writing

/// A function that changes tracks inside a transaction. Returns 0 or a code of LMDB.
typedef int (*lmdb_writing)(baseline_run *run, const lmdb_store *store, MDB_txn *transaction);

/// Runs `body` in one durable transaction.
static int write_inside(baseline_run *run, lmdb_writing body) {
    lmdb_store *store = store_of(run);
    MDB_txn *transaction = NULL;
    TRY_LMDB(run, mdb_txn_begin(store->environment, NULL, 0, &transaction));
    int code = body(run, store, transaction);
    if (code != 0) {
        mdb_txn_abort(transaction);
        return lmdb_fail(run, code);
    }
    TRY_LMDB(run, mdb_txn_commit(transaction));
    return 0;
}

static int update_all(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    for (int64_t index = 0; index < run->repetitions; index++) {
        int64_t id = tracks_distinct_key((uint64_t)index, run->track_count);
        MDB_val key = {sizeof id, &id}, bytes;
        int code = mdb_get(transaction, store->tracks, &key, &bytes);
        if (code != 0) return code;
        uint8_t changed[LMDB_PACKED_LIMIT];
        memcpy(changed, bytes.mv_data, bytes.mv_size);
        int64_t play_count = track_updated_play_count(lmdb_number(changed + PACKED_PLAY_COUNT));
        double date = track_updated_date((uint64_t)index);
        memcpy(changed + PACKED_PLAY_COUNT, &play_count, 8);
        memcpy(changed + PACKED_DATE, &date, 8);
        bytes.mv_data = changed;
        code = mdb_put(transaction, store->tracks, &key, &bytes, 0);
        if (code != 0) return code;
    }
    run->unit_count = (uint64_t)run->repetitions;
    return 0;
}

static int update(baseline_run *run) { return write_inside(run, update_all); }

static int delete_all(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    for (int64_t index = 0; index < run->repetitions; index++) {
        int64_t id = tracks_distinct_key((uint64_t)index, run->track_count);
        MDB_val key = {sizeof id, &id}, bytes;
        int code = mdb_get(transaction, store->tracks, &key, &bytes);
        if (code != 0) return code;
        int64_t album_id = lmdb_number((const uint8_t *)bytes.mv_data + PACKED_ALBUM);
        MDB_val album_key = {sizeof album_id, &album_id};
        code = mdb_del(transaction, store->tracks, &key, NULL);
        if (code == 0) code = mdb_del(transaction, store->tracks_by_album, &album_key, &key);
        if (code != 0) return code;
    }
    run->unit_count = (uint64_t)run->repetitions;
    return 0;
}

static int delete_tracks(baseline_run *run) { return write_inside(run, delete_all); }

static int insert_batch(baseline_run *run, const lmdb_store *store, MDB_txn *transaction) {
    lmdb_session *session = run->state;
    int64_t album_count = tracks_album_count(run->track_count);
    for (int64_t place = 0; place < run->batch_size; place++) {
        track value;
        uint8_t packed[LMDB_PACKED_LIMIT];
        int64_t id = session->next_id++;
        track_make(id, album_count, &value);
        run->checksum += track_checksum(&value);
        MDB_val key = {sizeof id, &id}, bytes = {lmdb_pack_track(&value, packed), packed};
        MDB_val album_key = {sizeof value.album, &value.album};
        int code = mdb_put(transaction, store->tracks, &key, &bytes, MDB_NOOVERWRITE);
        if (code == 0) code = mdb_put(transaction, store->tracks_by_album, &album_key, &key, 0);
        if (code != 0) return code;
    }
    return 0;
}

/// Inserts `batch_size` new tracks in each durable transaction, and updates the album index.
static int transactions(baseline_run *run) {
    for (int64_t index = 0; index < run->repetitions; index++) TRY(write_inside(run, insert_batch));
    run->unit_count = (uint64_t)run->repetitions;
    return 0;
}

const baseline lmdb_baselines[] = {
    {"lmdb-scan", open_session, scan, close_session},
    {"lmdb-point-read", open_session, point_read, close_session},
    {"lmdb-index-lookup", open_session, index_lookup, close_session},
    {"lmdb-index-range", open_session, index_range, close_session},
    {"lmdb-filter-scan", open_session, filter_scan, close_session},
    {"lmdb-one-field-filter", open_session, one_field_filter, close_session},
    {"lmdb-sort-limit", open_session, sort_with_limit, close_session},
    {"lmdb-count", open_session, count_loved, close_session},
    {"lmdb-contains-folded", open_session, contains_folded_text, close_session},
    {"lmdb-sum", open_session, sum, close_session},
    {"lmdb-to-one-path", open_session, to_one_path, close_session},
    {"lmdb-any-to-many", open_session, any_to_many, close_session},
    {"lmdb-subquery", open_session, subquery, close_session},
    {"lmdb-links-to-many", open_session, links_to_many, close_session},
    {"lmdb-links-to-one", open_session, links_to_one, close_session},
    {"lmdb-update", open_session, update, close_session},
    {"lmdb-delete", open_session, delete_tracks, close_session},
    {"lmdb-transactions", open_session, transactions, close_session},
    {NULL, NULL, NULL, NULL, NULL},
};
