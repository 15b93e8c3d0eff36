internal import RoostKeyValue

/// Leaves free space in the pages of an index that is loaded in order.
///
/// Appending entries makes LMDB fill pages completely. A later entry between them would split a
/// page, which takes several times as long as adding the entry and writes two pages instead of one.
/// So a placeholder is appended after every nine tenths of a page. It is removed before the next
/// placeholder is appended. By then, LMDB appends to a later page, so the space stays free.
struct PageRoom {
    let space: KeySpace
    /// The key of the current placeholder, if any.
    var placeholder: [UInt8]?
    private let placeholderByteCount: Int
    private let interval: Int
    private var byteCount = 0

    /// The size of an entry without its key and value: a header and an offset in the page's list.
    private static let entryOverhead = 10

    init(space: KeySpace, pageByteCount: Int) {
        self.space = space
        placeholderByteCount = pageByteCount / 10
        interval = pageByteCount - placeholderByteCount
    }

    /// Returns whether the pages of a key space keep free room.
    ///
    /// In an index, new entries come between the old ones. New records come after all others.
    static func isLeft(in space: KeySpace) -> Bool { space != .records && space != .meta }

    /// Counts an entry.
    ///
    /// Returns the size of the placeholder that should precede the entry, or nil if none is due.
    mutating func add(_ entryByteCount: Int) -> Int? {
        byteCount += entryByteCount + Self.entryOverhead
        guard byteCount > interval else { return nil }
        byteCount = 0
        return placeholderByteCount
    }
}
