/// Tables like those of a Roost store on a PostgreSQL server, written and read with libpq.
#ifndef POSTGRESQL_STORE_H
#define POSTGRESQL_STORE_H

#include <libpq-fe.h>

#include "stores.h"

/// The maximum number of bytes of a track or an album in a COPY.
#define POSTGRESQL_ROW_LIMIT 512

#define POSTGRESQL_COPY_TRACKS \
    "COPY \"Track\" (_id, _entity, _version, _checksum, title, artist, duration, \"playCount\", loved, date, uuid," \
    " thumb, album) FROM STDIN (FORMAT binary)"

/// The columns of a track, in the order in which they are read and written.
extern const char *const postgresql_track_columns;

/// Rows that are not yet sent to the server.
typedef struct postgresql_copy {
    PGconn *connection;
    size_t count;
    char bytes[(256 << 10) + POSTGRESQL_ROW_LIMIT];
} postgresql_copy;

/// Connects to the server that the environment variable ROOST_POSTGRES names.
int postgresql_open(baseline_run *run, PGconn **out);
void postgresql_close(PGconn *connection);
/// Stores the connection's error message in the run, and returns -1.
int postgresql_fail(baseline_run *run, PGconn *connection);
/// Frees a result, and fails if the statement failed.
int postgresql_require(baseline_run *run, PGconn *connection, PGresult *result);
int postgresql_execute(baseline_run *run, PGconn *connection, const char *sql);
int postgresql_remove(baseline_run *run, PGconn *connection);

/// Replaces the tables by empty ones. Then loads them by COPY and creates the index, in one
/// transaction.
int postgresql_load(
    baseline_run *run, PGconn *connection, const album *albums, int64_t album_count, const track *tracks,
    int64_t track_count);

/// The operations on PostgreSQL tables. There is no `read_all`.
extern const store_kind postgresql_kind;

int postgresql_begin_copy(baseline_run *run, postgresql_copy *copy, PGconn *connection, const char *sql);
int postgresql_copy_track(baseline_run *run, postgresql_copy *copy, const track *value);
int postgresql_end_copy(baseline_run *run, postgresql_copy *copy);

/// Encodes a row for COPY: the number of columns, then the length and bytes of each. Returns the
/// byte count.
size_t postgresql_encode_track(char *out, const track *value);
size_t postgresql_encode_album(char *out, const album *value);

/// Reads all columns of a track from a row in binary format.
void postgresql_read_track(const PGresult *result, int row, track *out);

/// Sends every track, in key order or in storage order.
int postgresql_send_tracks(baseline_run *run, PGconn *connection, int is_ordered, const object_sink *sink);
/// Sends every album, then every track.
int postgresql_send_all(baseline_run *run, PGconn *connection, const object_sink *sink);

#endif
