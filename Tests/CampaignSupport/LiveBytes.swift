/// The bytes of a file that hold content: cells of SQLite b-trees, nodes of LMDB trees, or names
/// and values of a JSON document.
///
/// Most mutations aim at live bytes, because random positions mostly hit free pages and unused
/// space. The file must be sound, because it is parsed.
public struct LiveBytes: Sendable {
    /// The cells, each with several pieces if its value continues on other pages.
    public private(set) var cells: [[Range<Int>]] = []
    /// All pieces in ascending order.
    private var pieces: [Range<Int>] = []
    /// The number of live bytes.
    public private(set) var count = 0

    /// Finds the live bytes of a sound file; `type` is a type of store, such as `coredata`.
    public init(of type: String, in bytes: [UInt8]) {
        var finder = Finder(bytes)
        switch type {
        case "sqlite", "coredata": finder.findSQLite()
        case "lmdb": finder.findLMDB()
        default: finder.findJSON()
        }
        cells = finder.cells.filter { !$0.isEmpty }
        pieces = cells.flatMap { $0 }.sorted { $0.lowerBound < $1.lowerBound }
        count = pieces.reduce(0) { $0 + $1.count }
    }

    /// Returns the position of a random live byte, or 0 without live bytes.
    func position(using random: inout some CampaignRandom) -> Int {
        var offset = random.below(max(1, count))
        for piece in pieces {
            if offset < piece.count { return piece.lowerBound + offset }
            offset -= piece.count
        }
        return 0
    }

    /// Returns a random position in a cell that contains `mark`, or nil.
    func position(
        inCellWith mark: [UInt8], of bytes: [UInt8], using random: inout some CampaignRandom
    ) -> Int? {
        let found = cells.filter { cell in
            cell.contains { piece in bytes[piece].firstRange(of: mark) != nil }
        }
        guard !found.isEmpty else { return nil }
        let cell = found[random.below(found.count)]
        var offset = random.below(cell.reduce(0) { $0 + $1.count })
        for piece in cell {
            if offset < piece.count { return piece.lowerBound + offset }
            offset -= piece.count
        }
        return nil
    }

    /// Returns whether a change of the file affects a live byte.
    ///
    /// If the size changed, all bytes after the first difference are affected.
    func areHit(in changed: [UInt8], of good: [UInt8]) -> Bool {
        if changed.count == good.count { return pieces.contains { changed[$0] != good[$0] } }
        let prefix = zip(changed, good).prefix { $0 == $1 }.count
        return (pieces.last?.upperBound ?? 0) > prefix
    }
}

