internal import RoostSystem

/// A sorter for any number of entries, with bounded memory.
///
/// If the entries exceed memory, they are written to temporary files as sorted runs, and merged
/// later. Use a sorter from one thread.
package final class ExternalSorter {
    /// The maximum number of runs that are merged at once.
    package static let fanIn = 64

    private let memoryByteCount: Int
    private let directories: [String]
    private var arena = EntryArena()
    private var runs: [SortedRun] = []

    /// Creates an empty sorter.
    ///
    /// A `memoryByteCount` below 64 KiB counts as 64 KiB. `directories` are in order of preference.
    package init(memoryByteCount: Int = 16 << 20, directories: [String]) {
        self.memoryByteCount = max(64 << 10, memoryByteCount)
        self.directories = directories
    }

    /// Adds an entry; entries are sorted by group, then key, then value.
    ///
    /// - Throws: `noSpace`, `ioFailure` and `outOfResources`, if a file is needed.
    package func append(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in group: UInt8
    ) throws(StoreError) {
        arena.append(key, value, in: group)
        // Growing the array copies it, so half of the memory is reserved for the copy.
        if arena.byteCount >= memoryByteCount / 2 { try spill() }
    }

    package var spilledRunCount: Int { runs.count }

    private func spill() throws(StoreError) {
        guard !arena.isEmpty else { return }
        arena.sort()
        let run = try SortedRun(directories)
        try arena.forEach { (entry) throws(StoreError) in try run.append(entry) }
        try run.finish()
        runs.append(run)
        arena.removeAll()
        try mergeFullLevels()
    }

    /// Merges the last `fanIn` runs while all have the same level, to limit the open files.
    private func mergeFullLevels() throws(StoreError) {
        while let level = runs.last?.level, runs.count >= Self.fanIn,
            runs[runs.count - Self.fanIn].level == level
        {
            let merged = try SortedRun(directories, level: level + 1)
            try merge(Array(runs.suffix(Self.fanIn))) { (entry) throws(StoreError) in try merged.append(entry) }
            try merged.finish()
            runs.removeLast(Self.fanIn)
            runs.append(merged)
        }
    }

    /// Returns a reader of all entries in order, and empties the sorter.
    package func entries() throws(StoreError) -> SortedEntryReader {
        defer {
            arena = EntryArena()
            runs = []
        }
        guard !runs.isEmpty else {
            arena.sort()
            return SortedEntryReader(arena)
        }
        try spill()
        arena = EntryArena()
        try mergeToFanIn()
        return SortedEntryReader(try merge(runs))
    }

    /// Calls `body` with all entries in order, in pieces of about 256 KiB, and empties the sorter.
    package func drain(_ body: (EncodedEntries) throws(StoreError) -> Void) throws(StoreError) {
        defer {
            arena = EntryArena()
            runs = []
        }
        var chunk = EncodedEntries()
        func give(_ entry: UnsafeRawBufferPointer) throws(StoreError) {
            chunk.append(entry)
            guard chunk.byteCount >= 256 << 10 else { return }
            try body(chunk)
            chunk.removeAll()
        }
        if runs.isEmpty {
            arena.sort()
            try arena.forEach(give)
        } else {
            try spill()
            arena = EntryArena()
            try mergeToFanIn()
            try merge(runs, give)
        }
        if !chunk.isEmpty { try body(chunk) }
    }

    /// Merges runs until at most `fanIn` runs remain.
    private func mergeToFanIn() throws(StoreError) {
        while runs.count > Self.fanIn {
            let merged = try SortedRun(directories)
            try merge(Array(runs.prefix(Self.fanIn))) { (entry) throws(StoreError) in try merged.append(entry) }
            try merged.finish()
            runs.removeFirst(Self.fanIn)
            runs.append(merged)
        }
    }

    private func merge(
        _ runs: [SortedRun], _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        var merge = try merge(runs)
        while try merge.next(body) {}
    }

    private func merge(_ runs: [SortedRun]) throws(StoreError) -> SortedRunMerge {
        try SortedRunMerge(runs, bufferByteCount: max(16 << 10, memoryByteCount / 2 / max(1, runs.count)))
    }
}

/// A merge of sorted runs: a binary heap, ordered by the next entry of each run.
struct SortedRunMerge {
    private var heap: [SortedRun] = []

    init(_ runs: [SortedRun], bufferByteCount: Int) throws(StoreError) {
        for run in runs where try run.start(bufferByteCount: bufferByteCount) { heap.append(run) }
        for index in stride(from: heap.count / 2, through: 0, by: -1) where index < heap.count { sink(index) }
    }

