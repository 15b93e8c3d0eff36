internal import RoostCore
internal import RoostSystem

/// A block of memory with rows, which are records in the format of the stores.
///
/// Pages are aligned to 256 KiB, so a row's address determines its page. A page is freed when its
/// rows have no uses.
///
/// SAFETY of the whole file: pages and rows are confined to the region of one context. A row is
/// accessed only while its owner retains it. The page's fields are in the header, before the first
/// row.
@usableFromInline
struct RowPage {
    /// The alignment of pages, and the size of a page without a large row, in bytes.
    static let byteCount = 256 * 1024
    /// The number of bytes before the first row.
    static let headerByteCount = 64

    /// The number of uses of rows, plus one while a pool fills the page.
    private var useCount: Int
    /// The number of used bytes, including the header.
    private var usedByteCount: Int
    /// The number of added rows, including rows that are no longer used.
    private var rowCount = 0
    /// Whether the page contains only fetched rows, without gaps.
    private var isFetched: Bool

    private typealias Header = UnsafeMutablePointer<RowPage>

    private static func make(byteCount: Int, isFetched: Bool) -> UnsafeMutableRawPointer {
        let page = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: Self.byteCount)
        page.initializeMemory(
            as: RowPage.self, to: RowPage(useCount: 1, usedByteCount: headerByteCount, isFetched: isFetched))
        return page
    }

    @inline(__always)
    private static func header(of row: UnsafeRawPointer) -> Header? {
        UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: row) & ~UInt(byteCount - 1))?
            .assumingMemoryBound(to: RowPage.self)
    }

    @inline(__always)
    static func retain(_ row: UnsafeRawPointer) { header(of: row)?.pointee.useCount &+= 1 }

    @inline(__always)
    static func release(_ row: UnsafeRawPointer) {
        guard let page = header(of: row) else { return }
        page.pointee.useCount &-= 1
        if page.pointee.useCount == 0 { UnsafeMutableRawPointer(page).deallocate() }
    }

    /// Returns whether the use count of a row's page is less than a quarter of its row count.
    @inline(__always)
    static func isSparse(_ row: UnsafeRawPointer) -> Bool {
        header(of: row).map { $0.pointee.useCount &* 4 < $0.pointee.rowCount } ?? false
    }

    /// Returns the size of a private row, rounded up to align the pointer before the next row.
    @inline(__always)
    private static func rounded(_ byteCount: Int) -> Int { (byteCount + 7) & ~7 }

    /// Returns the size of a fetched row, rounded up to an even number.
    ///
    /// Objects use the lowest bit of a row's address as a flag; see ``ManagedObject/fastRow``.
    @inline(__always)
    private static func even(_ byteCount: Int) -> Int { (byteCount + 1) & ~1 }

    /// Calls `body` with up to `limit` rows that follow a fetched row in its page.
    ///
    /// Does nothing for a row that was not fetched. A visited row is valid even if no object uses
    /// it any more.
    static func forEachRow(
        after row: UnsafeRawPointer, limit: Int, length: (UnsafeRawPointer) -> Int, _ body: (UnsafeRawPointer) -> Void
    ) {
        guard let page = header(of: row), page.pointee.isFetched else { return }
        let start = UnsafeRawPointer(page)
        var next = row + even(length(row))
        for _ in 0..<limit {
            guard next - start < page.pointee.usedByteCount else { return }
            body(next)
            next += even(length(next))
        }
    }

    /// An allocator that places rows in one page until the page is full.
    struct Pool: ~Copyable {
        private var page: UnsafeMutableRawPointer?
        private let isFetched: Bool
        /// The number of reserved bytes before each row.
        private let prefixByteCount: Int

        init(isFetched: Bool, prefixByteCount: Int = 0) {
            self.isFetched = isFetched
            self.prefixByteCount = prefixByteCount
        }

        deinit { if let page { RowPage.release(page) } }

        /// Returns memory for a row, and counts one use of the row.
        @inline(__always)
        mutating func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
            // Fetched rows need no alignment, because records are read with unaligned loads.
            let size = isFetched ? RowPage.even(byteCount) : RowPage.rounded(byteCount) + prefixByteCount
            if let page {
                let header = page.assumingMemoryBound(to: RowPage.self)
                if header.pointee.usedByteCount + size <= RowPage.byteCount {
                    let row = page + header.pointee.usedByteCount + prefixByteCount
                    header.pointee.usedByteCount += size
                    header.pointee.useCount &+= 1
                    header.pointee.rowCount &+= 1
                    return row
                }
            }
            return allocateSlowly(size)
        }

        @inline(never)
        private mutating func allocateSlowly(_ size: Int) -> UnsafeMutableRawPointer {
            // A large row gets a separate page, which the pool does not fill further.
            let isLarge = size > RowPage.byteCount / 4
            let fresh = RowPage.make(
                byteCount: isLarge ? RowPage.headerByteCount + size : RowPage.byteCount, isFetched: isFetched)
            let header = fresh.assumingMemoryBound(to: RowPage.self)
            header.pointee.usedByteCount += size
            header.pointee.rowCount = 1
            if !isLarge {
                header.pointee.useCount = 2
                if let page { RowPage.release(page) }
                page = fresh
            }
            return fresh + RowPage.headerByteCount + prefixByteCount
        }

        mutating func copy(_ row: UnsafeRawPointer, byteCount: Int) -> UnsafeMutableRawPointer {
            let copy = allocate(byteCount)
            copy.copyMemory(from: row, byteCount: byteCount)
            return copy
        }
    }
}

/// Functions for private rows, which are the rows of changed objects.
///
/// The eight bytes before a private row point to the committed row, which is the row as last read
/// or saved. The bytes are zero for a new object. A private row counts as one use of its committed
/// row.
enum PrivateRow {
    static let prefixByteCount = 8

    /// Returns the committed row, or nil for a new object.
    @inline(__always)
    static func committed(_ row: UnsafeRawPointer) -> UnsafeRawPointer? {
        UnsafeRawPointer(bitPattern: row.load(fromByteOffset: -8, as: UInt.self))
    }

    /// Sets the committed row, without counting uses.
    @inline(__always)
    static func setCommitted(_ committed: UnsafeRawPointer?, of row: UnsafeMutableRawPointer) {
        row.storeBytes(of: committed.map { UInt(bitPattern: $0) } ?? 0, toByteOffset: -8, as: UInt.self)
    }
}
