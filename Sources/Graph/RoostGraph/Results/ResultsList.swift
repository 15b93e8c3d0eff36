internal import RoostCore

/// One object of a result, with the data that determine its position.
package struct ResultsRow: Sendable {
    package var key: Int64
    /// The entity's number.
    package var entity: Int
    /// A hash of the object's values.
    package var fingerprint: UInt64
    /// The bytes that determine the order; objects with equal bytes are ordered by key.
    package var order: [UInt8]
    package var section: String

    package init(key: Int64, entity: Int, fingerprint: UInt64, order: [UInt8], section: String = "") {
        (self.key, self.entity, self.fingerprint) = (key, entity, fingerprint)
        (self.order, self.section) = (order, section)
    }
}

/// The ordered rows of a result, in sections and chunks.
///
/// A dictionary maps each key to its chunk of at most 128 rows. So a row is found quickly, and
/// inserting or removing it moves only rows of one chunk. The list stores the bytes of each row's
/// order, because a changed object no longer has the values that determined its old position.
package struct ResultsList: Sendable {
    /// A row, without the bytes of its order.
    struct Entry: Sendable {
        var key: Int64
        var fingerprint: UInt64
        /// The end of the row's order in ``Chunk/bytes``.
        var end: Int32
        var entity: UInt16
    }

    struct Chunk: Sendable {
        static let mostRows = 128
        var entries: [Entry] = []
        var bytes: [UInt8] = []
    }

    struct Section: Sendable {
        let name: String
        /// A number that does not change when sections are inserted.
        let serial: UInt32
        var count = 0
        var chunks: [Chunk] = []
        /// Numbers that do not change when chunks are inserted.
        var chunkNumbers: [UInt32] = []
        var counts: [Int32] = []
    }

    struct Position: Hashable, Comparable {
        var section: Int
        var chunk: Int
        var index: Int

        static func < (left: Position, right: Position) -> Bool {
            (left.section, left.chunk, left.index) < (right.section, right.chunk, right.index)
        }
    }

    /// Whether the list always has exactly one section, without a name.
    let isOneSection: Bool
    private(set) var sections: [Section] = []
    private(set) var serials: [UInt32] = []
    private(set) var count = 0
    private var chunkOfKey: [Int64: UInt32] = [:]
    /// The serial numbers of sections by chunk number.
    private var sectionOfChunk: [UInt32] = []
    private var freeChunkNumbers: [UInt32] = []
    private var nextSerial: UInt32 = 0

    package init(isOneSection: Bool) {
        self.isOneSection = isOneSection
        if isOneSection { _ = insertSection("", at: 0) }
    }

    // MARK: Searching

    func contains(_ key: Int64) -> Bool { chunkOfKey[key] != nil }

    func position(of key: Int64) -> Position? {
        guard let number = chunkOfKey[key],
            let section = serials.firstIndex(of: sectionOfChunk[Int(number)]),
            let chunk = sections[section].chunkNumbers.firstIndex(of: number),
            let index = sections[section].chunks[chunk].entries.firstIndex(where: { $0.key == key })
        else { return nil }
        return Position(section: section, chunk: chunk, index: index)
    }

    func place(of position: Position) -> ResultsPlace {
        var item = position.index
        for count in sections[position.section].counts[..<position.chunk] { item += Int(count) }
        return ResultsPlace(section: position.section, item: item)
    }

    func place(of key: Int64) -> ResultsPlace? { position(of: key).map { place(of: $0) } }

    func entry(at position: Position) -> Entry {
        sections[position.section].chunks[position.chunk].entries[position.index]
    }

    /// Returns whether the row at a position has the same order and section as another row.
    func hasOrder(_ row: ResultsRow, at position: Position) -> Bool {
        let section = sections[position.section]
        return section.chunks[position.chunk].compare(row.order, with: position.index) == 0
            && (isOneSection || section.name == row.section)
    }

    func isAfterLast(_ row: ResultsRow) -> Bool {
        guard let section = sections.last, let chunk = section.chunks.last, let last = chunk.entries.indices.last
        else { return true }
        return chunk.precedes(last, row: row)
    }

    func isBeforeFirst(_ row: ResultsRow) -> Bool {
        guard let chunk = sections.first?.chunks.first, !chunk.entries.isEmpty else { return true }
        return !chunk.precedes(0, row: row)
    }

    func forEach(_ body: (ResultsPlace, Entry) -> Void) {
        for (number, section) in sections.enumerated() {
            var item = 0
            for chunk in section.chunks {
                for entry in chunk.entries {
                    body(ResultsPlace(section: number, item: item), entry)
                    item += 1
                }
            }
        }
    }

    // MARK: Changing

    /// Inserts a row; this is fastest at the end of the list.
    package mutating func append(_ row: ResultsRow) {
        guard isAfterLast(row) else { return insert(row, former: [:]) }
        if let last = sections.indices.last, isOneSection || sections[last].name == row.section {
            let chunk = sections[last].chunks.count - 1
            // A chunk is filled to three quarters, so that later insertions do not split it at once.
            if chunk < 0 || sections[last].chunks[chunk].entries.count >= Chunk.mostRows * 3 / 4 {
                insertChunk(Chunk(), at: chunk + 1, in: last)
            }
            insert(
                row,
                at: Position(
                    section: last, chunk: sections[last].chunks.count - 1,
                    index: sections[last].chunks[sections[last].chunks.count - 1].entries.count))
        } else {
            let section = insertSection(row.section, at: sections.count)
            insertChunk(Chunk(), at: 0, in: section)
            insert(row, at: Position(section: section, chunk: 0, index: 0))
        }
    }

    mutating func setFingerprint(_ fingerprint: UInt64, at position: Position) {
        sections[position.section].chunks[position.chunk].entries[position.index].fingerprint = fingerprint
    }

    /// Removes a row, and returns its section if the section was also removed.
    ///
    /// Earlier positions remain valid.
    mutating func remove(at position: Position) -> (name: String, serial: UInt32)? {
        let (s, c) = (position.section, position.chunk)
        let key = sections[s].chunks[c].remove(at: position.index)
        chunkOfKey[key] = nil
        count -= 1
        sections[s].count -= 1
        sections[s].counts[c] -= 1
        guard sections[s].chunks[c].entries.isEmpty else { return nil }
        freeChunkNumbers.append(sections[s].chunkNumbers[c])
        sections[s].chunks.remove(at: c)
        sections[s].chunkNumbers.remove(at: c)
        sections[s].counts.remove(at: c)
        guard sections[s].count == 0, !isOneSection else { return nil }
        let section = sections.remove(at: s)
        serials.remove(at: s)
        return (section.name, section.serial)
    }

    /// Inserts a row whose key is not in the list.
    ///
    /// `former` contains the serial numbers of sections that were removed in the same update, by
    /// name.
    mutating func insert(_ row: ResultsRow, former: [String: UInt32]) {
        // Find the last section that begins before the row. The row belongs to this section, the
        // next one, or a new one between them.
        var (low, high) = (0, sections.count)
        while low < high {
            let middle = (low + high) / 2
            if let first = sections[middle].chunks.first, !first.precedes(0, row: row) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        var section = low - 1
        if !isOneSection, section < 0 || sections[section].name != row.section {
            if low < sections.count, sections[low].name == row.section {
                section = low
            } else {
                section = insertSection(
                    row.section, at: low, serial: isPlanted(.renewsSections) ? nil : former[row.section])
            }
        }
        section = max(0, section)
        guard !sections[section].chunks.isEmpty else {
            insertChunk(Chunk(), at: 0, in: section)
            return insert(row, at: Position(section: section, chunk: 0, index: 0))
        }
        (low, high) = (0, sections[section].chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if sections[section].chunks[middle].precedes(0, row: row) { low = middle + 1 } else { high = middle }
        }
        var chunk = max(0, low - 1)
        if sections[section].chunks[chunk].entries.count >= Chunk.mostRows {
            split(chunk, in: section)
            if sections[section].chunks[chunk + 1].precedes(0, row: row) { chunk += 1 }
        }
        let index = sections[section].chunks[chunk].firstIndex(notBefore: row)
        insert(row, at: Position(section: section, chunk: chunk, index: index))
    }

    private mutating func insert(_ row: ResultsRow, at position: Position) {
        let (s, c) = (position.section, position.chunk)
        sections[s].chunks[c].insert(row, at: position.index)
        sections[s].counts[c] += 1
        sections[s].count += 1
        count += 1
        chunkOfKey[row.key] = sections[s].chunkNumbers[c]
    }

    private mutating func insertSection(_ name: String, at number: Int, serial: UInt32? = nil) -> Int {
        if serial == nil { nextSerial += 1 }
        sections.insert(Section(name: name, serial: serial ?? nextSerial), at: number)
        serials.insert(serial ?? nextSerial, at: number)
        return number
    }

    private mutating func insertChunk(_ chunk: Chunk, at index: Int, in section: Int) {
        let number: UInt32
        if let free = freeChunkNumbers.popLast() {
            number = free
        } else {
            number = UInt32(sectionOfChunk.count)
            sectionOfChunk.append(0)
        }
        sectionOfChunk[Int(number)] = sections[section].serial
        sections[section].chunks.insert(chunk, at: index)
        sections[section].chunkNumbers.insert(number, at: index)
        sections[section].counts.insert(Int32(chunk.entries.count), at: index)
    }

    private mutating func split(_ chunk: Int, in section: Int) {
        let half = sections[section].chunks[chunk].splitInHalf()
        sections[section].counts[chunk] -= Int32(half.entries.count)
        insertChunk(half, at: chunk + 1, in: section)
        let number = sections[section].chunkNumbers[chunk + 1]
        for entry in half.entries { chunkOfKey[entry.key] = number }
    }

    /// Gives sections the serial numbers of the sections with the same names in another list.
    ///
    /// Sections with other names get new numbers.
    mutating func adoptSerials(of other: ResultsList) {
        var known = Dictionary(other.sections.map { ($0.name, $0.serial) }, uniquingKeysWith: { first, _ in first })
        nextSerial = max(nextSerial, other.nextSerial)
        var new: [UInt32: UInt32] = [:]
        for index in sections.indices {
            let old = sections[index]
            let serial: UInt32
            if let taken = known.removeValue(forKey: old.name) {
                serial = taken
            } else {
                nextSerial += 1
                serial = nextSerial
            }
            new[old.serial] = serial
            var section = Section(name: old.name, serial: serial)
            (section.count, section.chunks) = (old.count, old.chunks)
            (section.chunkNumbers, section.counts) = (old.chunkNumbers, old.counts)
            sections[index] = section
        }
        serials = sections.map(\.serial)
        for index in sectionOfChunk.indices { sectionOfChunk[index] = new[sectionOfChunk[index]] ?? 0 }
    }
}

extension ResultsList.Section {
    func position(ofItem item: Int) -> (chunk: Int, index: Int) {
        var (chunk, rest) = (0, item)
        while chunk < counts.count - 1, rest >= Int(counts[chunk]) {
            rest -= Int(counts[chunk])
            chunk += 1
        }
        return (chunk, rest)
    }
}

extension ResultsList.Chunk {
    /// Returns the range of a row's order in `bytes`.
    func range(_ index: Int) -> Range<Int> {
        (index == 0 ? 0 : Int(entries[index - 1].end))..<Int(entries[index].end)
    }

    func precedes(_ index: Int, row: ResultsRow) -> Bool {
        let order = compare(row.order, with: index)
        return order == 0 ? entries[index].key < row.key : order > 0
    }

    func firstIndex(notBefore row: ResultsRow) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if precedes(middle, row: row) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    mutating func insert(_ row: ResultsRow, at index: Int) {
        let start = index == 0 ? 0 : Int(entries[index - 1].end)
        bytes.insert(contentsOf: row.order, at: start)
        let length = Int32(truncatingIfNeeded: row.order.count)
        for later in index..<entries.count { entries[later].end &+= length }
        entries.insert(
            ResultsList.Entry(
                key: row.key, fingerprint: row.fingerprint, end: Int32(truncatingIfNeeded: start) &+ length,
                entity: UInt16(truncatingIfNeeded: row.entity)), at: index)
    }

    mutating func remove(at index: Int) -> Int64 {
        let range = range(index)
        bytes.removeSubrange(range)
        let length = Int32(truncatingIfNeeded: range.count)
        for later in index..<entries.count { entries[later].end &-= length }
        return entries.remove(at: index).key
    }

    mutating func splitInHalf() -> ResultsList.Chunk {
        let middle = entries.count / 2
        let start = middle == 0 ? 0 : Int(entries[middle - 1].end)
        var half = ResultsList.Chunk(entries: Array(entries[middle...]), bytes: Array(bytes[start...]))
        for index in half.entries.indices { half.entries[index].end &-= Int32(truncatingIfNeeded: start) }
        entries.removeSubrange(middle...)
        bytes.removeSubrange(start...)
        return half
    }
}
