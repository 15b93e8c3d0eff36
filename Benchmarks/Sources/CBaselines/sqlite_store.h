#ifndef SQLITE_STORE_H
#define SQLITE_STORE_H

#include <sqlite3.h>

#include "stores.h"

/// The columns of a track, in the order in which they are bound and read.
#define TRACK_COLUMNS "id, title, artist, duration, play_count, loved, date, uuid, thumb, album"
#define TRACK_COLUMN_COUNT 10

/// Opens or creates a database, and runs `pragmas`.
int sqlite_open(baseline_run *run, const char *path, const char *pragmas, sqlite3 **out);

/// Runs statements without results.
int sqlite_execute(baseline_run *run, sqlite3 *database, const char *sql);

/// Prepares a statement that is used many times.
int sqlite_prepare(baseline_run *run, sqlite3 *database, const char *sql, sqlite3_stmt **out);

/// Runs a prepared statement without rows, and resets the statement.
int sqlite_finish_step(baseline_run *run, sqlite3 *database, sqlite3_stmt *statement);

/// Stores the message of the database's last error in the run, and returns -1.
int sqlite_fail(baseline_run *run, sqlite3 *database);

/// Binds the columns of a track, starting at parameter 1. The track must stay valid until the step.
void sqlite_bind_track(sqlite3_stmt *statement, const track *value);

/// Reads the columns of a track from the current row.
void sqlite_read_track(sqlite3_stmt *statement, track *out);

/// Reads id, title and year of an album from the current row.
void sqlite_read_album(sqlite3_stmt *statement, album *out);

/// Sends every track of an open database.
int sqlite_send_tracks(baseline_run *run, sqlite3 *database, const object_sink *sink);

#endif
