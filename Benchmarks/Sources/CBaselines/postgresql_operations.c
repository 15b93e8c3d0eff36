#ifdef BASELINES_POSTGRESQL

#include <stdio.h>
#include <stdlib.h>

#include "postgresql_bytes.h"
#include "postgresql_store.h"

/// The state of a benchmark between its rounds.
typedef struct postgresql_session {
    PGconn *connection;
    album *albums;
    track *tracks;
    /// The ID of the next track to insert.
    int64_t next_id;
    /// The number of the next commit.
    uint64_t commit;
} postgresql_session;

/// Connects, and creates all objects in memory.
static int open_empty(baseline_run *run) {
    postgresql_session *session = calloc(1, sizeof *session);
    if (session == NULL) return baseline_fail(run, "out of memory");
    run->state = session;
    session->next_id = run->track_count + 1;
    int64_t album_count = tracks_album_count(run->track_count);
    session->albums = calloc((size_t)album_count, sizeof *session->albums);
    session->tracks = calloc((size_t)run->track_count, sizeof *session->tracks);
    if (session->albums == NULL || session->tracks == NULL) return baseline_fail(run, "out of memory");
    for (int64_t index = 0; index < album_count; index++) album_make(index + 1, &session->albums[index]);
    for (int64_t index = 0; index < run->track_count; index++) {
        track_make(index + 1, album_count, &session->tracks[index]);
    }
    return postgresql_open(run, &session->connection);
}

static int load(baseline_run *run) {
    postgresql_session *session = run->state;
    int64_t album_count = tracks_album_count(run->track_count);
    TRY(postgresql_load(
        run, session->connection, session->albums, album_count, session->tracks, run->track_count));
    run->unit_count = (uint64_t)(album_count + run->track_count);
    return 0;
}

/// Connects, and creates the tables that the rounds read or change.
static int open_full(baseline_run *run) {
    TRY(open_empty(run));
    TRY(load(run));
    postgresql_session *session = run->state;
    free(session->albums);
    free(session->tracks);
    session->albums = NULL;
    session->tracks = NULL;
    return 0;
}

static void close_session(baseline_run *run) {
    postgresql_session *session = run->state;
    if (session == NULL) return;
    if (session->connection != NULL) {
        (void)postgresql_remove(run, session->connection);
        postgresql_close(session->connection);
    }
    free(session->albums);
    free(session->tracks);
    free(session);
    run->state = NULL;
}

static int read_everything(baseline_run *run) {
    object_sink sink = checksum_sink(run);
    return postgresql_send_all(run, ((postgresql_session *)run->state)->connection, &sink);
}

// MARK: Reading

static int scan(baseline_run *run) {
    object_sink sink = checksum_sink(run);
    return postgresql_send_tracks(run, ((postgresql_session *)run->state)->connection, 1, &sink);
}

static int scan_unordered(baseline_run *run) {
    object_sink sink = checksum_sink(run);
    return postgresql_send_tracks(run, ((postgresql_session *)run->state)->connection, 0, &sink);
}

/// Prepares a statement if it is not prepared yet.
static int prepare(baseline_run *run, PGconn *connection, const char *name, const char *sql) {
    PGresult *known = PQdescribePrepared(connection, name);
    ExecStatusType status = PQresultStatus(known);
    PQclear(known);
    if (status == PGRES_COMMAND_OK) return 0;
    return postgresql_require(run, connection, PQprepare(connection, name, sql, 0, NULL));
}

