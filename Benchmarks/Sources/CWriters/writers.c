#ifdef BASELINES_POSTGRESQL

#include "CWriters.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "roost_writers_baseline"
#define COUNTERS 1000

/// The tables that a commit writes, as in a Roost store with one entity.
static const char tables[] =
    "DROP SCHEMA IF EXISTS " SCHEMA " CASCADE; CREATE SCHEMA " SCHEMA "; SET search_path = " SCHEMA ";"
    "CREATE TABLE \"Counter\" (_id BIGINT NOT NULL PRIMARY KEY, value BIGINT, _entity BIGINT NOT NULL,"
    " _version BIGINT NOT NULL, _checksum BIGINT NOT NULL);"
    "CREATE TABLE _roost_tallies (kind TEXT COLLATE \"C\" NOT NULL, number BIGINT NOT NULL, place BIGINT NOT NULL,"
    " count BIGINT NOT NULL, sum BIGINT NOT NULL, PRIMARY KEY (kind, number, place));"
    "INSERT INTO _roost_tallies SELECT 'generation', 0, p, 0, 1 FROM generate_series(0, 31) p;"
    "INSERT INTO _roost_tallies SELECT 'entity', 0, p, 0, 0 FROM generate_series(0, 31) p;"
    "CREATE TABLE _roost_commits (id UUID NOT NULL PRIMARY KEY,"
    " at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(), is_fence BOOLEAN NOT NULL DEFAULT FALSE);"
    "INSERT INTO \"Counter\" SELECT i, 0, 0, 1, 0 FROM generate_series(1, 1000) i";

static int fail(writers_run *run, PGconn *connection) {
    snprintf(run->error, sizeof run->error, "libpq: %s", PQerrorMessage(connection));
    return -1;
}

static int execute(writers_run *run, PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : fail(run, connection);
}

static PGconn *open_connection(writers_run *run) {
    PGconn *connection = PQconnectdb(run->parameters);
    if (PQstatus(connection) == CONNECTION_OK
        && execute(run, connection, "SET client_min_messages = warning; SET synchronous_commit = on; SET search_path = " SCHEMA) == 0) {
        return connection;
    }
    fail(run, connection);
    PQfinish(connection);
    return NULL;
}

static int prepare(writers_run *run, PGconn *connection, const char *name, const char *sql) {
    PGresult *result = PQprepare(connection, name, sql, 0, NULL);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK ? 0 : fail(run, connection);
}

/// Runs a prepared statement with numbers, and stores the first number of the first row in `out`.
/// If `out` is NULL, the statement must change one row.
static int run_prepared(
    writers_run *run, PGconn *connection, const char *name, int count, const int64_t *numbers, int64_t *out
) {
    uint64_t bytes[6];
    const char *values[6];
    int lengths[6], formats[6];
    for (int index = 0; index < count; index++) {
        bytes[index] = __builtin_bswap64((uint64_t)numbers[index]);
        values[index] = (const char *)&bytes[index];
        lengths[index] = 8;
        formats[index] = 1;
    }
    PGresult *result = PQexecPrepared(connection, name, count, values, lengths, formats, 1);
    ExecStatusType status = PQresultStatus(result);
    int failed = status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
    if (!failed && out != NULL) {
        if (PQntuples(result) == 0) {
            failed = 1;
        } else {
            uint64_t value;
            memcpy(&value, PQgetvalue(result, 0, 0), sizeof value);
            *out = (int64_t)__builtin_bswap64(value);
        }
    }
    if (!failed && out == NULL && strcmp(PQcmdTuples(result), "1") != 0) failed = 1;
    PQclear(result);
    return failed ? fail(run, connection) : 0;
}

int writers_prepare(writers_run *run) {
    PGconn *connection = PQconnectdb(run->parameters);
    int result = PQstatus(connection) == CONNECTION_OK ? execute(run, connection, tables) : fail(run, connection);
    PQfinish(connection);
    return result;
}

typedef struct writer {
    writers_run run;
    int number;
    int result;
} writer;

