/// Keeps messages short, whatever the names in them: a file can hold a name of any length, and any
/// number of them.
package enum MessageText {
    /// The most bytes of one word: longer than every name that a model may have, and than most
    /// paths.
    static let maximumWordByteCount = 1024
    /// The most bytes of a message.
    package static let maximumByteCount = 64 << 10

    /// The text, with words that are too long and a text that is too long cut in their middle.
    ///
    /// A word ends at a space or a line break. What names a file keeps its end, and a message keeps
    /// the remedy there.
    package static func bounded(_ text: String) -> String {
        guard text.utf8.count > maximumWordByteCount else { return text }
        var bytes: [UInt8] = []
        for word in text.utf8.split(maxSplits: .max, omittingEmptySubsequences: false, whereSeparator: isSpace) {
            if word.startIndex != text.utf8.startIndex {
                bytes.append(text.utf8[text.utf8.index(before: word.startIndex)])
            }
            append(word, to: &bytes, first: 300, last: 200, most: maximumWordByteCount)
        }
        guard bytes.count > maximumByteCount else { return String(decoding: bytes, as: UTF8.self) }
        var short: [UInt8] = []
        append(bytes, to: &short, first: maximumByteCount - 5000, last: 4000, most: maximumByteCount)
        return String(decoding: short, as: UTF8.self)
    }

    /// Appends the bytes of a text; of more than `most`, cuts out the middle and states its length.
    private static func append(
        _ text: some BidirectionalCollection<UInt8>, to bytes: inout [UInt8], first: Int, last: Int, most: Int
    ) {
        let count = text.count
        guard count > most else { return bytes.append(contentsOf: text) }
        // Neither part may begin or end inside a character.
        var head = text.prefix(first)
        while head.count > first - 4, let byte = text[head.endIndex...].first, isContinuation(byte) {
            head.removeLast()
        }
        var tail = text.suffix(last)
        while tail.count > last - 4, let byte = tail.first, isContinuation(byte) { tail.removeFirst() }
        bytes.append(contentsOf: head)
        bytes.append(contentsOf: "…(\(count - head.count - tail.count) bytes)…".utf8)
        bytes.append(contentsOf: tail)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") }

    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
