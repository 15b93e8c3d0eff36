#ifndef FOLDED_TEXT_H
#define FOLDED_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Returns whether a text contains another text, regardless of case and diacritics.
///
/// `folded` is already folded. Folding changes only ASCII letters, ß, and the letters with
/// diacritics from U+00C0 to U+00FF. Returns 0 if `text` has more than 512 bytes.
int contains_folded(const char *text, size_t length, const char *folded, size_t folded_length);

#ifdef __cplusplus
}
#endif

#endif
