#include <stdlib.h>

#include "folded_text.h"
#include "sqlite_store.h"

/// The state of a benchmark between its rounds.
typedef struct sqlite_session {
    sqlite3 *database;
    /// The ID of the next track to insert.
    int64_t next_id;
} sqlite_session;

static int open_session(baseline_run *run) {
    sqlite_session *session = calloc(1, sizeof *session);
    if (session == NULL) return baseline_fail(run, "out of memory");
    run->state = session;
    session->next_id = run->track_count + 1;
    return sqlite_open(run, run->path, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", &session->database);
}

static void close_session(baseline_run *run) {
    sqlite_session *session = run->state;
    if (session != NULL) (void)sqlite3_close(session->database);
    free(session);
    run->state = NULL;
}

static sqlite3 *database_of(baseline_run *run) { return ((sqlite_session *)run->state)->database; }

static void count_track(baseline_run *run, const track *value) {
    run->checksum += track_checksum(value);
    run->unit_count += 1;
}

// MARK: Reading

static int scan(baseline_run *run) {
    object_sink sink = checksum_sink(run);
    return sqlite_send_tracks(run, database_of(run), &sink);
}

/// Counts every track that the bound statement returns, and resets the statement.
static int count_rows(baseline_run *run, sqlite3 *database, sqlite3_stmt *statement) {
    track value;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        sqlite_read_track(statement, &value);
        count_track(run, &value);
    }
    if (code != SQLITE_DONE) return sqlite_fail(run, database);
    return sqlite3_reset(statement) == SQLITE_OK ? 0 : sqlite_fail(run, database);
}

/// Runs a query `repetitions` times in one read transaction, with scattered keys up to `key_count`.
static int query_by_key(baseline_run *run, const char *sql, int64_t key_count) {
    sqlite3 *database = database_of(run);
    sqlite3_stmt *statement = NULL;
    TRY(sqlite_prepare(run, database, sql, &statement));
    int result = sqlite_execute(run, database, "BEGIN");
    for (int64_t index = 0; result == 0 && index < run->repetitions; index++) {
        sqlite3_bind_int64(statement, 1, tracks_random_key((uint64_t)index, key_count));
        result = count_rows(run, database, statement);
    }
    sqlite3_finalize(statement);
    if (result == 0) result = sqlite_execute(run, database, "COMMIT");
    return result;
}

static int point_read(baseline_run *run) {
    return query_by_key(run, "SELECT " TRACK_COLUMNS " FROM track WHERE id = ?", run->track_count);
}

static int index_lookup(baseline_run *run) {
    return query_by_key(
        run, "SELECT " TRACK_COLUMNS " FROM track WHERE album = ?", tracks_album_count(run->track_count));
}

/// Reads the tracks of scattered ranges of the title index.
static int index_range(baseline_run *run) {
    sqlite3 *database = database_of(run);
    sqlite3_stmt *statement = NULL;
    TRY(sqlite_prepare(
        run, database, "SELECT " TRACK_COLUMNS " FROM track WHERE title >= ? AND title < ?", &statement));
    int result = sqlite_execute(run, database, "BEGIN");
    for (int64_t index = 0; result == 0 && index < run->repetitions; index++) {
        char lower[TRACK_TITLE_LIMIT], upper[TRACK_TITLE_LIMIT];
        tracks_title_range((uint64_t)index, run->track_count, lower, upper);
        sqlite3_bind_text(statement, 1, lower, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, upper, -1, SQLITE_STATIC);
        result = count_rows(run, database, statement);
    }
    sqlite3_finalize(statement);
    if (result == 0) result = sqlite_execute(run, database, "COMMIT");
    return result;
}

static int query_once(baseline_run *run, const char *sql) {
    sqlite3 *database = database_of(run);
    sqlite3_stmt *statement = NULL;
    TRY(sqlite_prepare(run, database, sql, &statement));
    int result = count_rows(run, database, statement);
    sqlite3_finalize(statement);
    // The unit is an examined object, not a found object.
    run->unit_count = (uint64_t)run->track_count;
    return result;
}

static int filter_scan(baseline_run *run) {
    return query_once(
        run, "SELECT " TRACK_COLUMNS " FROM track WHERE title GLOB 'Mid*' AND play_count > 1000");
}

static int sort_with_limit(baseline_run *run) {
    return query_once(run, "SELECT " TRACK_COLUMNS " FROM track ORDER BY title, id LIMIT 100");
}

