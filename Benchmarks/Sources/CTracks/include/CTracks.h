/// The workload "tracks": objects that follow from their numbers, for both sides of every benchmark.
#ifndef CTRACKS_H
#define CTRACKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The length of a text or data value that is null.
#define TRACK_NULL (-1)

/// A track; its texts are UTF-8 without a zero at the end.
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

/// An album; twenty tracks belong to one on average.
typedef struct album {
    int64_t id;
    int64_t year;
    int16_t title_length;
    char title[64];
} album;

/// How many albums go with this many tracks: one for twenty, at least one.
int64_t tracks_album_count(int64_t track_count);

/// Makes the track with this number, 1 or more, of a library with `album_count` albums.
void track_make(int64_t id, int64_t album_count, track *out);

/// Makes the album with this number, 1 or more.
void album_make(int64_t id, album *out);

/// A number that depends on every property of a track; of many tracks the sum counts, in any order.
uint64_t track_checksum(const track *value);

/// A number that depends on every property of an album.
uint64_t album_checksum(const album *value);

/// Place `index` of a fixed, scattered sequence of numbers from 1 to `count`; numbers occur more than once.
int64_t tracks_random_key(uint64_t index, int64_t count);

/// The room that each text of `tracks_title_range` needs.
#define TRACK_TITLE_LIMIT 64

/// Place `index` of a fixed, scattered sequence of ranges of titles: from `lower` on, and before `upper`. Each is the range of the
/// titles that begin with the first two words of some track's title. Both texts end with a zero.
void tracks_title_range(uint64_t index, int64_t track_count, char *lower, char *upper);

/// Place `index`, below `count`, of a fixed, scattered order of the numbers from 1 to `count`; each occurs once.
int64_t tracks_distinct_key(uint64_t index, int64_t count);

/// The play count that the benchmark "update" gives to a track: one more than before.
static inline int64_t track_updated_play_count(int64_t play_count) { return play_count + 1; }

/// The date that the benchmark "update" gives to the track it updates at place `index`.
static inline double track_updated_date(uint64_t index) { return 800000000.0 + (double)index; }

#ifdef __cplusplus
}
#endif

#endif