/// Reads scattered tracks, one statement for each, all in one transaction.
static int point_read(baseline_run *run) {
    PGconn *connection = ((postgresql_session *)run->state)->connection;
    char sql[400];
    snprintf(sql, sizeof sql, "SELECT %s FROM \"Track\" WHERE _id = $1", postgresql_track_columns);
    TRY(prepare(run, connection, "point", sql));
    TRY(postgresql_execute(run, connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    for (int64_t index = 0; index < run->repetitions; index++) {
        char key[8];
        (void)append_raw(key, (uint64_t)tracks_random_key((uint64_t)index, run->track_count));
        const char *values[] = {key};
        const int lengths[] = {8}, formats[] = {1};
        PGresult *rows = PQexecPrepared(connection, "point", 1, values, lengths, formats, 1);
        if (PQresultStatus(rows) != PGRES_TUPLES_OK || PQntuples(rows) != 1) {
            PQclear(rows);
            return postgresql_fail(run, connection);
        }
        track value;
        postgresql_read_track(rows, 0, &value);
        PQclear(rows);
        run->checksum += track_checksum(&value);
        run->unit_count += 1;
    }
    return postgresql_execute(run, connection, "COMMIT");
}

// MARK: Writing

/// From this number of rows on, COPY is faster than INSERT.
#define FEWEST_COPIED 48

#define LOCK \
    "SELECT sum, place FROM _roost_tallies WHERE kind = 'generation' AND number = 0 ORDER BY place LIMIT 1" \
    " FOR UPDATE SKIP LOCKED"
#define BEGIN_COMMIT "BEGIN; SET LOCAL lock_timeout = 5000; " LOCK

/// The parameters of an INSERT, which point into a row encoded for COPY.
typedef struct row_parameters {
    char bytes[POSTGRESQL_ROW_LIMIT];
    const char *values[13];
    int lengths[13], formats[13];
} row_parameters;

static void set_parameters(row_parameters *out, const track *value) {
    (void)postgresql_encode_track(out->bytes, value);
    const char *place = out->bytes + 2;
    for (int column = 0; column < 13; column++) {
        uint32_t length;
        memcpy(&length, place, sizeof length);
        int count = (int)__builtin_bswap32(length);
        place += 4;
        out->values[column] = count < 0 ? NULL : place;
        out->lengths[column] = count < 0 ? 0 : count;
        out->formats[column] = 1;
        if (count > 0) place += count;
    }
}

/// The parameters of an UPDATE of the tallies: the changes of count and sum.
typedef struct tally_parameters {
    char bytes[16];
    const char *values[2];
    int lengths[2], formats[2];
} tally_parameters;

static void set_tally(tally_parameters *out, int64_t count, uint64_t sum) {
    (void)append_raw(append_raw(out->bytes, (uint64_t)count), sum);
    for (int index = 0; index < 2; index++) {
        out->values[index] = out->bytes + 8 * index;
        out->lengths[index] = 8;
        out->formats[index] = 1;
    }
}

static int prepare_commit(baseline_run *run, PGconn *connection) {
    char sql[600];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO \"Track\" (%s) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        postgresql_track_columns);
    TRY(prepare(run, connection, "insert", sql));
    TRY(prepare(
        run, connection, "entity",
        "UPDATE _roost_tallies SET count = count + $1, sum = sum + $2 WHERE kind = 'entity' AND number = 1 AND place = 0"));
    TRY(prepare(
        run, connection, "generation",
        "UPDATE _roost_tallies SET count = count + $1, sum = sum + $2 WHERE kind = 'generation' AND number = 0 AND place = 0"));
    TRY(prepare(run, connection, "lock", LOCK));
    return prepare(run, connection, "key", "INSERT INTO _roost_commits (id) VALUES ($1)");
}

/// Creates the key of a commit: 16 unique bytes.
static void make_key(postgresql_session *session, char out[16]) {
    (void)append_raw(append_raw(out, (uint64_t)PQbackendPID(session->connection)), session->commit++);
}

static int update_tally(baseline_run *run, PGconn *connection, const char *name, int64_t count, uint64_t sum) {
    tally_parameters tally;
    set_tally(&tally, count, sum);
    PGresult *result = PQexecPrepared(connection, name, 2, tally.values, tally.lengths, tally.formats, 1);
    if (strcmp(PQcmdTuples(result), "1") != 0) {
        PQclear(result);
        return postgresql_fail(run, connection);
    }
    return postgresql_require(run, connection, result);
}

/// Commits one durable transaction, statement by statement.
static int commit_once(baseline_run *run, postgresql_session *session, postgresql_copy *copy) {
    PGconn *connection = session->connection;
    int64_t album_count = tracks_album_count(run->track_count);
    uint64_t sum = 0;
    TRY(postgresql_execute(run, connection, BEGIN_COMMIT));
    int is_copied = run->batch_size >= FEWEST_COPIED;
    if (is_copied) TRY(postgresql_begin_copy(run, copy, connection, POSTGRESQL_COPY_TRACKS));
    for (int64_t place = 0; place < run->batch_size; place++) {
        track value;
        track_make(session->next_id++, album_count, &value);
        uint64_t checksum = track_checksum(&value);
        run->checksum += checksum;
        // Prevents an overflow of the server's numbers.
        sum += checksum & 0xFFFFFF;
        if (is_copied) {
            TRY(postgresql_copy_track(run, copy, &value));
        } else {
            row_parameters row;
            set_parameters(&row, &value);
            TRY(postgresql_require(
                run, connection,
                PQexecPrepared(connection, "insert", 13, row.values, row.lengths, row.formats, 1)));
        }
    }
    if (is_copied) TRY(postgresql_end_copy(run, copy));
    TRY(update_tally(run, connection, "entity", run->batch_size, sum));
    TRY(update_tally(run, connection, "generation", 1, 0));
    unsigned char key[16];
    make_key(session, (char *)key);
    char sql[160];
    int length = snprintf(sql, sizeof sql, "INSERT INTO _roost_commits (id) VALUES ('");
    for (int index = 0; index < 16; index++) {
        length += snprintf(sql + length, sizeof sql - (size_t)length, "%02x", key[index]);
    }
    snprintf(sql + length, sizeof sql - (size_t)length, "'); COMMIT");
    return postgresql_execute(run, connection, sql);
}

static int transactions(baseline_run *run) {
    postgresql_session *session = run->state;
    postgresql_copy *copy = malloc(sizeof *copy);
    if (copy == NULL) return baseline_fail(run, "out of memory");
    int result = prepare_commit(run, session->connection);
    for (int64_t index = 0; result == 0 && index < run->repetitions; index++) {
        result = commit_once(run, session, copy);
    }
    free(copy);
    run->unit_count = (uint64_t)run->repetitions;
    return result;
}

/// Ends a pipeline, and reads the results of its statements.
static int end_pipeline(baseline_run *run, PGconn *connection) {
    if (PQpipelineSync(connection) != 1) return postgresql_fail(run, connection);
    int result = 0;
    for (;;) {
        PGresult *answer = PQgetResult(connection);
        if (answer == NULL) continue;
        ExecStatusType status = PQresultStatus(answer);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(answer);
            return result;
        }
        if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
            PQclear(answer);
        } else {
            if (PQstatus(connection) != CONNECTION_OK || status == PGRES_FATAL_ERROR) {
                result = postgresql_fail(run, connection);
            }
            PQclear(answer);
            if (PQstatus(connection) != CONNECTION_OK) return -1;
        }
    }
}

