internal import RoostCore
internal import RoostSystem

/// A temporary file of pages of one size, which reuses free pages before it grows; for one thread.
final class SpillPages {
    /// The size of a page.
    static let pageByteCount = 6144

    private let file: SpillFile
    private var pageCount = 0
    private var freePages: [Int] = []
    /// The number of pages written in all.
    private(set) var writtenCount = 0

    /// Makes an empty file in the first of the directories that allows it; throws `ioFailure` and
    /// `noSpace`.
    init(inOneOf directories: [String]) throws(StoreError) {
        file = try StoreError.ofSystem { () throws(SystemFailure) in try SpillFile(inOneOf: directories) }
    }

    /// The bytes of the file, free pages included.
    var byteCount: Int { file.byteCount }

    /// Writes a page of at most ``pageByteCount`` bytes; gives its number.
    func write(_ bytes: [UInt8]) throws(StoreError) -> Int {
        let page: Int
        if let free = freePages.popLast() {
            page = free
        } else {
            page = pageCount
            pageCount += 1
        }
        try StoreError.ofSystem { () throws(SystemFailure) in
            try file.write(bytes, at: page * Self.pageByteCount)
        }
        writtenCount += 1
        return page
    }

    /// Returns the first `count` bytes of a page, as they were written.
    func read(_ count: Int, of page: Int) throws(StoreError) -> [UInt8] {
        let bytes = try StoreError.ofSystem { () throws(SystemFailure) in
            try file.read(count, at: page * Self.pageByteCount)
        }
        guard bytes.count == count else {
            throw StoreError(.ioFailure, "A temporary file does not hold what was written to it.")
        }
        return bytes
    }

    /// Frees pages for reuse.
    func release(_ pages: [Int]) { freePages += pages }
}
