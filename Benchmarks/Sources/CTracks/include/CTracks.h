/// The workload "tracks": objects computed from their numbers, for both sides of every benchmark.
#ifndef CTRACKS_H
#define CTRACKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The length of a text or data value that is null.
#define TRACK_NULL (-1)

/// A track. Its texts are UTF-8 without a terminating zero.
typedef struct track {
    int64_t id;
    int64_t play_count;
    int64_t album;
    double duration;
    /// Seconds since 2001-01-01.
    double date;
    uint8_t uuid[16];
    uint8_t loved;
    int16_t title_length;
    int16_t artist_length;
    int16_t thumb_length;
    char title[64];
    char artist[40];
    uint8_t thumb[64];
} track;

/// An album, with twenty tracks on average.
typedef struct album {
    int64_t id;
    int64_t year;
    int16_t title_length;
    char title[64];
} album;

/// Returns the number of albums for a number of tracks: one for every twenty tracks, at least one.
int64_t tracks_album_count(int64_t track_count);

/// Creates the track with the given number, from 1, of a library with `album_count` albums.
void track_make(int64_t id, int64_t album_count, track *out);

/// Creates the album with the given number, from 1.
void album_make(int64_t id, album *out);

/// Returns a number that depends on every property of a track. The checksum of several tracks is
/// the sum of their checksums.
uint64_t track_checksum(const track *value);

/// Returns a number that depends on every property of an album.
uint64_t album_checksum(const album *value);

/// Returns element `index` of a fixed, scattered sequence of numbers from 1 to `count`, with
/// repetitions.
int64_t tracks_random_key(uint64_t index, int64_t count);

/// The buffer size for each text of `tracks_title_range`.
#define TRACK_TITLE_LIMIT 64

/// Returns element `index` of a fixed, scattered sequence of title ranges. Each range has the
/// titles that begin with the first two words of some track's title. It includes `lower` and
/// excludes `upper`. Both texts end with a zero.
void tracks_title_range(uint64_t index, int64_t track_count, char *lower, char *upper);

/// Returns element `index`, which must be below `count`, of a fixed permutation of the numbers from
/// 1 to `count`.
int64_t tracks_distinct_key(uint64_t index, int64_t count);

/// Returns the new play count in the benchmark "update".
static inline int64_t track_updated_play_count(int64_t play_count) { return play_count + 1; }

/// Returns the new date of the track at `index` in the benchmark "update".
static inline double track_updated_date(uint64_t index) { return 800000000.0 + (double)index; }

#ifdef __cplusplus
}
#endif

#endif
