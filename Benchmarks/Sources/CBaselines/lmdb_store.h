#ifndef LMDB_STORE_H
#define LMDB_STORE_H

#include <lmdb.h>

#include "stores.h"

typedef struct lmdb_store {
    MDB_env *environment;
    MDB_dbi tracks, albums, tracks_by_album, tracks_by_title;
} lmdb_store;

/// The maximum number of bytes of a packed object.
#define LMDB_PACKED_LIMIT 256

/// Opens or creates the environment. Commits wait for the disk only if `is_flushed`.
int lmdb_open(baseline_run *run, const char *path, int is_flushed, lmdb_store *out);

void lmdb_close(lmdb_store *store);

/// Stores the message of an LMDB error code in the run, and returns -1.
int lmdb_fail(baseline_run *run, int code);

/// Packs all values except the number, and returns the byte count.
size_t lmdb_pack_track(const track *value, uint8_t *out);
void lmdb_unpack_track(int64_t id, const uint8_t *bytes, track *out);
void lmdb_unpack_album(int64_t id, const uint8_t *bytes, album *out);

/// The offsets of the fields in a packed track.
enum {
    PACKED_DURATION = 0,
    PACKED_DATE = 8,
    PACKED_PLAY_COUNT = 16,
    PACKED_ALBUM = 24,
    PACKED_UUID = 32,
    PACKED_LOVED = 48,
    PACKED_TITLE_LENGTH = 49,
    PACKED_ARTIST_LENGTH = 50,
    PACKED_THUMB_LENGTH = 51,
    PACKED_TITLE = 52,
};

int64_t lmdb_number(const void *bytes);

/// Sends every track, in one read transaction.
int lmdb_send_tracks(baseline_run *run, const lmdb_store *store, const object_sink *sink);

/// Runs a call of LMDB, and returns -1 from the function if the call fails.
#define TRY_LMDB(run, call) \
    do { \
        int code_ = (call); \
        if (code_ != MDB_SUCCESS) return lmdb_fail(run, code_); \
    } while (0)

#endif