static int send_prepared(
    PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats
) {
    return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) == 1 ? 0 : -1;
}

/// Commits one durable transaction in a pipeline, and waits for the server once.
static int commit_in_pipeline(baseline_run *run, postgresql_session *session) {
    PGconn *connection = session->connection;
    int64_t album_count = tracks_album_count(run->track_count);
    uint64_t sum = 0;
    int result = send_prepared(connection, "begin", 0, NULL, NULL, NULL);
    if (result == 0) result = send_prepared(connection, "lock", 0, NULL, NULL, NULL);
    for (int64_t place = 0; result == 0 && place < run->batch_size; place++) {
        track value;
        row_parameters row;
        track_make(session->next_id++, album_count, &value);
        uint64_t checksum = track_checksum(&value);
        run->checksum += checksum;
        // Prevents an overflow of the server's numbers.
        sum += checksum & 0xFFFFFF;
        set_parameters(&row, &value);
        result = send_prepared(connection, "insert", 13, row.values, row.lengths, row.formats);
    }
    tally_parameters tally;
    set_tally(&tally, run->batch_size, sum);
    if (result == 0) result = send_prepared(connection, "entity", 2, tally.values, tally.lengths, tally.formats);
    set_tally(&tally, 1, 0);
    if (result == 0) result = send_prepared(connection, "generation", 2, tally.values, tally.lengths, tally.formats);
    char key[16];
    make_key(session, key);
    const char *values[] = {key};
    const int lengths[] = {16}, formats[] = {1};
    if (result == 0) result = send_prepared(connection, "key", 1, values, lengths, formats);
    if (result == 0) result = send_prepared(connection, "commit", 0, NULL, NULL, NULL);
    if (result != 0) return postgresql_fail(run, connection);
    return end_pipeline(run, connection);
}

static int transactions_in_pipeline(baseline_run *run) {
    postgresql_session *session = run->state;
    PGconn *connection = session->connection;
    TRY(prepare_commit(run, connection));
    TRY(prepare(run, connection, "begin", "BEGIN"));
    TRY(prepare(run, connection, "commit", "COMMIT"));
    if (PQenterPipelineMode(connection) != 1) return postgresql_fail(run, connection);
    int result = 0;
    for (int64_t index = 0; result == 0 && index < run->repetitions; index++) {
        result = commit_in_pipeline(run, session);
    }
    run->unit_count = (uint64_t)run->repetitions;
    if (PQexitPipelineMode(connection) != 1 && result == 0) return postgresql_fail(run, connection);
    return result;
}

// MARK: Converting

/// Connects, so that `close_session` can remove the tables that the conversion creates.
static int open_connection(baseline_run *run) {
    postgresql_session *session = calloc(1, sizeof *session);
    if (session == NULL) return baseline_fail(run, "out of memory");
    run->state = session;
    return postgresql_open(run, &session->connection);
}

static int convert_sqlite(baseline_run *run) { return convert_store(run, &sqlite_kind, &postgresql_kind); }

const baseline postgresql_baselines[] = {
    {"postgresql-from-sqlite", open_connection, convert_sqlite, close_session, NULL},
    {"postgresql-load", open_empty, load, close_session, NULL},
    {"postgresql-read", open_empty, read_everything, close_session, NULL},
    {"postgresql-scan", open_full, scan, close_session, NULL},
    {"postgresql-scan-unordered", open_full, scan_unordered, close_session, NULL},
    {"postgresql-point-read", open_full, point_read, close_session, NULL},
    {"postgresql-transactions", open_full, transactions, close_session, NULL},
    {"postgresql-transactions-pipelined", open_full, transactions_in_pipeline, close_session, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#else
#include "stores.h"

/// Without libpq there are no baselines.
const baseline postgresql_baselines[] = {{NULL, NULL, NULL, NULL, NULL}};
#endif