/// Runs a query that returns one number, which is the checksum.
static int count_by(baseline_run *run, const char *sql) {
    sqlite3 *database = database_of(run);
    sqlite3_stmt *statement = NULL;
    TRY(sqlite_prepare(run, database, sql, &statement));
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) run->checksum = (uint64_t)sqlite3_column_int64(statement, 0);
    run->unit_count = (uint64_t)run->track_count;
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? 0 : sqlite_fail(run, database);
}

static int count_loved(baseline_run *run) { return count_by(run, "SELECT count(*) FROM track WHERE loved = 1"); }

static int one_field_filter(baseline_run *run) {
    return count_by(run, "SELECT count(*) FROM track WHERE play_count > 1000");
}

// MARK: Queries

/// The SQL function `contains_folded(text, folded)`.
static void contains_folded_function(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const char *text = (const char *)sqlite3_value_text(values[0]);
    const char *folded = (const char *)sqlite3_value_text(values[1]);
    int is_there = text != NULL && folded != NULL
        && contains_folded(
               text, (size_t)sqlite3_value_bytes(values[0]), folded, (size_t)sqlite3_value_bytes(values[1]));
    sqlite3_result_int(context, is_there);
}

static int contains_folded_text(baseline_run *run) {
    int code = sqlite3_create_function_v2(
        database_of(run), "contains_folded", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
        contains_folded_function, NULL, NULL, NULL);
    if (code != SQLITE_OK) return sqlite_fail(run, database_of(run));
    return count_by(run, "SELECT count(*) FROM track WHERE contains_folded(title, 'naive')");
}

static int sum(baseline_run *run) { return count_by(run, "SELECT sum(play_count) FROM track"); }

static int to_one_path(baseline_run *run) {
    return count_by(run, "SELECT count(*) FROM track JOIN album ON album.id = track.album WHERE album.year >= 2020");
}

static int any_to_many(baseline_run *run) {
    return count_by(
        run, "SELECT count(*) FROM album WHERE id IN (SELECT album FROM track WHERE play_count > 4800)");
}

static int subquery(baseline_run *run) {
    return count_by(
        run,
        "SELECT count(*) FROM (SELECT album FROM track WHERE loved = 1 GROUP BY album HAVING count(*) >= 4)");
}

// MARK: Links

static int links_to_many(baseline_run *run) {
    sqlite3 *database = database_of(run);
    sqlite3_stmt *statement = NULL;
    TRY(sqlite_prepare(run, database, "SELECT id FROM track WHERE album = ?", &statement));
    int64_t album_count = tracks_album_count(run->track_count);
    int result = sqlite_execute(run, database, "BEGIN"), code = SQLITE_DONE;
    for (int64_t index = 0; result == 0 && index < run->repetitions; index++) {
        sqlite3_bind_int64(statement, 1, tracks_random_key((uint64_t)index, album_count));
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            run->checksum += (uint64_t)sqlite3_column_int64(statement, 0);
            run->unit_count += 1;
        }
        if (code != SQLITE_DONE || sqlite3_reset(statement) != SQLITE_OK) result = sqlite_fail(run, database);
    }
    sqlite3_finalize(statement);
    if (result == 0) result = sqlite_execute(run, database, "COMMIT");
    return result;
}

static int links_to_one(baseline_run *run) {
    sqlite3 *database = database_of(run);
    sqlite3_stmt *statement = NULL;
    const char *sql = "SELECT album.id, album.title, album.year FROM track JOIN album ON album.id = track.album"
                      " WHERE track.id = ?";
    TRY(sqlite_prepare(run, database, sql, &statement));
    int result = sqlite_execute(run, database, "BEGIN");
    for (int64_t index = 0; result == 0 && index < run->repetitions; index++) {
        album value;
        sqlite3_bind_int64(statement, 1, tracks_random_key((uint64_t)index, run->track_count));
        if (sqlite3_step(statement) != SQLITE_ROW) {
            result = sqlite_fail(run, database);
            break;
        }
        sqlite_read_album(statement, &value);
        run->checksum += album_checksum(&value);
        run->unit_count += 1;
        if (sqlite3_reset(statement) != SQLITE_OK) result = sqlite_fail(run, database);
    }
    sqlite3_finalize(statement);
    if (result == 0) result = sqlite_execute(run, database, "COMMIT");
    return result;
}

