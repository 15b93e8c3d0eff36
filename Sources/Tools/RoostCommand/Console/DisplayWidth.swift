/// The number of terminal columns that a text fills.
///
/// East Asian wide characters and emoji fill two columns, and combining marks fill none. See
/// Unicode's technical reports 11 and 51.
enum DisplayWidth {
    /// Returns the number of columns of a text without control characters.
    static func of(_ text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            // An emoji selector widens a narrow symbol. Marks after a wide character add no
            // columns.
            if scalar == "\u{FE0F}" || isWide(scalar) { return 2 }
            width += of(scalar)
        }
        return width
    }

    /// Returns the number of columns of a code point that is not wide.
    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.value == 0xAD ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // Vowels and final consonants of decomposed Hangul syllables add no columns.
        if (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FF).contains(scalar.value) { return 0 }
        return 1
    }

    static func prefix(_ text: String, columns: Int) -> Substring {
        var (end, used) = (text.startIndex, 0)
        while end < text.endIndex {
            used += of(text[end])
            guard used <= columns else { break }
            end = text.index(after: end)
        }
        return text[..<end]
    }

    /// Returns the text if it fits, else its beginning and `…`.
    static func fitted(_ text: String, columns: Int) -> String {
        of(text) <= columns ? text : prefix(text, columns: columns - 1) + "…"
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x1100 else { return false }
        if scalar.properties.isEmojiPresentation { return true }
        var (low, high) = (0, wideRanges.count)
        while low < high {
            let middle = (low + high) / 2
            if wideRanges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
        }
        return low < wideRanges.count && wideRanges[low].contains(scalar.value)
    }

    /// Code points with East Asian Width W or F; `isEmojiPresentation` finds other emoji.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x16FFF, 0x17000...0x18D7F, 0x1AFF0...0x1B2FB, 0x1D300...0x1D376, 0x1F200...0x1F2FF,
        0x1F900...0x1F9FF, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]
}

/// Text that is safe to show on a terminal.
///
/// Characters that move the cursor, begin an escape sequence or change the text direction are
/// replaced by visible ones.
enum VisibleText {
    static func of(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy({ !isInvisible($0) }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0..<0x20: result.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
            case 0x7F: result.append("\u{2421}")
            case _ where isInvisible(scalar):
                let digits = String(scalar.value, radix: 16, uppercase: true)
                let padding = String(repeating: "0", count: max(0, 4 - digits.utf8.count))
                result.append(contentsOf: "<U+\(padding)\(digits)>".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns whether a code point is a control character, a line separator, or a mark of text
    /// direction or byte order.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F: false
        case 0..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0x200E...0x200F, 0x61C, 0xFEFF: true
        default: false
        }
    }
}
