#include "CTracks.h"

#include <string.h>

/// Returns a pseudorandom number for any number, by a step of SplitMix64.
static uint64_t mix(uint64_t value) {
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

/// The words of titles. Some are not ASCII.
static const char *const words[64] = {
    "Love", "Night", "River", "Blue", "Summer", "Moon", "Dance", "Fire",
    "Heart", "Rain", "Golden", "Silver", "Dream", "Road", "Light", "Shadow",
    "Winter", "Ocean", "Star", "City", "Home", "Again", "Forever", "Lonely",
    "Sweet", "Wild", "Angel", "Thunder", "Electric", "Paper", "Broken", "Crystal",
    "Velvet", "Midnight", "Morning", "Echo", "Garden", "Stone", "Mirror", "Ghost",
    "Island", "Train", "Window", "Color", "Memory", "Whisper", "Storm", "Desert",
    "Caf\xc3\xa9", "Na\xc3\xafve", "\xc3\x89toile", "\xe6\x9d\xb1\xe4\xba\xac",
    "Se\xc3\xb1or", "Gr\xc3\xbc\xc3\x9f", "Hey", "Of", "The", "In", "My", "You", "Run", "Go", "Up", "On",
};

/// Writes `count` words that `seed` selects, with spaces between, and returns the byte count.
static int16_t write_phrase(uint64_t seed, int count, char *out) {
    size_t length = 0;
    for (int place = 0; place < count; place++) {
        const char *word = words[(seed >> (6 * place)) & 63];
        size_t bytes = strlen(word);
        if (place > 0) out[length++] = ' ';
        memcpy(out + length, word, bytes);
        length += bytes;
    }
    return (int16_t)length;
}

int64_t tracks_album_count(int64_t track_count) { return track_count < 40 ? 1 : track_count / 20; }

void track_make(int64_t id, int64_t album_count, track *out) {
    uint64_t a = mix((uint64_t)id * 11 + 1), b = mix(a), c = mix(b), d = mix(c), e = mix(d);
    out->id = id;
    out->title_length = write_phrase(a, 3 + (int)((a >> 40) % 3), out->title);
    if ((b & 1023) < 102) {
        out->artist_length = TRACK_NULL;
    } else {
        uint64_t artist = mix((b >> 10) % 20000 + 77);
        out->artist_length = write_phrase(artist, 2 + (int)((artist >> 50) & 1), out->artist);
    }
    out->duration = 60.0 + (double)(c % 540000) / 1000.0;
    out->play_count = (int64_t)(((c >> 20) % 5000) * ((c >> 40) % 5000) / 5000);
    out->loved = (c >> 60) == 0;
    out->date = 700000000.0 + (double)(d % 60000000000u) / 1000.0;
    memcpy(out->uuid, &d, 8);
    memcpy(out->uuid + 8, &e, 8);
    if ((e >> 8) % 5 == 0) {
        out->thumb_length = TRACK_NULL;
    } else {
        uint64_t bytes = e;
        out->thumb_length = (int16_t)((e >> 20) % 65);
        for (int offset = 0; offset < out->thumb_length; offset += 8) {
            bytes = mix(bytes);
            size_t left = (size_t)(out->thumb_length - offset);
            memcpy(out->thumb + offset, &bytes, left < 8 ? left : 8);
        }
    }
    out->album = (int64_t)((e >> 30) % (uint64_t)album_count) + 1;
}

void album_make(int64_t id, album *out) {
    uint64_t seed = mix((uint64_t)id * 7 + 5);
    out->id = id;
    out->year = 1950 + (int64_t)((seed >> 40) % 75);
    out->title_length = write_phrase(seed, 3, out->title);
}

/// Returns a checksum of the length, the first byte and the last byte of a text or data value.
static uint64_t bytes_checksum(const void *bytes, int16_t length, uint64_t weight) {
    if (length < 0) return 0;
    if (length == 0) return weight;
    const uint8_t *values = bytes;
    return weight * ((uint64_t)length + 1) + values[0] * 3u + values[length - 1];
}

uint64_t track_checksum(const track *value) {
    uint64_t sum = (uint64_t)value->id * 3 + (uint64_t)value->play_count * 5 + (uint64_t)value->album * 7;
    sum += (uint64_t)(int64_t)(value->duration * 1000.0 + 0.5) + (uint64_t)(int64_t)value->date;
    sum += (uint64_t)value->loved + value->uuid[0] + value->uuid[15];
    sum += bytes_checksum(value->title, value->title_length, 11);
    sum += bytes_checksum(value->artist, value->artist_length, 13);
    sum += bytes_checksum(value->thumb, value->thumb_length, 17);
    return sum;
}

uint64_t album_checksum(const album *value) {
    return (uint64_t)value->id * 3 + (uint64_t)value->year * 5 + bytes_checksum(value->title, value->title_length, 11);
}

int64_t tracks_random_key(uint64_t index, int64_t count) {
    return (int64_t)(mix(index * 31 + 12345) % (uint64_t)count) + 1;
}

void tracks_title_range(uint64_t index, int64_t track_count, char *lower, char *upper) {
    track value;
    track_make(tracks_random_key(index, track_count), tracks_album_count(track_count), &value);
    // Every title has at least three words, and a space after the second word.
    size_t length = 0;
    for (int spaces = 0; length < (size_t)value.title_length; length++) {
        spaces += value.title[length] == ' ';
        if (spaces == 2) break;
    }
    memcpy(lower, value.title, length);
    memcpy(upper, value.title, length);
    // In ASCII, `!` follows the space.
    upper[length] = '!';
    lower[length] = upper[length + 1] = 0;
}

int64_t tracks_distinct_key(uint64_t index, int64_t count) {
    // Applies a permutation of the numbers below the next power of two until the result is below
    // `count`.
    uint64_t mask = 1;
    while (mask < (uint64_t)count) mask <<= 1;
    mask -= 1;
    uint64_t value = index;
    do {
        value = (value * 0x9E375u + 0x1234567u) & mask;
        value ^= value >> 11;
        value = (value * 0xC2B2Du) & mask;
        value ^= value >> 9;
    } while (value >= (uint64_t)count);
    return (int64_t)value + 1;
}
