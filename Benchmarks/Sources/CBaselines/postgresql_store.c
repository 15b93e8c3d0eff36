#ifdef BASELINES_POSTGRESQL

#include "postgresql_store.h"

#include <stdlib.h>
#include <string.h>

#include "postgresql_bytes.h"

#define SCHEMA "roost_bench_baseline"
#define ALBUM_COLUMNS "_id, _entity, _version, _checksum, title, year"
#define TRACK_COLUMNS \
    "_id, _entity, _version, _checksum, title, artist, duration, \"playCount\", loved, date, uuid, thumb, album"

const char *const postgresql_track_columns = TRACK_COLUMNS;

static const char tables[] =
    "DROP SCHEMA IF EXISTS " SCHEMA " CASCADE;"
    "CREATE SCHEMA " SCHEMA ";"
    "CREATE TABLE \"Album\" (_id BIGINT NOT NULL PRIMARY KEY, year BIGINT, title TEXT COLLATE \"C\","
    " _entity BIGINT NOT NULL, _version BIGINT NOT NULL, _checksum BIGINT NOT NULL);"
    "CREATE TABLE \"Track\" (_id BIGINT NOT NULL PRIMARY KEY, album BIGINT, date DOUBLE PRECISION,"
    " duration DOUBLE PRECISION, loved BIGINT, \"playCount\" BIGINT, artist TEXT COLLATE \"C\","
    " title TEXT COLLATE \"C\", _entity BIGINT NOT NULL, _version BIGINT NOT NULL, _checksum BIGINT NOT NULL,"
    " uuid BYTEA, thumb BYTEA);"
    "CREATE TABLE _roost_tallies (kind TEXT COLLATE \"C\" NOT NULL, number BIGINT NOT NULL, place BIGINT NOT NULL,"
    " count BIGINT NOT NULL, sum BIGINT NOT NULL, PRIMARY KEY (kind, number, place));"
    "INSERT INTO _roost_tallies VALUES ('generation', 0, 0, 0, 1), ('entity', 0, 0, 0, 0), ('entity', 1, 0, 0, 0);"
    "CREATE TABLE _roost_commits (id UUID NOT NULL PRIMARY KEY, at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now())";

// MARK: Connections

int postgresql_fail(baseline_run *run, PGconn *connection) {
    return baseline_fail(run, "libpq: %s", connection == NULL ? "out of memory" : PQerrorMessage(connection));
}

int postgresql_require(baseline_run *run, PGconn *connection, PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return 0;
    return postgresql_fail(run, connection);
}

int postgresql_execute(baseline_run *run, PGconn *connection, const char *sql) {
    return postgresql_require(run, connection, PQexec(connection, sql));
}

int postgresql_open(baseline_run *run, PGconn **out) {
    const char *parameters = getenv("ROOST_POSTGRES");
    if (parameters == NULL) return baseline_fail(run, "ROOST_POSTGRES has no connection parameters");
    PGconn *connection = PQconnectdb(parameters);
    if (PQstatus(connection) != CONNECTION_OK
        || postgresql_execute(run, connection, "SET client_min_messages = warning; SET search_path = " SCHEMA) != 0) {
        postgresql_fail(run, connection);
        PQfinish(connection);
        return -1;
    }
    *out = connection;
    return 0;
}

void postgresql_close(PGconn *connection) { PQfinish(connection); }

int postgresql_remove(baseline_run *run, PGconn *connection) {
    return postgresql_execute(run, connection, "DROP SCHEMA IF EXISTS " SCHEMA " CASCADE");
}

// MARK: Rows

/// Appends the column count, and the first four columns of every table. An arbitrary number
/// replaces Roost's checksum.
static char *append_head(char *out, int16_t column_count, int64_t id, int64_t entity) {
    out = append_int16(out, column_count);
    out = append_long(out, id);
    out = append_long(out, entity);
    out = append_long(out, 1);
    return append_long(out, (int64_t)((uint64_t)id * 0x9E3779B97F4A7C15u));
}

size_t postgresql_encode_album(char *out, const album *value) {
    char *end = append_head(out, 6, value->id, 0);
    end = append_bytes(end, value->title, value->title_length);
    end = append_long(end, value->year);
    return (size_t)(end - out);
}

size_t postgresql_encode_track(char *out, const track *value) {
    char *end = append_head(out, 13, value->id, 1);
    end = append_bytes(end, value->title, value->title_length);
    end = append_bytes(end, value->artist, value->artist_length);
    end = append_double(end, value->duration);
    end = append_long(end, value->play_count);
    end = append_long(end, value->loved);
    end = append_double(end, value->date);
    end = append_bytes(end, value->uuid, sizeof value->uuid);
    end = append_bytes(end, value->thumb, value->thumb_length);
    end = append_long(end, value->album);
    return (size_t)(end - out);
}

