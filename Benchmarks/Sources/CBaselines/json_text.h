#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <string>
#include <string_view>

#include "CTracks.h"

/// Appends `{"id": 7, …}` to a text; null values are left out.
void append_json(const track &value, std::string &text);
void append_json(const album &value, std::string &text);

/// Reads base64 into `out`, at most `limit` bytes; returns how many, or -1 when it is none.
int decode_base64(std::string_view text, uint8_t *out, size_t limit);

/// Reads a UUID's text.
bool decode_uuid(std::string_view text, uint8_t *out);

#endif
