/// A place between keys: before or behind all that begin with some bytes.
struct KeyCut: Hashable, Sendable {
    var bytes: [UInt8]
    var isBehind: Bool

    static func before(_ bytes: [UInt8]) -> Self { KeyCut(bytes: bytes, isBehind: false) }
    static func behind(_ bytes: [UInt8]) -> Self { KeyCut(bytes: bytes, isBehind: true) }

    /// The least bytes at or behind the cut; nil when nothing is.
    var position: [UInt8]? { isBehind ? bytes.successor : bytes }

    /// The same place among keys all of whose bits are inverted, which turns their order round.
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

    /// Everything that begins with these bytes.
    init(prefix: [UInt8]) { self.init(.before(prefix), .behind(prefix)) }

    init(_ start: KeyCut, _ end: KeyCut) { (self.start, self.end) = (start, end) }

    var isEmpty: Bool { !(start < end) }
    var inverted: Self { KeyRange(end.inverted, start.inverted) }

    /// What both have; empty when that is nothing.
    func intersection(_ other: Self) -> Self {
        KeyRange(start < other.start ? other.start : start, other.end < end ? other.end : end)
    }

    /// The range behind `prefix`, with no more than `limit` bytes to a cut; false when that made it larger.
    func behind(_ prefix: [UInt8], limit: Int) -> (range: Self, isExact: Bool) {
        let (first, last) = (prefix + start.bytes, prefix + end.bytes)
        guard first.count > limit || last.count > limit else {
            return (
                KeyRange(KeyCut(bytes: first, isBehind: start.isBehind), KeyCut(bytes: last, isBehind: end.isBehind)),
                true
            )
        }
        // What is cut off can only have narrowed the range.
        let lower =
            first.count > limit
            ? KeyCut.before(Array(first.prefix(limit))) : KeyCut(bytes: first, isBehind: start.isBehind)
        let upper =
            last.count > limit ? KeyCut.behind(Array(last.prefix(limit))) : KeyCut(bytes: last, isBehind: end.isBehind)
        return (KeyRange(lower, upper), false)
    }
}

extension [UInt8] {
    /// The least bytes behind all that begin with these; nil when nothing is, as behind FF FF.
    var successor: [UInt8]? {
        guard let last = lastIndex(where: { $0 != 0xFF }) else { return nil }
        var bytes = Array(self[...last])
        bytes[last] += 1
        return bytes
    }
}
