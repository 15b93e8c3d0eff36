internal import RoostCore
internal import RoostSystem

/// A temporary file of fixed-size pages that reuses free pages before it grows.
///
/// Use it on one thread only.
final class SpillPages {
    static let pageByteCount = 6144

    private let file: SpillFile
    private var pageCount = 0
    private var freePages: [Int] = []
    private(set) var writtenCount = 0

    /// Creates an empty file in the first suitable directory.
    ///
    /// Throws `ioFailure` and `noSpace`.
    init(inOneOf directories: [String]) throws(StoreError) {
        file = try StoreError.ofSystem { () throws(SystemFailure) in try SpillFile(inOneOf: directories) }
    }

    /// The size of the file in bytes, including free pages.
    var byteCount: Int { file.byteCount }

    /// Writes a page of at most ``pageByteCount`` bytes, and returns its number.
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

    func read(_ count: Int, of page: Int) throws(StoreError) -> [UInt8] {
        let bytes = try StoreError.ofSystem { () throws(SystemFailure) in
            try file.read(count, at: page * Self.pageByteCount)
        }
        guard bytes.count == count else {
            throw StoreError(.ioFailure, "A temporary file does not hold what was written to it.")
        }
        return bytes
    }

    func release(_ pages: [Int]) { freePages += pages }
}
