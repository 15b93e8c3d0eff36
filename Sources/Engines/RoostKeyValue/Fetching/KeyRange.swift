/// A position between keys: before or after all keys that begin with given bytes.
struct KeyCut: Hashable, Sendable {
    var bytes: [UInt8]
    var isBehind: Bool

    static func before(_ bytes: [UInt8]) -> Self { KeyCut(bytes: bytes, isBehind: false) }
    static func behind(_ bytes: [UInt8]) -> Self { KeyCut(bytes: bytes, isBehind: true) }

    /// The lowest bytes at or after the cut; nil if there can be no such bytes.
    var position: [UInt8]? { isBehind ? bytes.successor : bytes }

    /// The same position among keys with all bits inverted, which reverses their order.
    var inverted: Self { KeyCut(bytes: bytes.map { ~$0 }, isBehind: !isBehind) }

    static func < (left: Self, right: Self) -> Bool {
        guard let a = left.position else { return false }
        guard let b = right.position else { return true }
        return a.lexicographicallyPrecedes(b)
    }
}

/// The keys between two cuts.
struct KeyRange: Hashable, Sendable {
    var start: KeyCut
    var end: KeyCut

    /// Creates the range of all keys that begin with the given bytes.
    init(prefix: [UInt8]) { self.init(.before(prefix), end: .behind(prefix)) }

    init(_ start: KeyCut, end: KeyCut) { (self.start, self.end) = (start, end) }

    var isEmpty: Bool { !(start < end) }
    var inverted: Self { KeyRange(end.inverted, end: start.inverted) }

    /// Returns the keys of both ranges, as a possibly empty range.
    func intersection(_ other: Self) -> Self {
        KeyRange(start < other.start ? other.start : start, end: other.end < end ? other.end : end)
    }

    /// Returns the range with `prefix` before its keys, and whether it is exact.
    ///
    /// Cuts are shortened to `limit` bytes, which can enlarge the range.
    func behind(_ prefix: [UInt8], limit: Int) -> (range: Self, isExact: Bool) {
        let (first, last) = (prefix + start.bytes, prefix + end.bytes)
        guard first.count > limit || last.count > limit else {
            return (
                KeyRange(
                    KeyCut(bytes: first, isBehind: start.isBehind), end: KeyCut(bytes: last, isBehind: end.isBehind)),
                true
            )
        }
        // Without the removed bytes, the range can only be larger.
        let lower =
            first.count > limit
            ? KeyCut.before(Array(first.prefix(limit))) : KeyCut(bytes: first, isBehind: start.isBehind)
        let upper =
            last.count > limit ? KeyCut.behind(Array(last.prefix(limit))) : KeyCut(bytes: last, isBehind: end.isBehind)
        return (KeyRange(lower, end: upper), false)
    }
}

extension [UInt8] {
    /// The lowest bytes after all bytes that begin with these; nil if all these bytes are FF.
    var successor: [UInt8]? {
        guard let last = lastIndex(where: { $0 != 0xFF }) else { return nil }
        var bytes = Array(self[...last])
        bytes[last] += 1
        return bytes
    }
}
