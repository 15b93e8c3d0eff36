internal import RoostCore

extension StandardTextOrder {
    /// Appends bytes that, compared bytewise and unsigned, sort like the texts.
    ///
    /// The bytes of a text are never a prefix of another text's bytes.
    ///
    /// - Complexity: O(*n*) in the length of the text. The appended bytes are about three times as
    ///   long as the text.
    package static func append(_ text: UnsafeRawBufferPointer, to key: inout [UInt8]) {
        TextFolding.withFolded(text, by: [.caseInsensitive, .diacriticInsensitive]) { appendNumeric($0, to: &key) }
        TextFolding.withFolded(text, by: .caseInsensitive) { OrderedBytes.append($0, to: &key) }
        OrderedBytes.append(text, to: &key)
    }

    /// Appends text in which each run of digits becomes the digit 0, a four-byte count and the
    /// digits.
    ///
    /// The count and the digits do not include leading zeros.
    private static func appendNumeric(_ text: UnsafeRawBufferPointer, to key: inout [UInt8]) {
        /// The position of the current run's digit count; nil outside of a run.
        var run: Int?
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
                close(&run, key: &key)
                key.append(byte)
                // A byte 0 is escaped as in ``OrderedBytes``.
                if byte == 0 { key.append(0xFF) }
                continue
            }
            if run == nil {
                key.append(UInt8(ascii: "0"))
                run = key.count
                for _ in 0..<4 { key.append(0) }
            }
            if byte != UInt8(ascii: "0") || run.map({ key.count > $0 + 4 }) ?? false { key.append(byte) }
        }
        close(&run, key: &key)
        key.append(0)
        key.append(0)
    }

    private static func close(_ run: inout Int?, key: inout [UInt8]) {
        guard let start = run else { return }
        let count = UInt32(truncatingIfNeeded: key.count - start - 4)
        for index in 0..<4 { key[start + index] = UInt8(truncatingIfNeeded: count >> UInt32(24 - 8 * index)) }
        run = nil
    }
}