/// Copies at most `limit` bytes of a text or data column.
static int16_t copy_bytes(const PGresult *result, int row, int column, void *out, int limit) {
    if (PQgetisnull(result, row, column)) return TRACK_NULL;
    int length = PQgetlength(result, row, column);
    if (length > limit) length = limit;
    memcpy(out, PQgetvalue(result, row, column), (size_t)length);
    return (int16_t)length;
}

void postgresql_read_track(const PGresult *result, int row, track *out) {
    out->id = read_long(PQgetvalue(result, row, 0));
    // Roost reads the entity, version and checksum too.
    volatile int64_t head = read_long(PQgetvalue(result, row, 1)) + read_long(PQgetvalue(result, row, 2))
        + read_long(PQgetvalue(result, row, 3));
    (void)head;
    out->title_length = copy_bytes(result, row, 4, out->title, sizeof out->title);
    out->artist_length = copy_bytes(result, row, 5, out->artist, sizeof out->artist);
    out->duration = read_double(PQgetvalue(result, row, 6));
    out->play_count = read_long(PQgetvalue(result, row, 7));
    out->loved = (uint8_t)read_long(PQgetvalue(result, row, 8));
    out->date = read_double(PQgetvalue(result, row, 9));
    (void)copy_bytes(result, row, 10, out->uuid, sizeof out->uuid);
    out->thumb_length = copy_bytes(result, row, 11, out->thumb, sizeof out->thumb);
    out->album = read_long(PQgetvalue(result, row, 12));
}

static void read_album(const PGresult *result, int row, album *out) {
    out->id = read_long(PQgetvalue(result, row, 0));
    out->title_length = copy_bytes(result, row, 4, out->title, sizeof out->title);
    out->year = read_long(PQgetvalue(result, row, 5));
}

// MARK: Reading everything

typedef int (*take_row)(const PGresult *result, int row, const object_sink *sink);

static int take_album(const PGresult *result, int row, const object_sink *sink) {
    album value;
    read_album(result, row, &value);
    return sink->take_album(sink->state, &value);
}

static int take_track(const PGresult *result, int row, const object_sink *sink) {
    track value;
    postgresql_read_track(result, row, &value);
    return sink->take_track(sink->state, &value);
}

