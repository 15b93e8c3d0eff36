#include "sqlite_store.h"

#include <stdlib.h>
#include <string.h>

/// The SQL of one layout of tables.
typedef struct sqlite_layout {
    const char *schema, *insert_album, *insert_track, *index, *title_index, *select_albums, *select_tracks;
} sqlite_layout;

static const sqlite_layout plain_layout = {
    .schema = "CREATE TABLE album(id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER NOT NULL);"
              "CREATE TABLE track(id INTEGER PRIMARY KEY, title TEXT NOT NULL, artist TEXT, duration REAL NOT NULL,"
              " play_count INTEGER NOT NULL, loved INTEGER NOT NULL, date REAL NOT NULL, uuid BLOB NOT NULL,"
              " thumb BLOB, album INTEGER NOT NULL);",
    .insert_album = "INSERT INTO album(id, title, year) VALUES (?, ?, ?)",
    .insert_track = "INSERT INTO track(" TRACK_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    .index = "CREATE INDEX track_album ON track(album)",
    .title_index = "CREATE INDEX track_title ON track(title)",
    .select_albums = "SELECT id, title, year FROM album",
    .select_tracks = "SELECT " TRACK_COLUMNS " FROM track",
};

/// The tables of Apple's Core Data that a reader needs. The file contains no model.
static const sqlite_layout core_data_layout = {
    .schema = "CREATE TABLE Z_PRIMARYKEY(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);"
              "CREATE TABLE Z_METADATA(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);"
              "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Album', 0, 0), (2, 'Track', 0, 0);"
              "INSERT INTO Z_METADATA VALUES (1, '3F2504E0-4F89-41D3-9A0C-0305E82C3301', NULL);"
              "CREATE TABLE ZALBUM(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZYEAR INTEGER,"
              " ZTITLE VARCHAR);"
              "CREATE TABLE ZTRACK(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLOVED INTEGER,"
              " ZPLAYCOUNT INTEGER, ZALBUM INTEGER, ZDATE TIMESTAMP, ZDURATION FLOAT, ZARTIST VARCHAR, ZTITLE VARCHAR,"
              " ZTHUMB BLOB, ZUUID BLOB);",
    .insert_album = "INSERT INTO ZALBUM(Z_PK, ZTITLE, ZYEAR, Z_ENT, Z_OPT) VALUES (?, ?, ?, 1, 1)",
    .insert_track = "INSERT INTO ZTRACK(Z_PK, ZTITLE, ZARTIST, ZDURATION, ZPLAYCOUNT, ZLOVED, ZDATE, ZUUID, ZTHUMB,"
                    " ZALBUM, Z_ENT, Z_OPT) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 2, 1)",
    .index = "CREATE INDEX ZTRACK_ZALBUM_INDEX ON ZTRACK(ZALBUM);"
             "UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ZALBUM) WHERE Z_ENT = 1;"
             "UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ZTRACK) WHERE Z_ENT = 2",
    .title_index = "CREATE INDEX ZTRACK_ZTITLE_INDEX ON ZTRACK(ZTITLE)",
    .select_albums = "SELECT Z_PK, ZTITLE, ZYEAR FROM ZALBUM",
    .select_tracks = "SELECT Z_PK, ZTITLE, ZARTIST, ZDURATION, ZPLAYCOUNT, ZLOVED, ZDATE, ZUUID, ZTHUMB, ZALBUM"
                     " FROM ZTRACK",
};

// MARK: A connection

int sqlite_fail(baseline_run *run, sqlite3 *database) {
    return baseline_fail(run, "SQLite: %s", database ? sqlite3_errmsg(database) : "out of memory");
}

int sqlite_execute(baseline_run *run, sqlite3 *database, const char *sql) {
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_fail(run, database);
}

int sqlite_open(baseline_run *run, const char *path, const char *pragmas, sqlite3 **out) {
    // Memory statistics cost a lock for each allocation. After the first connection, SQLite harmlessly refuses this
    // call.
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3 *database = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK || sqlite_execute(run, database, pragmas) != 0) {
        sqlite_fail(run, database);
        (void)sqlite3_close(database);
        return -1;
    }
    *out = database;
    return 0;
}

int sqlite_prepare(baseline_run *run, sqlite3 *database, const char *sql, sqlite3_stmt **out) {
    int code = sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code == SQLITE_OK ? 0 : sqlite_fail(run, database);
}

