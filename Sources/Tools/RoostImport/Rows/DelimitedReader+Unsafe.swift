internal import Foundation
internal import RoostCore

/// Reads comma-separated values (RFC 4180) and similar formats.
///
/// Each cell is a range of the buffer, in which a doubled quote becomes one quote. The first line
/// determines how all lines end: with LF or CR LF, or with CR alone. An empty cell is null, and
/// `""` is an empty text. Empty lines are skipped. In a text of one column, a line with only the
/// separator is a row with null. The buffer grows to the size of the longest row.
final class DelimitedReader: TextRowReader {
    private static let maximumRowByteCount = 256 << 20
    private static let chunkByteCount = 256 << 10
    private static let quote = UInt8(ascii: "\"")
    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let usualDelimiters = [",", ";", "\t", "|"].map { UInt8(ascii: $0) }

    private(set) var columns: [String] = []
    private(set) var row = ImportRow()

    private let name: String
    private let hasHeader: Bool
    private var text: DecodedInput
    private var delimiter: UInt8
    /// Whether the first row was read only to count its cells, and must be returned next.
    private var keepsFirst = false

    // SAFETY: the bytes base[0 ..< end] are initialized, 0 <= rowStart <= end <= capacity, and
    // the bytes of each cell are before end. A cell's start counts from rowStart. One thread uses
    // the reader.
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var rowStart = 0
    private var end = 0
    private var isAtEnd = false
    /// The length of the current row, in bytes.
    private var rowByteCount = 0
    private var line = 1
    /// Whether lines end with CR alone, or nil before the end of the first line.
    private var endsWithReturn: Bool?

    /// Reads the first row.
    ///
    /// - Throws: `invalidValue` for a text without a valid first row; `ioFailure`, `limitExceeded`.
    init(
        _ input: ImportInput, encoding: TextEncoding?, delimiter: UInt8?, hasHeader: Bool
    ) throws(StoreError) {
        name = input.name
        text = try DecodedInput(input, encoding: encoding)
        self.hasHeader = hasHeader
        capacity = Self.chunkByteCount
        base = .allocate(capacity: capacity)
        self.delimiter = delimiter ?? UInt8(ascii: ",")
        if delimiter == nil { self.delimiter = try guessDelimiter() }
        guard try next() else {
            throw StoreError(
                .invalidValue,
                "'\(name)' is empty.\(hasHeader ? " Its first line must have the names of the columns." : "")")
        }
        if let problem = row.problem { throw StoreError(.invalidValue, "'\(name)', line \(row.line): \(problem)") }
        if hasHeader {
            for (index, cell) in row.cells.enumerated() {
                guard let name = String(validating: bytes(of: cell), as: UTF8.self) else {
                    throw StoreError(
                        .invalidValue,
                        "'\(name)', line \(row.line): the name of column \(index + 1) is not valid UTF-8. Name the encoding with --encoding."
                    )
                }
                guard !name.utf8.contains(0) else {
                    throw StoreError(
                        .invalidValue,
                        "'\(self.name)' has a zero byte in the name of column \(index + 1). Name the encoding with --encoding, as in --encoding=utf-16."
                    )
                }
                columns.append(name)
            }
        } else {
            columns = row.cells.indices.map { "column\($0 + 1)" }
            keepsFirst = true
        }
    }

    deinit { base.deallocate() }