    mutating func next(_ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) -> Bool {
        guard let first = heap.first else { return false }
        try first.withEntry(body)
        if try !first.advance() {
            let last = heap.removeLast()
            if heap.isEmpty { return true }
            heap[0] = last
        }
        sink(0)
        return true
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].precedes(heap[least]) {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

/// A reader of a sorter's entries, in order, for use from one thread.
package final class SortedEntryReader {
    private enum Source {
        case memory(EntryArena, next: Int)
        case runs(SortedRunMerge)
    }

    private var source: Source

    init(_ arena: EntryArena) { source = .memory(arena, next: 0) }
    init(_ merge: SortedRunMerge) { source = .runs(merge) }

    /// Calls `body` with the next encoded entry; returns false after the last one.
    package func next(_ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) -> Bool {
        switch source {
        case .memory(let arena, let next):
            guard next < arena.count else { return false }
            source = .memory(arena, next: next + 1)
            try arena.withEntry(at: next, body)
            return true
        case .runs(var merge):
            defer { source = .runs(merge) }
            return try merge.next(body)
        }
    }
}

/// A sorted run in its own file, which is written once and read once.
final class SortedRun {
    private let file: SpillFile
    /// The level: 0 for entries from memory, 1 for merged runs of level 0, and so on.
    ///
    /// `mergeToFanIn()` also creates runs of level 0. In a sorter's `runs`, levels never rise.
    let level: Int
    private var buffer: [UInt8] = []
    private var bufferByteCount = 256 << 10
    /// The offset of the current entry in the buffer.
    private var position = 0
    /// The offset of the buffer in the file.
    private var fileOffset = 0
    /// The length of the current entry; 0 if the buffer does not contain a whole entry.
    private var entryByteCount = 0
    /// The first 16 bytes of the current entry's key.
    private var prefix: (high: UInt64, low: UInt64) = (0, 0)

    init(_ directories: [String], level: Int = 0) throws(StoreError) {
        file = try StoreError.ofSystem { () throws(SystemFailure) in try SpillFile(inOneOf: directories) }
        self.level = level
    }

    func append(_ entry: UnsafeRawBufferPointer) throws(StoreError) {
        buffer.append(contentsOf: entry)
        if buffer.count >= bufferByteCount { try flush() }
    }

    func finish() throws(StoreError) {
        try flush()
        buffer = []
    }

    private func flush() throws(StoreError) {
        try StoreError.ofSystem { () throws(SystemFailure) in try file.append(buffer) }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Moves to the first entry; returns false if the run is empty.
    func start(bufferByteCount: Int) throws(StoreError) -> Bool {
        self.bufferByteCount = bufferByteCount
        (position, fileOffset) = (0, 0)
        buffer = try StoreError.ofSystem { () throws(SystemFailure) in try file.read(bufferByteCount, at: 0) }
        return try fill()
    }

    /// Moves to the next entry; returns false at the end.
    func advance() throws(StoreError) -> Bool {
        position += entryByteCount
        return try fill()
    }

    /// Reads the length and prefix of the current entry; returns false if it is incomplete.
    private func look() -> Bool {
        buffer.withUnsafeBytes { buffer in
            let entry = EntryArena.entry(at: position, in: buffer)
            entryByteCount = entry?.count ?? 0
            if let entry { prefix = EntryArena.prefix(of: EntryArena.key(of: entry)) }
        }
        return entryByteCount > 0
    }

    /// Reads until the buffer contains the whole current entry; returns false at the end.
    private func fill() throws(StoreError) -> Bool {
        if look() { return true }
        fileOffset += position
        position = 0
        guard fileOffset < file.byteCount else { return false }
        var wanted = bufferByteCount
        repeat {
            buffer = try StoreError.ofSystem { () throws(SystemFailure) in try file.read(wanted, at: fileOffset) }
            if look() { return true }
            wanted *= 2
        } while wanted / 2 < file.byteCount - fileOffset
        throw StoreError(.ioFailure, "A temporary file does not hold what was written to it.")
    }

    func withEntry(_ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) {
        // A copy of the reference keeps the bytes alive while `body` runs.
        let current = buffer
        try current.span.bytes.withUnsafeBytes { (buffer) throws(StoreError) in
            if let entry = EntryArena.entry(at: position, in: buffer) { try body(entry) }
        }
    }

    func precedes(_ other: SortedRun) -> Bool {
        if prefix != other.prefix { return prefix < other.prefix }
        return buffer.withUnsafeBytes { mine in
            other.buffer.withUnsafeBytes { theirs in
                guard let a = EntryArena.entry(at: position, in: mine),
                    let b = EntryArena.entry(at: other.position, in: theirs)
                else { return false }
                return EntryArena.order(a, b) < 0
            }
        }
    }
}
