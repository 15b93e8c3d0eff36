package import RoostCore

/// A binary property list (`bplist00`) whose objects are read on request, with checked offsets and
/// counts.
package struct BinaryPropertyList {
    /// An object; the members of collections are object numbers.
    package enum Object {
        case null
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        case date(Double)
        case data(Range<Int>)
        case string(String)
        case uid(Int)
        case array([Int])
        case dictionary([(key: Int, value: Int)])
    }

    package let bytes: [UInt8]
    package let file: String
    let objectCount: Int
    package let topObject: Int
    private let budget: DecodingBudget
    private let offsetSize: Int
    private let referenceSize: Int
    private let tableOffset: Int

    /// Reads and checks the trailer; several lists of one file may share a budget.
    package init(_ bytes: [UInt8], file: String, budget: DecodingBudget = DecodingBudget()) throws(StoreError) {
        self.bytes = bytes
        self.file = file
        self.budget = budget
        // The format: bplist00, the objects, the table of offsets, and a trailer of 32 bytes.
        guard bytes.count >= 8 + 32, bytes.starts(with: Array("bplist0".utf8)) else {
            throw Self.damaged(file, what: "it is not a binary property list, or its end is missing")
        }
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard let count = Self.number(bytes, offset: trailer + 8, size: 8),
            let top = Self.number(bytes, offset: trailer + 16, size: 8),
            let table = Self.number(bytes, offset: trailer + 24, size: 8), (1...8).contains(offsetSize),
            (1...8).contains(referenceSize),
            count > 0, count <= bytes.count, top < count, table >= 8, table <= trailer,
            count * offsetSize <= trailer - table
        else { throw Self.damaged(file, what: "its trailer is invalid") }
        objectCount = count
        topObject = top
        tableOffset = table
    }

    /// Returns the object with the given number, without reading its members.
    package func object(_ number: Int) throws(StoreError) -> Object {
        try budget.take(members: 1, of: file)
        guard number >= 0, number < objectCount,
            let offset = Self.number(bytes, offset: tableOffset + number * offsetSize, size: offsetSize),
            offset >= 8, offset < tableOffset
        else { throw Self.damaged(file, what: "object \(number) does not exist") }
        let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 0x0F))
        if let scalar = scalar(kind, low: low, offset: offset) { return scalar }
        switch kind {
        case 0x4:
            let (start, count) = try length(offset, low: low)
            let range = try range(start, count: count, width: 1, number: number)
            try budget.take(bytes: count, of: file)
            return .data(range)
        case 0x5:
            let (start, count) = try length(offset, low: low)
            let range = try range(start, count: count, width: 1, number: number)
            try budget.take(bytes: count, of: file)
            return .string(String(decoding: bytes[range], as: UTF8.self))
        case 0x6:
            let (start, count) = try length(offset, low: low)
            let range = try range(start, count: count, width: 2, number: number)
            try budget.take(bytes: range.count, of: file)
            let units = stride(from: range.lowerBound, to: range.upperBound, by: 2)
                .map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            return .string(String(decoding: units, as: UTF16.self))
        case 0x8:
            if low <= 7, let value = Self.number(bytes, offset: offset + 1, size: low + 1) { return .uid(value) }
        case 0xA, 0xB, 0xC:
            let (start, count) = try length(offset, low: low)
            return .array(try references(start, count: count, number: number))
        case 0xD:
            let (start, count) = try length(offset, low: low)
            guard count <= bytes.count / 2 else { break }
            let members = try references(start, count: count * 2, number: number)
            return .dictionary((0..<count).map { (members[$0], members[count + $0]) })
        default: break
        }
        let problem = kind == 0x1 ? "is an integer outside the range of Int64" : "is damaged or has an unknown kind"
        throw Self.damaged(file, what: "object \(number) \(problem)")
    }

    /// Returns the fixed-size object at an offset, or nil for another kind.
    private func scalar(_ kind: UInt8, low: Int, offset: Int) -> Object? {
        switch kind {
        case 0x0:
            switch low {
            case 0: return .null
            case 8: return .boolean(false)
            case 9: return .boolean(true)
            default: break
            }
        case 0x1:
            if low <= 3, let value = signed(offset + 1, size: 1 << low) { return .integer(value) }
            // An unsigned number of 2^63 or more has 16 bytes and does not fit into Int64. Smaller
            // numbers may have 16 bytes too.
            if low == 4, let high = signed(offset + 1, size: 8), let value = signed(offset + 9, size: 8),
                high == (value < 0 ? -1 : 0)
            {
                return .integer(value)
            }
        case 0x2:
            if low == 2, let bits = Self.number(bytes, offset: offset + 1, size: 4) {
                return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
            }
            if low == 3, let bits = signed(offset + 1, size: 8) {
                return .real(Double(bitPattern: UInt64(bitPattern: bits)))
            }
        case 0x3:
            if low == 3, let bits = signed(offset + 1, size: 8) {
                return .date(Double(bitPattern: UInt64(bitPattern: bits)))
            }
        default: break
        }
        return nil
    }

    /// Returns the whole list; a UID becomes an integer, and null an empty string.
    func wholeValue() throws(StoreError) -> PropertyListValue {
        var left = 100_000
        return try value(topObject, depth: 0, left: &left)
    }

    private func value(_ number: Int, depth: Int, left: inout Int) throws(StoreError) -> PropertyListValue {
        left -= 1
        guard left >= 0, depth <= 32 else {
            throw StoreError(.limitExceeded, "\(file) is a property list that is too deep or too large.")
        }
        switch try object(number) {
        case .null: return .string("")
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .date(let value): return .date(value)
        case .data(let range): return .data(Array(bytes[range]))
        case .string(let text): return .string(text)
        case .uid(let number): return .integer(Int64(number))
        case .array(let members):
            var values: [PropertyListValue] = []
            for member in members { values.append(try value(member, depth: depth + 1, left: &left)) }
            return .array(values)
        case .dictionary(let members):
            var values: [String: PropertyListValue] = [:]
            for (key, member) in members {
                guard case .string(let name) = try object(key) else {
                    throw Self.damaged(file, what: "a dictionary has a key that is not a string")
                }
                values[name] = try value(member, depth: depth + 1, left: &left)
            }
            return .dictionary(values)
        }
    }

    // MARK: Bytes

    /// Returns the start and the count of an object's contents.
    ///
    /// A count of 15 or more is stored as an integer after the object's first byte.
    private func length(_ offset: Int, low: Int) throws(StoreError) -> (start: Int, count: Int) {
        guard low == 0x0F else { return (offset + 1, low) }
        guard offset + 1 < tableOffset, bytes[offset + 1] >> 4 == 1, bytes[offset + 1] & 0x0F <= 3 else {
            throw Self.damaged(file, what: "a count is missing")
        }
        let size = 1 << Int(bytes[offset + 1] & 0x0F)
        guard let count = Self.number(bytes, offset: offset + 2, size: size), count <= bytes.count else {
            throw Self.damaged(file, what: "a count is too large")
        }
        return (offset + 2 + size, count)
    }

    private func range(_ start: Int, count: Int, width: Int, number: Int) throws(StoreError) -> Range<Int> {
        guard start <= tableOffset, count <= (tableOffset - start) / width else {
            throw Self.damaged(file, what: "object \(number) is cut off")
        }
        return start..<start + count * width
    }

    private func references(_ start: Int, count: Int, number: Int) throws(StoreError) -> [Int] {
        let range = try range(start, count: count, width: referenceSize, number: number)
        try budget.take(members: count, of: file)
        var references: [Int] = []
        references.reserveCapacity(count)
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard let reference = Self.number(bytes, offset: offset, size: referenceSize), reference < objectCount
            else {
                throw Self.damaged(file, what: "object \(number) refers to an object that does not exist")
            }
            references.append(reference)
            offset += referenceSize
        }
        return references
    }

    /// Returns an unsigned big-endian number, or nil if it is out of bounds or exceeds `Int.max`.
    private static func number(_ bytes: [UInt8], offset: Int, size: Int) -> Int? {
        guard offset >= 0, size > 0, size <= 8, offset <= bytes.count - size else { return nil }
        var value: UInt64 = 0
        for byte in bytes[offset..<offset + size] { value = value << 8 | UInt64(byte) }
        return Int(exactly: value)
    }

    /// Returns a big-endian integer, or nil if its bytes are out of bounds.
    ///
    /// Only an integer with eight bytes is signed.
    private func signed(_ offset: Int, size: Int) -> Int64? {
        guard offset <= bytes.count - size else { return nil }
        var value: UInt64 = 0
        for byte in bytes[offset..<offset + size] { value = value << 8 | UInt64(byte) }
        return Int64(bitPattern: value)
    }

    private static func damaged(_ file: String, what: String) -> StoreError {
        StoreError(.corrupted, "\(file) is damaged: \(what).")
    }
}
