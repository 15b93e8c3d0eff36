#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <string>
#include <string_view>

#include "CTracks.h"

/// Appends an object as JSON, `{"id": 7, …}`, without its null values.
void append_json(const track &value, std::string &text);
void append_json(const album &value, std::string &text);

/// Decodes base64 into `out`, at most `limit` bytes. Returns the byte count, or -1 for invalid
/// text.
int decode_base64(std::string_view text, uint8_t *out, size_t limit);

/// Decodes the text of a UUID. Returns false for invalid text.
bool decode_uuid(std::string_view text, uint8_t *out);

#endif