    func bytes(of cell: ImportRow.Cell) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + rowStart + cell.start, count: cell.count)
    }

    func next() throws(StoreError) -> Bool {
        if keepsFirst {
            keepsFirst = false
            return true
        }
        rowStart += rowByteCount
        rowByteCount = 0
        while try has(0), try isLineEnd(0) {
            var end = 0
            try passLineEnd(&end)
            rowStart += end
        }
        guard try has(0) else { return false }
        var index = 0
        row.line = line
        row.problem = nil
        row.cells.removeAll(keepingCapacity: true)
        repeat {
            try readCell(&index)
        } while try passDelimiter(&index)
        rowByteCount = index
        if columns.count == 1, row.cells.count == 2, row.cells.allSatisfy({ $0.kind == .null }) {
            row.cells.removeLast()
        }
        if !columns.isEmpty, row.problem == nil, row.cells.count != columns.count {
            let first = hasHeader ? "header" : "first row"
            row.problem = "the row has \(row.cells.count) cells, and the \(first) has \(columns.count)."
        }
        return true
    }

    // MARK: Cells

    private func readCell(_ index: inout Int) throws(StoreError) {
        if try has(index), base[rowStart + index] == Self.quote { return try readQuotedCell(&index) }
        let start = index
        let (delimiter, newline, carriageReturn) = (delimiter, Self.newline, Self.carriageReturn)
        while true {
            let (base, end) = (base + rowStart, end - rowStart)
            while index < end {
                let byte = base[index]
                if byte == delimiter || byte == newline || byte == carriageReturn { break }
                index += 1
            }
            if index == end {
                guard try has(index) else { break }
            } else if base[index] == delimiter {
                break
            } else if try isLineEnd(index) {
                break
            } else {
                index += 1
            }
        }
        row.cells.append(.init(kind: index == start ? .null : .plain, start: start, count: index - start))
    }

    /// Reads a quoted cell, and replaces each doubled quote by one quote in place.
    private func readQuotedCell(_ index: inout Int) throws(StoreError) {
        index += 1
        let start = index
        var out = index
        let firstLine = line
        while true {
            guard try has(index) else {
                throw StoreError(
                    .invalidValue,
                    "'\(name)', line \(firstLine), column '\(columnName)': a quote is opened and never closed.")
            }
            let byte = base[rowStart + index]
            if byte == Self.quote {
                index += 1
                guard try has(index), base[rowStart + index] == Self.quote else { break }
            } else if byte == Self.newline {
                if endsWithReturn != true { line += 1 }
            } else if byte == Self.carriageReturn, try isLoneReturn(index) {
                line += 1
            }
            base[rowStart + out] = byte
            out += 1
            index += 1
        }
        let column = columnName
        row.cells.append(.init(kind: .plain, start: start, count: out - start))
        // The bytes after the closing quote do not belong to a cell.
        let closing = index
        while try has(index) {
            if base[rowStart + index] == delimiter { break }
            if try isLineEnd(index) { break }
            index += 1
        }
        if index > closing, row.problem == nil {
            row.problem = "column '\(column)' has text after its closing quote. Double the quotes inside a cell."
        }
    }

    private var columnName: String {
        let index = row.cells.count
        return columns.indices.contains(index) ? columns[index] : "column\(index + 1)"
    }

    /// Skips the separator after a cell, or returns false at the end of the row.
    private func passDelimiter(_ index: inout Int) throws(StoreError) -> Bool {
        guard try has(index) else { return false }
        if base[rowStart + index] == delimiter {
            index += 1
            return true
        }
        try passLineEnd(&index)
        return false
    }

    /// Returns whether a line ends at a byte outside quotes.
    ///
    /// If lines end with CR alone, LF belongs to a cell. Otherwise a CR without LF belongs to a
    /// cell, except at the end of the text.
    private func isLineEnd(_ index: Int) throws(StoreError) -> Bool {
        switch base[rowStart + index] {
        case Self.newline:
            if endsWithReturn == nil { endsWithReturn = false }
            return endsWithReturn == false
        case Self.carriageReturn:
            if try isPairOfEnds(index) {
                if endsWithReturn == nil { endsWithReturn = false }
                return true
            }
            guard try has(index + 1) else { return true }
            if endsWithReturn == nil { endsWithReturn = true }
            return endsWithReturn == true
        default: return false
        }
    }

    /// Returns whether the bytes at an index are one to three CR, followed by LF.
    ///
    /// Some programs repeat the CR.
    private func isPairOfEnds(_ index: Int) throws(StoreError) -> Bool {
        try byteCountOfPair(index) > 0
    }

    /// Returns the number of bytes of CR LF, possibly with repeated CR, or 0 for another line
    /// ending.
    private func byteCountOfPair(_ index: Int) throws(StoreError) -> Int {
        guard endsWithReturn != true else { return 0 }
        for count in 0..<4 {
            guard try has(index + count) else { return 0 }
            let byte = base[rowStart + index + count]
            if byte == Self.newline { return count == 0 ? 0 : count + 1 }
            guard byte == Self.carriageReturn else { return 0 }
        }
        return 0
    }

    /// Returns whether a CR inside quotes ends a line.
    ///
    /// As long as the form of line endings is unknown, a CR without LF ends a line.
    private func isLoneReturn(_ index: Int) throws(StoreError) -> Bool {
        if let endsWithReturn { return endsWithReturn }
        return try !isPairOfEnds(index)
    }

    private func passLineEnd(_ index: inout Int) throws(StoreError) {
        index += max(1, try byteCountOfPair(index))
        line += 1
    }

    // MARK: Bytes

    /// Returns whether the text has a byte at an index, which counts from the start of the row.
    ///
    /// Reads more bytes if necessary.
    @inline(__always)
    private func has(_ index: Int) throws(StoreError) -> Bool {
        if rowStart + index < end { return true }
        return try fill(index)
    }

    private func fill(_ index: Int) throws(StoreError) -> Bool {
        while rowStart + index >= end {
            if isAtEnd { return false }
            if rowStart > 0 {
                base.update(from: base + rowStart, count: end - rowStart)
                end -= rowStart
                rowStart = 0
            }
            if capacity - end < Self.chunkByteCount / 2 { try grow() }
            let count = try text.read(into: UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end))
            if count == 0 { isAtEnd = true }
            end += count
        }
        return true
    }

    private func grow() throws(StoreError) {
        // `fill` has moved the row to the start of the memory.
        guard end <= Self.maximumRowByteCount else {
            throw StoreError(
                .limitExceeded,
                "'\(name)', line \(row.line): the row is longer than \(Self.maximumRowByteCount) bytes. Is a quote missing?"
            )
        }
        // One more chunk, because the longest allowed row may end in it.
        let largerCapacity = min(capacity * 2, Self.maximumRowByteCount + Self.chunkByteCount)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: largerCapacity)
        larger.update(from: base, count: end)
        base.deallocate()
        base = larger
        capacity = largerCapacity
    }

    /// Returns the separator that the first line has most often outside quotes, or a comma.
    private func guessDelimiter() throws(StoreError) -> UInt8 {
        var counts = [Int](repeating: 0, count: Self.usualDelimiters.count)
        var (index, isQuoted, hasText) = (0, false, false)
        while index < 1 << 16, try has(index) {
            let byte = base[rowStart + index]
            if byte == Self.quote { isQuoted.toggle() }
            if !isQuoted {
                if byte == Self.newline || byte == Self.carriageReturn, hasText { break }
                hasText = hasText || byte != Self.newline && byte != Self.carriageReturn
                if let place = Self.usualDelimiters.firstIndex(of: byte) { counts[place] += 1 }
            }
            index += 1
        }
        let most = counts.max() ?? 0
        guard most > 0, let place = counts.firstIndex(of: most) else { return UInt8(ascii: ",") }
        return Self.usualDelimiters[place]
    }
}