/// Sends the rows of a SELECT, with a cursor of the server.
static int send_rows(
    baseline_run *run, PGconn *connection, const char *declaration, take_row take, const object_sink *sink
) {
    TRY(postgresql_execute(run, connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    int result = postgresql_execute(run, connection, declaration);
    int count = 1;
    while (result == 0 && count > 0) {
        PGresult *rows = PQexecParams(connection, "FETCH FORWARD 4096 FROM scan", 0, NULL, NULL, NULL, NULL, 1);
        if (PQresultStatus(rows) != PGRES_TUPLES_OK) result = postgresql_fail(run, connection);
        count = result == 0 ? PQntuples(rows) : 0;
        for (int row = 0; result == 0 && row < count; row++) result = take(rows, row, sink);
        PQclear(rows);
    }
    if (result != 0) return result;
    return postgresql_execute(run, connection, "COMMIT");
}

int postgresql_send_tracks(baseline_run *run, PGconn *connection, int is_ordered, const object_sink *sink) {
    return send_rows(
        run, connection,
        is_ordered ? "DECLARE scan NO SCROLL CURSOR FOR SELECT " TRACK_COLUMNS " FROM \"Track\" ORDER BY _id"
                   : "DECLARE scan NO SCROLL CURSOR FOR SELECT " TRACK_COLUMNS " FROM \"Track\"",
        take_track, sink);
}

int postgresql_send_all(baseline_run *run, PGconn *connection, const object_sink *sink) {
    const char *albums = "DECLARE scan NO SCROLL CURSOR FOR SELECT " ALBUM_COLUMNS " FROM \"Album\" ORDER BY _id";
    TRY(send_rows(run, connection, albums, take_album, sink));
    return postgresql_send_tracks(run, connection, 1, sink);
}

// MARK: Loading

/// The buffered rows are sent when they have at least this number of bytes.
#define CHUNK (256 << 10)

int postgresql_begin_copy(baseline_run *run, postgresql_copy *copy, PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);
    int is_ready = PQresultStatus(result) == PGRES_COPY_IN;
    PQclear(result);
    if (!is_ready) return postgresql_fail(run, connection);
    copy->connection = connection;
    memcpy(copy->bytes, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    copy->count = 19;
    return 0;
}

static int send_bytes(baseline_run *run, postgresql_copy *copy) {
    if (PQputCopyData(copy->connection, copy->bytes, (int)copy->count) != 1) {
        return postgresql_fail(run, copy->connection);
    }
    copy->count = 0;
    return 0;
}

int postgresql_copy_track(baseline_run *run, postgresql_copy *copy, const track *value) {
    copy->count += postgresql_encode_track(copy->bytes + copy->count, value);
    return copy->count < CHUNK ? 0 : send_bytes(run, copy);
}

static int copy_album(baseline_run *run, postgresql_copy *copy, const album *value) {
    copy->count += postgresql_encode_album(copy->bytes + copy->count, value);
    return copy->count < CHUNK ? 0 : send_bytes(run, copy);
}

int postgresql_end_copy(baseline_run *run, postgresql_copy *copy) {
    (void)append_int16(copy->bytes + copy->count, -1);
    copy->count += 2;
    TRY(send_bytes(run, copy));
    if (PQputCopyEnd(copy->connection, NULL) != 1) return postgresql_fail(run, copy->connection);
    int result = 0;
    PGresult *answer;
    while ((answer = PQgetResult(copy->connection)) != NULL) {
        if (postgresql_require(run, copy->connection, answer) != 0) result = -1;
    }
    return result;
}

#define COPY_ALBUMS "COPY \"Album\" (" ALBUM_COLUMNS ") FROM STDIN (FORMAT binary)"

/// Creates the tables and begins to copy albums.
static int begin_load(baseline_run *run, postgresql_copy *copy, PGconn *connection) {
    TRY(postgresql_execute(run, connection, tables));
    TRY(postgresql_execute(run, connection, "BEGIN"));
    return postgresql_begin_copy(run, copy, connection, COPY_ALBUMS);
}

/// Ends the copy of albums, and begins to copy tracks.
static int begin_tracks(baseline_run *run, postgresql_copy *copy) {
    TRY(postgresql_end_copy(run, copy));
    return postgresql_begin_copy(run, copy, copy->connection, POSTGRESQL_COPY_TRACKS);
}

static int finish_load(baseline_run *run, postgresql_copy *copy) {
    TRY(postgresql_end_copy(run, copy));
    return postgresql_execute(
        run, copy->connection,
        "ANALYZE \"Album\", \"Track\"; CREATE INDEX track_album ON \"Track\" (album NULLS FIRST); COMMIT");
}

int postgresql_load(
    baseline_run *run, PGconn *connection, const album *albums, int64_t album_count, const track *tracks,
    int64_t track_count
) {
    postgresql_copy *copy = malloc(sizeof *copy);
    if (copy == NULL) return baseline_fail(run, "out of memory");
    int result = begin_load(run, copy, connection);
    for (int64_t index = 0; result == 0 && index < album_count; index++) {
        result = copy_album(run, copy, &albums[index]);
    }
    if (result == 0) result = begin_tracks(run, copy);
    for (int64_t index = 0; result == 0 && index < track_count; index++) {
        result = postgresql_copy_track(run, copy, &tracks[index]);
    }
    if (result == 0) result = finish_load(run, copy);
    free(copy);
    return result;
}

// MARK: Writing objects one at a time

typedef struct writing {
    baseline_run *run;
    int copies_tracks;
    postgresql_copy copy;
} writing;

static void end_writing(writing *state) {
    postgresql_close(state->copy.connection);
    free(state);
}

static int write_album(void *state, const album *value) {
    writing *own = state;
    return copy_album(own->run, &own->copy, value);
}

static int write_track(void *state, const track *value) {
    writing *own = state;
    if (!own->copies_tracks) {
        TRY(begin_tracks(own->run, &own->copy));
        own->copies_tracks = 1;
    }
    return postgresql_copy_track(own->run, &own->copy, value);
}

static int begin_writing(baseline_run *run, const char *path, write_options options, object_sink *out) {
    (void)path;
    (void)options;
    writing *state = calloc(1, sizeof *state);
    if (state == NULL) return baseline_fail(run, "out of memory");
    state->run = run;
    PGconn *connection = NULL;
    if (postgresql_open(run, &connection) != 0) {
        free(state);
        return -1;
    }
    state->copy.connection = connection;
    if (begin_load(run, &state->copy, connection) != 0) {
        end_writing(state);
        return -1;
    }
    *out = (object_sink){.state = state, .take_album = write_album, .take_track = write_track};
    return 0;
}

static int finish_writing(baseline_run *run, object_sink *sink) {
    writing *state = sink->state;
    int result = state->copies_tracks ? 0 : begin_tracks(run, &state->copy);
    if (result == 0) result = finish_load(run, &state->copy);
    end_writing(state);
    return result;
}

static void abandon_writing(object_sink *sink) { end_writing(sink->state); }

const store_kind postgresql_kind = {
    .begin_writing = begin_writing, .finish_writing = finish_writing, .abandon_writing = abandon_writing,
};

#else
/// A placeholder, because C requires a declaration in every file.
typedef int postgresql_store_is_empty;
#endif
