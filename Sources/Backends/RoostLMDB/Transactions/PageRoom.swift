internal import RoostKeyValue

/// The rule for leaving free space in the pages of an index that is loaded in key order.
///
/// If entries are appended, LMDB fills each page completely. A later entry between them would split
/// a page, which takes several times as long as adding the entry. So ``LMDBWriter`` appends a
/// placeholder after every nine tenths of a page, and removes it before the next one. By then, LMDB
/// appends to a later page, so the placeholder's space stays free.
struct PageRoom {
    let space: KeySpace
    /// The key of the current placeholder, if any.
    var placeholder: [UInt8]?
    private let placeholderByteCount: Int
    private let interval: Int
    private var byteCount = 0

    /// The bytes that an entry uses besides its key and value: a header, and an offset in the
    /// page's list of entries.
    private static let entryOverhead = 10

    init(space: KeySpace, pageByteCount: Int) {
        self.space = space
        placeholderByteCount = pageByteCount / 10
        interval = pageByteCount - placeholderByteCount
    }

    /// Returns whether appending leaves room in the pages of a key space.
    ///
    /// Indexes need room, because new entries come between old ones. New records come after all
    /// others.
    static func isLeft(in space: KeySpace) -> Bool { space != .records && space != .meta }

    /// Counts an entry, and returns the size of the placeholder that should precede the entry, or
    /// nil if no placeholder is due.
    mutating func add(_ entryByteCount: Int) -> Int? {
        byteCount += entryByteCount + Self.entryOverhead
        guard byteCount > interval else { return nil }
        byteCount = 0
        return placeholderByteCount
    }
}