static int commit_once(writer *writer, PGconn *connection, int64_t index, int64_t *values) {
    writers_run *run = &writer->run;
    int64_t place, found;
    if (execute(run, connection, "BEGIN ISOLATION LEVEL READ COMMITTED") != 0) return -1;
    if (run_prepared(run, connection, "place", 0, NULL, &place) != 0) return -1;
    if (index % 2 == 0) {
        // A counter of this thread.
        int64_t slot = (index / 2) % (COUNTERS / run->thread_count);
        int64_t id = slot * run->thread_count + writer->number + 1;
        if (run_prepared(run, connection, "lock", 1, &id, &found) != 0) return -1;
        if (found != values[slot]) return fail(run, connection);
        values[slot]++;
        int64_t parameters[] = {values[slot], values[slot] + 1, id * 31 + values[slot], id, values[slot]};
        if (run_prepared(run, connection, "update", 5, parameters, NULL) != 0) return -1;
    } else {
        int64_t id = 1000000 + writer->number * 100000000LL + index;
        int64_t parameters[] = {id, 1, id * 31};
        if (run_prepared(run, connection, "insert", 3, parameters, NULL) != 0) return -1;
    }
    int64_t entity[] = {index % 2, index * 7, place};
    if (run_prepared(run, connection, "entity", 3, entity, NULL) != 0) return -1;
    int64_t generation[] = {index * 1234567 + 1, place};
    if (run_prepared(run, connection, "generation", 2, generation, NULL) != 0) return -1;
    char sql[200];
    snprintf(
        sql, sizeof sql, "INSERT INTO _roost_commits (id) VALUES ('%08x-0000-4000-8000-%012" PRIx64 "'); COMMIT",
        (unsigned)writer->number, (uint64_t)index);
    return execute(run, connection, sql);
}

static void *write_all(void *argument) {
    writer *writer = argument;
    writers_run *run = &writer->run;
    writer->result = -1;
    PGconn *connection = open_connection(run);
    if (connection == NULL) return NULL;
    int64_t *values = calloc(COUNTERS, sizeof *values);
    int result = values == NULL ? -1 : 0;
    static const char *const statements[][2] = {
        {"place",
         "SELECT place FROM _roost_tallies WHERE kind = 'generation' AND number = 0 ORDER BY place LIMIT 1"
         " FOR UPDATE SKIP LOCKED"},
        {"lock", "SELECT value, _version, _checksum FROM \"Counter\" WHERE _id = $1 FOR NO KEY UPDATE"},
        {"update", "UPDATE \"Counter\" SET value = $1, _version = $2, _checksum = $3 WHERE _id = $4 AND _version = $5"},
        {"insert", "INSERT INTO \"Counter\" (_id, value, _entity, _version, _checksum) VALUES ($1, $2, 0, 1, $3)"},
        {"entity",
         "UPDATE _roost_tallies SET count = count + $1, sum = sum + $2"
         " WHERE kind = 'entity' AND number = 0 AND place = $3"},
        {"generation",
         "UPDATE _roost_tallies SET count = count + $1 WHERE kind = 'generation' AND number = 0 AND place = $2"},
    };
    for (size_t index = 0; result == 0 && index < sizeof statements / sizeof *statements; index++) {
        result = prepare(run, connection, statements[index][0], statements[index][1]);
    }
    for (int64_t index = 0; result == 0 && index < run->commit_count; index++) {
        result = commit_once(writer, connection, index, values);
    }
    free(values);
    PQfinish(connection);
    writer->result = result;
    return NULL;
}

int writers_commit(writers_run *run) {
    writer writers[64];
    pthread_t threads[64];
    int result = 0;
    for (int number = 0; number < run->thread_count; number++) {
        writers[number] = (writer){*run, number, 0};
        pthread_create(&threads[number], NULL, write_all, &writers[number]);
    }
    for (int number = 0; number < run->thread_count; number++) {
        pthread_join(threads[number], NULL);
        if (writers[number].result != 0) {
            memcpy(run->error, writers[number].run.error, sizeof run->error);
            result = -1;
        }
    }
    return result;
}

int writers_finish(writers_run *run) {
    PGconn *connection = open_connection(run);
    if (connection == NULL) return -1;
    PGresult *rows = PQexec(
        connection, "SELECT sum(value) FROM \"Counter\" WHERE _id <= 1000 UNION ALL"
                    " SELECT count(*) FROM \"Counter\" WHERE _id > 1000 UNION ALL"
                    " SELECT sum(count) FROM _roost_tallies WHERE kind = 'entity'");
    int result = 0;
    int64_t expected = run->commit_count / 2 * run->thread_count;
    for (int row = 0; row < 3; row++) {
        if (PQntuples(rows) == 3 && atoll(PQgetvalue(rows, row, 0)) == expected) continue;
        snprintf(run->error, sizeof run->error, "a counter, object or tally sum differs from %" PRId64, expected);
        result = -1;
    }
    PQclear(rows);
    if (execute(run, connection, "DROP SCHEMA " SCHEMA " CASCADE") != 0) result = -1;
    PQfinish(connection);
    return result;
}
#endif
