internal import RoostCore
internal import RoostJSONText

/// Reads the objects of a JSON array, or of JSON Lines.
///
/// The columns are the keys, in the order of their first occurrence. An array or object inside a
/// row is read as its JSON text. Only one row is held in memory.
final class JSONRowReader: TextRowReader {
    private static let maximumValueByteCount = 256 << 20
    /// The maximum number of properties of an entity.
    private static let maximumColumnCount = 65_535

    private(set) var columns: [String] = []
    private(set) var row = ImportRow()

    private let name: String
    private let isLines: Bool
    private var tokens: JSONTokenizer
    /// The positions of the columns by the bytes of their names, because strings of different bytes
    /// can be equal.
    private var known: [[UInt8]: Int] = [:]
    private var hasBegun = false
    private var storage = ByteStorage()

    init(_ input: ImportInput, encoding: TextEncoding?, isLines: Bool) throws(StoreError) {
        (name, self.isLines) = (input.name, isLines)
        var text = try DecodedInput(input, encoding: encoding)
        tokens = JSONTokenizer(
            syntax: isLines ? .lines : .json, limits: .init(tokenByteCount: Self.maximumValueByteCount)
        ) { buffer in
            try text.read(into: buffer)
        }
    }

    func bytes(of cell: ImportRow.Cell) -> UnsafeRawBufferPointer { storage.bytes(cell.start, byteCount: cell.count) }

    func next() throws(StoreError) -> Bool {
        let isRow: Bool
        do throws(JSONSyntaxError) { isRow = try readRow() } catch {
            throw StoreError(error, in: "'\(name)'", code: .invalidValue)
        }
        guard columns.count <= Self.maximumColumnCount else {
            throw StoreError(
                .limitExceeded,
                "'\(name)', line \(row.line): the rows have more than \(Self.maximumColumnCount) keys together. Do the keys contain data?"
            )
        }
        return isRow
    }

    private func readRow() throws(JSONSyntaxError) -> Bool {
        if !isLines, !hasBegun {
            guard try tokens.next() == .beginArray else {
                throw tokens.mismatch("an array of objects (rows on lines of their own need --format=jsonl)")
            }
        }
        hasBegun = true
        let token = try tokens.next()
        if token == .end { return false }
        if !isLines, token == .endArray {
            _ = try tokens.next()
            return false
        }
        storage.removeAll()
        row.problem = nil
        row.line = tokens.tokenLine
        row.cells.removeAll(keepingCapacity: true)
        for _ in columns { row.cells.append(.absent) }
        guard token == .beginObject else {
            row.problem = "an object is expected."
            if token == .beginArray { try tokens.skipRest() }
            return true
        }
        while try tokens.nextKey() {
            let index = column(tokens.text)
            row.cells[index] = try readCell()
        }
        return true
    }

    /// Returns the position of a column, and adds an unknown column.
    private func column(_ key: String) -> Int {
        let bytes = Array(key.utf8)
        if let index = known[bytes] { return index }
        known[bytes] = columns.count
        columns.append(key)
        row.cells.append(.absent)
        return columns.count - 1
    }

    private func readCell() throws(JSONSyntaxError) -> ImportRow.Cell {
        let kind: ImportRow.Cell.Kind
        switch try tokens.next() {
        case .null: return ImportRow.Cell(kind: .null)
        case .true: return cell(.boolean, bytes: Array("true".utf8))
        case .false: return cell(.boolean, bytes: Array("false".utf8))
        case .number: kind = .number
        case .string: kind = .text
        default: return cell(.json, bytes: JSONText.bytes(try JSONNode(from: &tokens), style: .compact))
        }
        return tokens.withText { bytes in
            let start = storage.append(bytes)
            return ImportRow.Cell(kind: kind, start: start, count: bytes.count)
        }
    }

    private func cell(_ kind: ImportRow.Cell.Kind, bytes: [UInt8]) -> ImportRow.Cell {
        let start = bytes.withUnsafeBytes { storage.append($0) }
        return ImportRow.Cell(kind: kind, start: start, count: bytes.count)
    }
}
