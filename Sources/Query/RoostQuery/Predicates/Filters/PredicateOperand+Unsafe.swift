internal import Foundation
internal import RoostCore

/// A value for comparisons: numbers are compared by value, and text and data as bytes.
enum PredicateOperand {
    case null
    case integer(Int64)
    case double(Double)
    case decimal(DecimalNumber)
    case bytes(UnsafeRawBufferPointer)
    /// An object: the root of its hierarchy, and its key.
    case object(root: Int, key: Int64)
    /// A composite that is present.
    case present

    /// Creates the value of a record's field; its bytes, if any, are in the record's memory.
    ///
    /// `destinationRoot` is the root of the destination's hierarchy, and is used only for a field
    /// of kind `reference`.
    init(_ record: RecordReader, slot: FieldSlot, destinationRoot: Int) {
        guard !slot.isNull(in: record) else {
            self = .null
            return
        }
        switch slot.kind {
        case .integer64, .integer32, .integer16, .boolean, .order: self = .integer(slot.integer(in: record))
        case .double, .float, .date: self = .double(slot.double(in: record))
        case .string, .uri, .data, .transformable, .uuid: self = .bytes(slot.bytes(in: record))
        case .decimal: self = DecimalNumber(slot: slot.bytes(in: record)).map { .decimal($0) } ?? .null
        case .reference: self = .object(root: destinationRoot, key: slot.integer(in: record))
        case .polymorphicReference, .objectID:
            let entity = slot.entity(in: record)
            guard entity < record.model.entities.count else {
                self = .null
                return
            }
            self = .object(root: record.model.entities[entity].root, key: slot.integer(in: record))
        case .composite: self = .present
        }
    }

    /// Whether two operands are the same value; false if they cannot be compared, as with NaN.
    static func equal(_ left: Self, _ right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.null, _), (_, .null): false
        case (.bytes(let a), .bytes(let b)): a.count == b.count && order(a, b) == 0
        case (.object(let a, let key), .object(let b, let otherKey)): a == b && key == otherKey
        default: order(left, right) == 0
        }
    }

    /// Returns a negative number if `left` precedes `right`, a positive number if `left` follows,
    /// and zero if they are equal.
    ///
    /// Returns nil for operands without an order, such as null and NaN.
    static func order(_ left: Self, _ right: Self) -> Int? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): return a < b ? -1 : (a == b ? 0 : 1)
        case (.double(let a), .double(let b)): return a < b ? -1 : (a == b ? 0 : (a > b ? 1 : nil))
        case (.integer(let a), .double(let b)): return order(a, double: b)
        case (.double(let a), .integer(let b)): return order(b, double: a).map { -$0 }
        case (.bytes(let a), .bytes(let b)): return order(a, b)
        case (.decimal(let a), .decimal(let b)): return a.isNaN || b.isNaN ? nil : (a < b ? -1 : (a == b ? 0 : 1))
        case (.decimal(let a), .integer(let b)):
            return DecimalNumber(isNegative: b < 0, mantissa: UInt128(b.magnitude), exponent: 0)
                .flatMap { order(.decimal(a), .decimal($0)) }
        case (.integer, .decimal): return order(right, left).map { -$0 }
        // For a comparison with a double, a decimal is converted to the nearest double.
        case (.decimal(let a), .double): return order(.double(a.isNaN ? .nan : a.nearestDouble), right)
        case (.double, .decimal): return order(right, left).map { -$0 }
        default: return nil
        }
    }

    /// Compares two byte sequences, byte by byte as unsigned numbers.
    ///
    /// A prefix precedes longer bytes. For UTF-8, this is code point order.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let a = left.baseAddress, let b = right.baseAddress {
            let result = memcmp(a, b, common)
            if result != 0 { return Int(result) }
        }
        return left.count - right.count
    }

    /// Compares exactly, without rounding the integer.
    private static func order(_ integer: Int64, double: Double) -> Int? {
        guard !double.isNaN else { return nil }
        if double >= 0x1p63 { return -1 }
        if double < -0x1p63 { return 1 }
        let whole = Int64(double.rounded(.towardZero))
        if integer != whole { return integer < whole ? -1 : 1 }
        let fraction = double - double.rounded(.towardZero)
        return fraction > 0 ? -1 : (fraction < 0 ? 1 : 0)
    }
}

/// A constant of a predicate as an operand, whose bytes the constant owns.
final class PredicateConstant: @unchecked Sendable {
    // Proof of Sendable: `memory` is written only in `init`, before other code can access the
    // object, and is freed in `deinit`.
    /// The bytes of text, data or a UUID.
    private let memory: UnsafeMutableRawBufferPointer?
    let operand: PredicateOperand

    /// Converts a value; the ID of an unknown entity becomes an object that equals no object in a
    /// store.
    init(_ value: Value, model: ManagedObjectModel) {
        var bytes: [UInt8]?
        var operand = PredicateOperand.null
        switch value {
        case .null: break
        case .bool(let flag): operand = .integer(flag ? 1 : 0)
        case .int(let number): operand = .integer(number)
        case .double(let number): operand = .double(number)
        case .date(let date): operand = .double(date.timeIntervalSinceReferenceDate)
        case .decimal(let decimal): operand = DecimalNumber(decimal).map { .decimal($0) } ?? .null
        case .string(let text), .uri(let text): bytes = Array(text.utf8)
        case .data(let data): bytes = Array(data)
        case .uuid(let uuid): bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
        case .objectID(let id): operand = .object(root: model.entity(id.entity)?.root ?? -1, key: id.key)
        case .composite: operand = .present
        }
        memory = bytes.map { bytes in
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            memory.copyBytes(from: bytes)
            return memory
        }
        if let memory { operand = .bytes(UnsafeRawBufferPointer(memory)) }
        self.operand = operand
    }

    deinit { memory?.deallocate() }
}
