/// Limits on the length of messages, because names in files can have any length.
package enum MessageText {
    /// The maximum length of a word; names in valid models are always shorter.
    static let maximumWordByteCount = 1024
    package static let maximumByteCount = 64 << 10

    /// Shortens long words in the middle, and then the whole text if it is still too long.
    ///
    /// This preserves the end of a path, and the remedy at the end of a message.
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

    /// Appends a text, without its middle if the text has more than `most` bytes.
    ///
    /// Then at most `first` bytes of the start and `last` bytes of the end remain.
    private static func append(
        _ text: some BidirectionalCollection<UInt8>, to bytes: inout [UInt8], first: Int, last: Int, most: Int
    ) {
        let count = text.count
        guard count > most else { return bytes.append(contentsOf: text) }
        // The cuts must not split a character.
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
