#define _GNU_SOURCE
#include "folded_text.h"

#include <stdint.h>
#include <string.h>

/// The lower-case base letters of U+00C0 to U+00FF; 0 for characters without a base letter.
static const char latin[65] = "aaaaaa\0ceeeeiiii\0nooooo\0\0uuuuy\0\0aaaaaa\0ceeeeiiii\0nooooo\0\0uuuuy\0y";

int contains_folded(const char *text, size_t length, const char *folded, size_t folded_length) {
    // Folding never makes a text longer.
    char buffer[512];
    if (length > sizeof buffer) return 0;
    size_t count = 0;
    for (size_t place = 0; place < length; place++) {
        uint8_t byte = (uint8_t)text[place];
        if (byte < 0x80) {
            buffer[count++] = (char)(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
        } else if (byte == 0xC3 && place + 1 < length) {
            uint8_t next = (uint8_t)text[++place];
            char letter = next >= 0x80 ? latin[next - 0x80] : 0;
            if (next == 0x9F) {
                buffer[count++] = 's';
                buffer[count++] = 's';
            } else if (letter != 0) {
                buffer[count++] = letter;
            } else {
                buffer[count++] = (char)byte;
                buffer[count++] = (char)next;
            }
        } else {
            buffer[count++] = (char)byte;
        }
    }
    return memmem(buffer, count, folded, folded_length) != NULL;
}
