#ifndef FOLDED_TEXT_H
#define FOLDED_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Whether a text has another in it when case and diacritics do not count.
///
/// `folded` is folded already. Letters up to U+017F are folded by a table, which is all a program for one library of music needs; what
/// is beyond stays as it is.
int contains_folded(const char *text, size_t length, const char *folded, size_t folded_length);

#ifdef __cplusplus
}
#endif

#endif
