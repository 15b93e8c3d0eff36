internal import RoostCore

/// The associations of one entity mapping in one direction and one hierarchy.
///
/// Most associations arrive in ascending order and are appended. Others go into a small sorted
/// buffer. A full buffer becomes a level. The last two levels are merged when the last level is at
/// least half as large as the previous one. Spilling moves everything to a file, as a segment. Four
/// segments of equal merge depth are merged into one. So *n* associations cost O(*n* log *n*)
/// writes, and a lookup searches O(log *n*) segments.
struct AssociationIndex {
    /// The number of runs at which the buffer becomes a level.
    private static let bufferCount = 512
    /// The number of segments of one depth that are merged into a segment of the next depth.
    private static let segmentLimit = 4

    private var ascending = SortedRuns()
    private var buffer = SortedRuns()
    private var levels: [SortedRuns] = []
    /// The segments, deepest first.
    private var segments: [(depth: Int, runs: SpilledRuns)] = []

    var runCount: Int { ascending.count + buffer.count + levels.reduce(0) { $0 + $1.count } }

    /// Adds an association, and returns the change in the number of runs in memory.
    mutating func add(_ single: AssociationRun) throws(StoreError) -> Int {
        guard !ascending.takes(single.key) else {
            let before = ascending.count
            ascending.append(single)
            return ascending.count - before
        }
        let before = buffer.count
        buffer.insert(single)
        let change = buffer.count - before
        guard buffer.count >= Self.bufferCount else { return change }
        let counted = runCount
        levels.append(buffer)
        buffer = SortedRuns()
        while levels.count >= 2, levels[levels.count - 1].count * 2 >= levels[levels.count - 2].count {
            let merged = try Self.merge([levels[levels.count - 2], levels[levels.count - 1]])
            levels.removeLast(2)
            levels.append(merged)
        }
        return change + runCount - counted
    }

    private static func merge(_ parts: [SortedRuns]) throws(StoreError) -> SortedRuns {
        var merge = try RunMerge(parts.map { .memory($0.runs[...]) })
        var merged = SortedRuns()
        while let run = try merge.next() { merged.append(run) }
        return merged
    }

    /// Appends the objects that are associated with the object that has the given key.
    func append(othersOf key: Int64, to found: inout [AssociationTable.Object]) throws(StoreError) {
        for segment in segments { try segment.runs.append(othersOf: key, to: &found) }
        for level in levels { level.append(othersOf: key, to: &found) }
        ascending.append(othersOf: key, to: &found)
        buffer.append(othersOf: key, to: &found)
    }

    mutating func spill(to file: SpillPages) throws(StoreError) {
        let inMemory = try RunMerge(
            (levels + [ascending, buffer]).filter { !$0.isEmpty }.map { .memory($0.runs[...]) })
        segments.append((0, try SpilledRuns(inMemory, in: file)))
        ascending = SortedRuns()
        buffer = SortedRuns()
        levels = []
        while let last = segments.last, segments.count >= Self.segmentLimit,
            segments[segments.count - Self.segmentLimit].depth == last.depth
        {
            let merge = try RunMerge(
                segments.suffix(Self.segmentLimit).map { .segment($0.runs, page: 0, rest: []) })
            let merged = try SpilledRuns(merge, in: file)
            segments.removeLast(Self.segmentLimit)
            segments.append((last.depth + 1, merged))
        }
    }

    /// Returns all runs in order; additions during the merge do not change the result.
    func all() throws(StoreError) -> RunMerge {
        try RunMerge(
            segments.map { .segment($0.runs, page: 0, rest: []) }
                + (levels + [ascending, buffer]).map { .memory($0.runs[...]) })
    }
}

/// Sorted runs in the pages of a file.
///
/// The numbers and maximum keys of the pages are in memory. Deallocation frees the pages.
final class SpilledRuns {
    /// The size of an encoded run, in bytes.
    ///
    /// A run consists of key, other key, count, entity and other entity, all little-endian.
    private static let runByteCount = 24
    private static let pageRunCount = SpillPages.pageByteCount / runByteCount

    private let file: SpillPages
    private let runCount: Int
    private let pageNumbers: [Int]
    private let lastKeys: [Int64]
    private var cached: (page: Int, runs: [AssociationRun])?

    /// Writes runs to pages of a file.
    ///
    /// After an error, the written pages are not freed, because the error ends the migration.
    init(_ merge: RunMerge, in file: SpillPages) throws(StoreError) {
        var merge = merge
        self.file = file
        var (count, lastKeys, pageNumbers) = (0, [Int64](), [Int]())
        var page: [AssociationRun] = []
        func flush() throws(StoreError) {
            guard let last = page.last else { return }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(page.count * Self.runByteCount)
            for run in page { Self.encode(run, into: &bytes) }
            pageNumbers.append(try file.write(bytes))
            lastKeys.append(last.end)
            count += page.count
            page.removeAll(keepingCapacity: true)
        }
        while let run = try merge.next() {
            if let last = page.last, last.isContinued(by: run) {
                page[page.count - 1].count += run.count
                continue
            }
            if page.count == Self.pageRunCount { try flush() }
            page.append(run)
        }
        try flush()
        runCount = count
        self.pageNumbers = pageNumbers
        self.lastKeys = lastKeys
    }

    deinit { file.release(pageNumbers) }

    var pageCount: Int { lastKeys.count }

    func page(_ number: Int) throws(StoreError) -> [AssociationRun] {
        if let cached, cached.page == number { return cached.runs }
        let first = number * Self.pageRunCount
        let count = min(Self.pageRunCount, runCount - first)
        let bytes = try file.read(count * Self.runByteCount, of: pageNumbers[number])
        let runs = (0..<count).map { Self.decode(bytes[($0 * Self.runByteCount)..<($0 + 1) * Self.runByteCount]) }
        cached = (number, runs)
        return runs
    }

    func append(othersOf key: Int64, to found: inout [AssociationTable.Object]) throws(StoreError) {
        var number = lastKeys.firstPosition { $0 >= key }
        while number < pageCount {
            let runs = try page(number)
            var position = runs.firstPosition { $0.end >= key }
            while position < runs.count, runs[position].key <= key {
                found.append(runs[position].other(of: key))
                position += 1
            }
            guard position == runs.count else { return }
            number += 1
        }
    }

    private static func encode(_ run: AssociationRun, into bytes: inout [UInt8]) {
        func append(_ number: UInt64, byteCount: Int) {
            for byte in 0..<byteCount { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
        }
        append(UInt64(bitPattern: run.key), byteCount: 8)
        append(UInt64(bitPattern: run.otherKey), byteCount: 8)
        append(UInt64(run.count), byteCount: 4)
        append(UInt64(run.entity), byteCount: 2)
        append(UInt64(run.otherEntity), byteCount: 2)
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> AssociationRun {
        func number(_ offset: Int, byteCount: Int) -> UInt64 {
            (0..<byteCount).reduce(0) { $0 | UInt64(bytes[bytes.startIndex + offset + $1]) << (8 * $1) }
        }
        return AssociationRun(
            key: Int64(bitPattern: number(0, byteCount: 8)), otherKey: Int64(bitPattern: number(8, byteCount: 8)),
            count: UInt32(truncatingIfNeeded: number(16, byteCount: 4)),
            entity: UInt16(truncatingIfNeeded: number(20, byteCount: 2)),
            otherEntity: UInt16(truncatingIfNeeded: number(22, byteCount: 2)))
    }
}