int sqlite_finish_step(baseline_run *run, sqlite3 *database, sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) return sqlite_fail(run, database);
    return sqlite3_reset(statement) == SQLITE_OK ? 0 : sqlite_fail(run, database);
}

// MARK: Rows

/// Errors are not checked: a failed binding violates NOT NULL or gives a wrong checksum.
void sqlite_bind_track(sqlite3_stmt *statement, const track *value) {
    sqlite3_bind_int64(statement, 1, value->id);
    sqlite3_bind_text(statement, 2, value->title, value->title_length, SQLITE_STATIC);
    if (value->artist_length < 0) {
        sqlite3_bind_null(statement, 3);
    } else {
        sqlite3_bind_text(statement, 3, value->artist, value->artist_length, SQLITE_STATIC);
    }
    sqlite3_bind_double(statement, 4, value->duration);
    sqlite3_bind_int64(statement, 5, value->play_count);
    sqlite3_bind_int(statement, 6, value->loved);
    sqlite3_bind_double(statement, 7, value->date);
    sqlite3_bind_blob(statement, 8, value->uuid, sizeof value->uuid, SQLITE_STATIC);
    if (value->thumb_length < 0) {
        sqlite3_bind_null(statement, 9);
    } else {
        sqlite3_bind_blob(statement, 9, value->thumb, value->thumb_length, SQLITE_STATIC);
    }
    sqlite3_bind_int64(statement, 10, value->album);
}

/// Copies at most `limit` bytes of a text or data column.
static int16_t copy_bytes(sqlite3_stmt *statement, int column, void *out, int limit) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return TRACK_NULL;
    const void *bytes = sqlite3_column_blob(statement, column);
    int length = sqlite3_column_bytes(statement, column);
    if (length > limit) length = limit;
    if (length > 0) memcpy(out, bytes, (size_t)length);
    return (int16_t)length;
}

void sqlite_read_track(sqlite3_stmt *statement, track *out) {
    out->id = sqlite3_column_int64(statement, 0);
    out->title_length = copy_bytes(statement, 1, out->title, sizeof out->title);
    out->artist_length = copy_bytes(statement, 2, out->artist, sizeof out->artist);
    out->duration = sqlite3_column_double(statement, 3);
    out->play_count = sqlite3_column_int64(statement, 4);
    out->loved = (uint8_t)sqlite3_column_int(statement, 5);
    out->date = sqlite3_column_double(statement, 6);
    (void)copy_bytes(statement, 7, out->uuid, sizeof out->uuid);
    out->thumb_length = copy_bytes(statement, 8, out->thumb, sizeof out->thumb);
    out->album = sqlite3_column_int64(statement, 9);
}

void sqlite_read_album(sqlite3_stmt *statement, album *out) {
    out->id = sqlite3_column_int64(statement, 0);
    out->title_length = copy_bytes(statement, 1, out->title, sizeof out->title);
    out->year = sqlite3_column_int64(statement, 2);
}

// MARK: Reading everything

static int send_albums(baseline_run *run, sqlite3 *database, const char *sql, const object_sink *sink) {
    sqlite3_stmt *statement = NULL;
    TRY(sqlite_prepare(run, database, sql, &statement));
    album value;
    int code, result = 0;
    while (result == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        sqlite_read_album(statement, &value);
        result = sink->take_album(sink->state, &value);
    }
    if (result == 0 && code != SQLITE_DONE) result = sqlite_fail(run, database);
    sqlite3_finalize(statement);
    return result;
}

static int send_tracks(baseline_run *run, sqlite3 *database, const char *sql, const object_sink *sink) {
    sqlite3_stmt *statement = NULL;
    TRY(sqlite_prepare(run, database, sql, &statement));
    track value;
    int code, result = 0;
    while (result == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        sqlite_read_track(statement, &value);
        result = sink->take_track(sink->state, &value);
    }
    if (result == 0 && code != SQLITE_DONE) result = sqlite_fail(run, database);
    sqlite3_finalize(statement);
    return result;
}

int sqlite_send_tracks(baseline_run *run, sqlite3 *database, const object_sink *sink) {
    return send_tracks(run, database, plain_layout.select_tracks, sink);
}

static int read_layout(baseline_run *run, const char *path, const object_sink *sink, const sqlite_layout *layout) {
    sqlite3 *database = NULL;
    TRY(sqlite_open(run, path, "PRAGMA journal_mode = WAL", &database));
    int result = send_albums(run, database, layout->select_albums, sink);
    if (result == 0) result = send_tracks(run, database, layout->select_tracks, sink);
    (void)sqlite3_close(database);
    return result;
}

