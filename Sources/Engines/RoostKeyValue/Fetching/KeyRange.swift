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

struct KeyRange: Hashable, Sendable {
    var start: KeyCut
    var end: KeyCut

    init(prefix: [UInt8]) { self.init(.before(prefix), end: .behind(prefix)) }

    init(_ start: KeyCut, end: KeyCut) { (self.start, self.end) = (start, end) }

    var isEmpty: Bool { !(start < end) }
    var inverted: Self { KeyRange(end.inverted, end: start.inverted) }

    func intersection(_ other: Self) -> Self {
        KeyRange(start < other.start ? other.start : start, end: other.end < end ? other.end : end)
    }

    /// Returns the range with `prefix` prepended, and whether the new range is exact.
    ///
    /// A cut of more than `limit` bytes is shortened, which can enlarge the range.
    func behind(_ prefix: [UInt8], limit: Int) -> (range: Self, isExact: Bool) {
        let (first, last) = (prefix + start.bytes, prefix + end.bytes)
        guard first.count > limit || last.count > limit else {
            return (
                KeyRange(
                    KeyCut(bytes: first, isBehind: start.isBehind), end: KeyCut(bytes: last, isBehind: end.isBehind)),
                true
            )
        }
        // A shortened start comes earlier, and a shortened end later, so the range loses no keys.
        let lower =
            first.count > limit
            ? KeyCut.before(Array(first.prefix(limit))) : KeyCut(bytes: first, isBehind: start.isBehind)
        let upper =
            last.count > limit ? KeyCut.behind(Array(last.prefix(limit))) : KeyCut(bytes: last, isBehind: end.isBehind)
        return (KeyRange(lower, end: upper), false)
    }
}

extension [UInt8] {
    /// The lowest key after all keys that begin with these bytes; nil if each byte is FF.
    var successor: [UInt8]? {
        guard let last = lastIndex(where: { $0 != 0xFF }) else { return nil }
        var bytes = Array(self[...last])
        bytes[last] += 1
        return bytes
    }
}