private struct Finder {
    let bytes: [UInt8]
    var cells: [[Range<Int>]] = []
    private var seen: Set<Int> = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private func big(at offset: Int, count: Int) -> Int {
        guard offset >= 0, offset + count <= bytes.count else { return 0 }
        return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private func little(at offset: Int, count: Int) -> Int {
        guard offset >= 0, offset + count <= bytes.count else { return 0 }
        return bytes[offset..<offset + count].reversed().reduce(0) { ($0 & 0xFF_FFFF_FFFF_FFFF) << 8 | Int($1) }
    }

    private func clamped(from start: Int, count: Int) -> Range<Int> {
        let low = min(max(0, start), bytes.count)
        return low..<min(max(low, start + count), bytes.count)
    }

    // MARK: SQLite

    private var pageSize: Int { big(at: 16, count: 2) == 1 ? 65536 : max(512, big(at: 16, count: 2)) }
    private var usable: Int { pageSize - big(at: 20, count: 1) }

    mutating func findSQLite() {
        var roots: [Int] = []
        walk(1) { finder, payload in
            if let root = finder.root(in: payload), root > 1 { roots.append(root) }
        }
        for root in roots { walk(root) { _, _ in } }
    }

    /// Returns an SQLite integer of variable length, and its size.
    private func varint(_ offset: Int) -> (value: Int, count: Int) {
        var value = 0
        for index in 0..<9 {
            let byte = big(at: offset + index, count: 1)
            if index == 8 { return (value << 8 | byte, 9) }
            value = value << 7 | byte & 0x7F
            if byte < 0x80 { return (value, index + 1) }
        }
        return (value, 9)
    }

    /// Returns the root page that a row of the schema names.
    private func root(in payload: Range<Int>) -> Int? {
        let (headerCount, first) = varint(payload.lowerBound)
        var (place, value) = (payload.lowerBound + first, payload.lowerBound + headerCount)
        for column in 0..<5 {
            let (type, count) = varint(place)
            place += count
            let length =
                switch type {
                case 0, 8, 9: 0
                case 1...4: type
                case 5: 6
                case 6, 7: 8
                default: (type - 12) / 2
                }
            if column == 3 { return type == 9 ? 1 : type == 8 ? 0 : big(at: value, count: length) }
            value += length
        }
        return nil
    }

    private mutating func walk(_ page: Int, _ visit: (Finder, Range<Int>) -> Void) {
        guard seen.insert(page).inserted, page > 0 else { return }
        let base = (page - 1) * pageSize
        let header = base + (page == 1 ? 100 : 0)
        let type = big(at: header, count: 1)
        guard [2, 5, 10, 13].contains(type) else { return }
        let isLeaf = type == 10 || type == 13
        let table = type == 5 || type == 13
        for index in 0..<big(at: header + 3, count: 2) {
            let cell = base + big(at: header + (isLeaf ? 8 : 12) + 2 * index, count: 2)
            var place = cell
            if !isLeaf {
                walk(big(at: place, count: 4), visit)
                place += 4
            }
            if type == 5 {
                cells.append([clamped(from: cell, count: 4 + varint(place).count)])
                continue
            }
            let (payload, count) = varint(place)
            place += count
            if table { place += varint(place).count }
            let most = table ? usable - 35 : (usable - 12) * 64 / 255 - 23
            let least = (usable - 12) * 32 / 255 - 23
            var local = payload
            if payload > most {
                let wanted = least + (payload - least) % (usable - 4)
                local = wanted <= most ? wanted : least
            }
            var pieces = [clamped(from: cell, count: place + local - cell)]
            if payload > local {
                var (next, rest) = (big(at: place + local, count: 4), payload - local)
                while next > 0, rest > 0, seen.insert(next).inserted {
                    let start = (next - 1) * pageSize
                    pieces.append(clamped(from: start + 4, count: min(rest, usable - 4)))
                    rest -= usable - 4
                    next = big(at: start, count: 4)
                }
            }
            cells.append(pieces)
            visit(self, clamped(from: place, count: local))
        }
        if !isLeaf { walk(big(at: header + 8, count: 4), visit) }
    }

    // MARK: LMDB

    mutating func findLMDB() {
        let size = little(at: 40, count: 4)
        guard size >= 512 else { return }
        // The newer of the two meta pages is the current one.
        let meta = little(at: 144, count: 8) > little(at: size + 144, count: 8) ? 0 : size
        walkLMDB(little(at: meta + 128, count: 8), pageSize: size)
    }

    private mutating func walkLMDB(_ page: Int, pageSize size: Int) {
        guard page > 1, page < bytes.count / size, seen.insert(page).inserted else { return }
        let base = page * size
        let isLeaf = little(at: base + 10, count: 2) & 0x02 != 0
        for index in 0..<max(0, (little(at: base + 12, count: 2) - 16) / 2) {
            let node = base + little(at: base + 16 + 2 * index, count: 2)
            let (low, high, flags, keyCount) = (
                little(at: node, count: 2), little(at: node + 2, count: 2), little(at: node + 4, count: 2),
                little(at: node + 6, count: 2)
            )
            guard isLeaf else {
                cells.append([clamped(from: node, count: 8 + keyCount)])
                walkLMDB(low | high << 16 | flags << 32, pageSize: size)
                continue
            }
            let (data, count) = (node + 8 + keyCount, low | high << 16)
            if flags & 0x01 != 0 {
                cells.append([
                    clamped(from: node, count: 8 + keyCount + 8),
                    clamped(from: little(at: data, count: 8) * size + 16, count: count),
                ])
            } else {
                cells.append([clamped(from: node, count: 8 + keyCount + count)])
                if flags & 0x02 != 0 { walkLMDB(little(at: data + 40, count: 8), pageSize: size) }
            }
        }
    }

    // MARK: JSON

    mutating func findJSON() {
        var position = 0
        while position < bytes.count {
            let start = position
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
                    position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
                }
                position += 1
                cells.append([clamped(from: start, count: position - start)])
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"):
                while position < bytes.count, !Self.endsToken.contains(bytes[position]) { position += 1 }
                cells.append([clamped(from: start, count: position - start)])
            default: position += 1
            }
        }
    }

    private static let endsToken: Set<UInt8> = Set(" ,:]}\n\r\t[{\"".utf8)
}