static int read_plain(baseline_run *run, const char *path, const object_sink *sink) {
    return read_layout(run, path, sink, &plain_layout);
}

static int read_core_data(baseline_run *run, const char *path, const object_sink *sink) {
    return read_layout(run, path, sink, &core_data_layout);
}

// MARK: Writing everything

typedef struct sqlite_writer {
    baseline_run *run;
    const sqlite_layout *layout;
    const char *path;
    sqlite3 *database;
    sqlite3_stmt *insert_album, *insert_track;
    write_options options;
    /// The number of objects in the current transaction.
    int64_t count;
} sqlite_writer;

/// Commits a full transaction, and begins the next one.
static int commit_if_full(sqlite_writer *writer) {
    writer->count += 1;
    if (writer->count != writer->options.commit_count) return 0;
    writer->count = 0;
    return sqlite_execute(writer->run, writer->database, "COMMIT; BEGIN IMMEDIATE");
}

static int write_album(void *state, const album *value) {
    sqlite_writer *writer = state;
    sqlite3_bind_int64(writer->insert_album, 1, value->id);
    sqlite3_bind_text(writer->insert_album, 2, value->title, value->title_length, SQLITE_STATIC);
    sqlite3_bind_int64(writer->insert_album, 3, value->year);
    TRY(sqlite_finish_step(writer->run, writer->database, writer->insert_album));
    return commit_if_full(writer);
}

static int write_track(void *state, const track *value) {
    sqlite_writer *writer = state;
    sqlite_bind_track(writer->insert_track, value);
    TRY(sqlite_finish_step(writer->run, writer->database, writer->insert_track));
    return commit_if_full(writer);
}

static void abandon(object_sink *sink) {
    sqlite_writer *writer = sink->state;
    if (writer == NULL) return;
    sqlite3_finalize(writer->insert_album);
    sqlite3_finalize(writer->insert_track);
    (void)sqlite3_close(writer->database);
    free(writer);
    sink->state = NULL;
}

static int begin(
    baseline_run *run, const char *path, write_options options, object_sink *out, const sqlite_layout *layout
) {
    sqlite_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) return baseline_fail(run, "out of memory");
    writer->run = run;
    writer->layout = layout;
    writer->path = path;
    writer->options = options;
    *out = (object_sink){.state = writer, .take_album = write_album, .take_track = write_track};
    const char *pragmas = options.is_unpublished
                              ? "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"
                              : "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL";
    if (sqlite_open(run, path, pragmas, &writer->database) != 0
        || sqlite_execute(run, writer->database, layout->schema) != 0
        || (options.commit_count > 0 && sqlite_execute(run, writer->database, layout->index) != 0)
        || sqlite_prepare(run, writer->database, layout->insert_album, &writer->insert_album) != 0
        || sqlite_prepare(run, writer->database, layout->insert_track, &writer->insert_track) != 0
        || sqlite_execute(run, writer->database, "BEGIN IMMEDIATE") != 0) {
        abandon(out);
        return -1;
    }
    return 0;
}

static int begin_plain(baseline_run *run, const char *path, write_options options, object_sink *out) {
    return begin(run, path, options, out, &plain_layout);
}

static int begin_core_data(baseline_run *run, const char *path, write_options options, object_sink *out) {
    return begin(run, path, options, out, &core_data_layout);
}

static int finish(baseline_run *run, object_sink *sink) {
    sqlite_writer *writer = sink->state;
    const char *path = writer->path;
    write_options options = writer->options;
    int result = sqlite_execute(run, writer->database, "COMMIT");
    if (result == 0 && options.commit_count == 0) result = sqlite_execute(run, writer->database, writer->layout->index);
    if (result == 0 && options.indexes_title) {
        result = sqlite_execute(run, writer->database, writer->layout->title_index);
    }
    if (result == 0 && !options.is_unpublished) {
        result = sqlite_execute(run, writer->database, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    abandon(sink);
    if (result == 0 && options.is_unpublished) result = flush_file(run, path);
    return result;
}

const store_kind sqlite_kind = {
    .read_all = read_plain, .begin_writing = begin_plain, .finish_writing = finish, .abandon_writing = abandon,
};

const store_kind core_data_kind = {
    .read_all = read_core_data, .begin_writing = begin_core_data, .finish_writing = finish, .abandon_writing = abandon,
};
