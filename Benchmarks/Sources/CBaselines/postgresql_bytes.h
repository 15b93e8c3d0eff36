/// Values in the binary format of PostgreSQL, which is big-endian.
#ifndef POSTGRESQL_BYTES_H
#define POSTGRESQL_BYTES_H

#include <stdint.h>
#include <string.h>

static inline char *append_int16(char *out, int16_t number) {
    uint16_t value = __builtin_bswap16((uint16_t)number);
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

static inline char *append_int32(char *out, int32_t number) {
    uint32_t value = __builtin_bswap32((uint32_t)number);
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

/// Appends the bytes of a number, without a length.
static inline char *append_raw(char *out, uint64_t bits) {
    bits = __builtin_bswap64(bits);
    memcpy(out, &bits, sizeof bits);
    return out + sizeof bits;
}

/// Appends a column with a number.
static inline char *append_long(char *out, int64_t number) {
    return append_raw(append_int32(out, 8), (uint64_t)number);
}

static inline char *append_double(char *out, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return append_raw(append_int32(out, 8), bits);
}

/// Appends a column with bytes, or null for a negative length.
static inline char *append_bytes(char *out, const void *bytes, int32_t length) {
    out = append_int32(out, length < 0 ? -1 : length);
    if (length <= 0) return out;
    memcpy(out, bytes, (size_t)length);
    return out + length;
}

static inline int64_t read_long(const char *bytes) {
    uint64_t bits;
    memcpy(&bits, bytes, sizeof bits);
    return (int64_t)__builtin_bswap64(bits);
}

static inline double read_double(const char *bytes) {
    int64_t bits = read_long(bytes);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

#endif
