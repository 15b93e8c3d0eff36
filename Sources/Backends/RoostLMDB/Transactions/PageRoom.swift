internal import RoostKeyValue

/// Room that is left in the pages of an index that is loaded in order.
///
/// LMDB fills pages to the last byte when entries are appended. A later entry between them would
/// split a page, which costs several times as much as the entry and writes two pages instead of
/// one. So a placeholder is appended after every nine tenths of a page. It is removed when the next
/// one is appended: then its page is finished and has that much room.
struct PageRoom {
    let space: KeySpace
    /// The key of the current placeholder, if any.
    var placeholder: [UInt8]?
    private let placeholderByteCount: Int
    private let interval: Int
    private var byteCount = 0

    /// The bytes that an entry takes beside its key and value: a header and a place in the page's
    /// list.
    private static let entryOverhead = 10

    init(space: KeySpace, pageByteCount: Int) {
        self.space = space
        placeholderByteCount = pageByteCount / 10
        interval = pageByteCount - placeholderByteCount
    }

    /// Returns whether new entries of a space come between the old ones; new records come after all
    /// others.
    static func isLeft(in space: KeySpace) -> Bool { space != .records && space != .meta }

    /// Counts an entry in.
    ///
    /// Returns the bytes that a placeholder before it should have; nil if none is due.
    mutating func add(_ entryByteCount: Int) -> Int? {
        byteCount += entryByteCount + Self.entryOverhead
        guard byteCount > interval else { return nil }
        byteCount = 0
        return placeholderByteCount
    }
}