// MARK: Writing

static int update(baseline_run *run) {
    sqlite3 *database = database_of(run);
    sqlite3_stmt *statement = NULL;
    const char *sql = "UPDATE track SET play_count = play_count + 1, date = ? WHERE id = ?";
    TRY(sqlite_prepare(run, database, sql, &statement));
    int result = sqlite_execute(run, database, "BEGIN IMMEDIATE");
    for (int64_t index = 0; result == 0 && index < run->repetitions; index++) {
        sqlite3_bind_double(statement, 1, track_updated_date((uint64_t)index));
        sqlite3_bind_int64(statement, 2, tracks_distinct_key((uint64_t)index, run->track_count));
        result = sqlite_finish_step(run, database, statement);
    }
    sqlite3_finalize(statement);
    if (result == 0) result = sqlite_execute(run, database, "COMMIT");
    run->unit_count = (uint64_t)run->repetitions;
    return result;
}

static int delete_tracks(baseline_run *run) {
    sqlite3 *database = database_of(run);
    sqlite3_stmt *statement = NULL;
    TRY(sqlite_prepare(run, database, "DELETE FROM track WHERE id = ?", &statement));
    int result = sqlite_execute(run, database, "BEGIN IMMEDIATE");
    for (int64_t index = 0; result == 0 && index < run->repetitions; index++) {
        sqlite3_bind_int64(statement, 1, tracks_distinct_key((uint64_t)index, run->track_count));
        result = sqlite_finish_step(run, database, statement);
    }
    sqlite3_finalize(statement);
    if (result == 0) result = sqlite_execute(run, database, "COMMIT");
    run->unit_count = (uint64_t)run->repetitions;
    return result;
}

/// Inserts `batch_size` new tracks in each durable transaction, and updates the album index.
static int transactions(baseline_run *run) {
    sqlite_session *session = run->state;
    sqlite3 *database = session->database;
    sqlite3_stmt *statement = NULL, *begin = NULL, *commit = NULL;
    int64_t album_count = tracks_album_count(run->track_count);
    const char *sql = "INSERT INTO track(" TRACK_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    int result = sqlite_prepare(run, database, sql, &statement);
    if (result == 0) result = sqlite_prepare(run, database, "BEGIN IMMEDIATE", &begin);
    if (result == 0) result = sqlite_prepare(run, database, "COMMIT", &commit);
    for (int64_t index = 0; result == 0 && index < run->repetitions; index++) {
        result = sqlite_finish_step(run, database, begin);
        for (int64_t place = 0; result == 0 && place < run->batch_size; place++) {
            track value;
            track_make(session->next_id++, album_count, &value);
            run->checksum += track_checksum(&value);
            sqlite_bind_track(statement, &value);
            result = sqlite_finish_step(run, database, statement);
        }
        if (result == 0) result = sqlite_finish_step(run, database, commit);
    }
    sqlite3_finalize(statement);
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    run->unit_count = (uint64_t)run->repetitions;
    return result;
}

const baseline sqlite_baselines[] = {
    {"sqlite-scan", open_session, scan, close_session},
    {"sqlite-point-read", open_session, point_read, close_session},
    {"sqlite-index-lookup", open_session, index_lookup, close_session},
    {"sqlite-index-range", open_session, index_range, close_session},
    {"sqlite-filter-scan", open_session, filter_scan, close_session},
    {"sqlite-one-field-filter", open_session, one_field_filter, close_session},
    {"sqlite-sort-limit", open_session, sort_with_limit, close_session},
    {"sqlite-count", open_session, count_loved, close_session},
    {"sqlite-contains-folded", open_session, contains_folded_text, close_session},
    {"sqlite-sum", open_session, sum, close_session},
    {"sqlite-to-one-path", open_session, to_one_path, close_session},
    {"sqlite-any-to-many", open_session, any_to_many, close_session},
    {"sqlite-subquery", open_session, subquery, close_session},
    {"sqlite-links-to-many", open_session, links_to_many, close_session},
    {"sqlite-links-to-one", open_session, links_to_one, close_session},
    {"sqlite-update", open_session, update, close_session},
    {"sqlite-delete", open_session, delete_tracks, close_session},
    {"sqlite-transactions", open_session, transactions, close_session},
    {NULL, NULL, NULL, NULL, NULL},
};
