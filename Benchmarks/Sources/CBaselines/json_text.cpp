#include "json_text.h"

#include <array>
#include <charconv>

namespace {

const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const char hexadecimal_digits[] = "0123456789ABCDEF";

/// Returns the value of each character that is a digit, and 255 for all other characters.
std::array<uint8_t, 256> digit_values(const char *digits, size_t count) {
    std::array<uint8_t, 256> values;
    values.fill(255);
    for (size_t index = 0; index < count; index++) values[static_cast<uint8_t>(digits[index])] = static_cast<uint8_t>(index);
    return values;
}

template <typename Number> void append_number(Number value, std::string &text) {
    char digits[32];
    auto end = std::to_chars(digits, digits + sizeof digits, value);
    text.append(digits, end.ptr);
}

void append_string(const char *bytes, int length, std::string &text) {
    text.push_back('"');
    int plain = 0;
    for (int index = 0; index < length; index++) {
        unsigned char byte = static_cast<unsigned char>(bytes[index]);
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        text.append(bytes + plain, static_cast<size_t>(index - plain));
        plain = index + 1;
        if (byte == '"' || byte == '\\') {
            text.push_back('\\');
            text.push_back(static_cast<char>(byte));
        } else {
            text.append("\\u00");
            text.push_back(hexadecimal_digits[byte >> 4]);
            text.push_back(hexadecimal_digits[byte & 15]);
        }
    }
    text.append(bytes + plain, static_cast<size_t>(length - plain));
    text.push_back('"');
}

void append_base64(const uint8_t *bytes, int length, std::string &text) {
    text.push_back('"');
    for (int index = 0; index < length; index += 3) {
        int count = length - index < 3 ? length - index : 3;
        uint32_t group = static_cast<uint32_t>(bytes[index]) << 16;
        if (count > 1) group |= static_cast<uint32_t>(bytes[index + 1]) << 8;
        if (count > 2) group |= bytes[index + 2];
        text.push_back(base64_digits[group >> 18]);
        text.push_back(base64_digits[group >> 12 & 63]);
        text.push_back(count > 1 ? base64_digits[group >> 6 & 63] : '=');
        text.push_back(count > 2 ? base64_digits[group & 63] : '=');
    }
    text.push_back('"');
}

void append_uuid(const uint8_t *bytes, std::string &text) {
    char characters[38];
    char *end = characters;
    *end++ = '"';
    for (int index = 0; index < 16; index++) {
        if (index == 4 || index == 6 || index == 8 || index == 10) *end++ = '-';
        *end++ = hexadecimal_digits[bytes[index] >> 4];
        *end++ = hexadecimal_digits[bytes[index] & 15];
    }
    *end++ = '"';
    text.append(characters, end);
}

}  // namespace

void append_json(const track &value, std::string &text) {
    text.append("{\"id\": ");
    append_number(value.id, text);
    text.append(", \"version\": 1, \"album\": ");
    append_number(value.album, text);
    if (value.artist_length >= 0) {
        text.append(", \"artist\": ");
        append_string(value.artist, value.artist_length, text);
    }
    text.append(", \"date\": ");
    append_number(value.date, text);
    text.append(", \"duration\": ");
    append_number(value.duration, text);
    text.append(value.loved ? ", \"loved\": true, \"playCount\": " : ", \"loved\": false, \"playCount\": ");
    append_number(value.play_count, text);
    if (value.thumb_length >= 0) {
        text.append(", \"thumb\": ");
        append_base64(value.thumb, value.thumb_length, text);
    }
    text.append(", \"title\": ");
    append_string(value.title, value.title_length, text);
    text.append(", \"uuid\": ");
    append_uuid(value.uuid, text);
    text.push_back('}');
}

void append_json(const album &value, std::string &text) {
    text.append("{\"id\": ");
    append_number(value.id, text);
    text.append(", \"version\": 1, \"title\": ");
    append_string(value.title, value.title_length, text);
    text.append(", \"year\": ");
    append_number(value.year, text);
    text.push_back('}');
}

int decode_base64(std::string_view text, uint8_t *out, size_t limit) {
    static const std::array<uint8_t, 256> values = digit_values(base64_digits, 64);
    while (!text.empty() && text.back() == '=') text.remove_suffix(1);
    size_t count = 0;
    uint32_t group = 0;
    int bits = 0;
    for (char character : text) {
        uint8_t value = values[static_cast<uint8_t>(character)];
        if (value == 255) return -1;
        group = group << 6 | value;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        if (count == limit) return -1;
        out[count++] = static_cast<uint8_t>(group >> bits);
    }
    return static_cast<int>(count);
}

bool decode_uuid(std::string_view text, uint8_t *out) {
    static const std::array<uint8_t, 256> values = digit_values(hexadecimal_digits, 16);
    if (text.size() != 36) return false;
    size_t place = 0;
    for (int index = 0; index < 16; index++) {
        if (index == 4 || index == 6 || index == 8 || index == 10) place += 1;
        uint8_t high = values[static_cast<uint8_t>(text[place])], low = values[static_cast<uint8_t>(text[place + 1])];
        if ((high | low) & 0xF0) return false;
        out[index] = static_cast<uint8_t>(high << 4 | low);
        place += 2;
    }
    return true;
}
