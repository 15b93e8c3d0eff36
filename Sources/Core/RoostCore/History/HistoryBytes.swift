/// The encoder for numbers and text in histories.
struct HistoryBytes: Sendable {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a signed number; numbers near zero take few bytes.
    mutating func append(signed number: Int64) { append(number: Self.unsigned(number)) }

    static func unsigned(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }

    mutating func append(text: String?) {
        guard let text else { return append(number: 0) }
        append(number: UInt64(text.utf8.count) + 1)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(contentsOf other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

    mutating func append(littleEndian word: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}

/// The decoder for the output of ``HistoryBytes``; throws `corrupted` for invalid bytes.
struct HistoryBytesReader: Sendable {
    private let bytes: [UInt8]
    private(set) var offset: Int

    init(_ bytes: [UInt8], at offset: Int = 0) { (self.bytes, self.offset) = (bytes, offset) }

    var isAtEnd: Bool { offset >= bytes.count }

    static func damaged(_ reason: String) -> StoreError {
        StoreError(
            .corrupted,
            "The store's history is damaged: \(reason). Restore the store from a backup, or turn its history off and on again."
        )
    }

    mutating func byte() throws(StoreError) -> UInt8 {
        guard offset < bytes.count else { throw Self.damaged("it ends in the middle of a change") }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func number() throws(StoreError) -> UInt64 {
        var (result, shift) = (UInt64(0), UInt64(0))
        while true {
            let byte = try byte()
            // The tenth byte contains only the highest of the 64 bits.
            guard shift < 63 || (shift == 63 && byte <= 1) else { throw Self.damaged("a number has too many bits") }
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
    }

    mutating func signed() throws(StoreError) -> Int64 {
        let number = try number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func index(below count: Int, what: String) throws(StoreError) -> Int {
        guard let index = Int(exactly: try number()), index < count else {
            throw Self.damaged("it names \(what) that the model lacks")
        }
        return index
    }

    mutating func take(_ count: UInt64) throws(StoreError) -> [UInt8] {
        guard count <= UInt64(bytes.count - offset) else { throw Self.damaged("it ends in the middle of a change") }
        defer { offset += Int(count) }
        return Array(bytes[offset..<offset + Int(count)])
    }

    mutating func text() throws(StoreError) -> String? {
        let count = try number()
        guard count > 0 else { return nil }
        guard let text = String(validating: try take(count - 1), as: UTF8.self) else {
            throw Self.damaged("a text is not valid UTF-8")
        }
        return text
    }
}
