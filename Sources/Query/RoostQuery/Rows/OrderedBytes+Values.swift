internal import Foundation
internal import RoostCore

extension OrderedBytes {
    /// Appends a decoded value.
    static func append(
        _ value: Value, options: FetchRequest.Comparison.Options, model: ManagedObjectModel, to key: inout [UInt8]
    ) {
        guard !value.isNull else { return key.append(0) }
        key.append(1)
        switch value {
        case .null: break
        case .bool(let flag): append(number: .integer(flag ? 1 : 0), to: &key)
        case .int(let number): append(number: .integer(number), to: &key)
        case .double(let number): append(number: .double(number), to: &key)
        case .decimal(let decimal): append(number: .decimal(DecimalNumber(decimal) ?? .nan), to: &key)
        case .date(let date): append(date.timeIntervalSinceReferenceDate, to: &key)
        case .string(var text), .uri(var text): append(text: &text, options: options, to: &key)
        case .data(let data): append(data, to: &key)
        case .uuid(let uuid): append(uuid, to: &key)
        case .objectID(let id):
            // The root entity is enough, because an object's key is unique in its entity hierarchy.
            append(.object(root: model.entity(id.entity)?.root ?? -1, key: id.key), options: [], to: &key)
        case .composite(let elements):
            for (name, value) in elements.sorted(by: { $0.key < $1.key }) where !value.isNull {
                key.append(1)
                append(name.utf8, to: &key)
                append(value, options: [], model: model, to: &key)
            }
            key.append(0)
        }
    }

    static func append(
        _ operand: PredicateOperand, options: FetchRequest.Comparison.Options, to key: inout [UInt8]
    ) {
        switch operand {
        case .null: return key.append(0)
        case .integer, .double, .decimal:
            key.append(1)
            append(number: operand, to: &key)
        case .bytes(let bytes):
            key.append(1)
            append(text: bytes, options: options, to: &key)
        case .object(let root, let number):
            key.append(1)
            append(UInt64(bitPattern: number) ^ 1 << 63, to: &key)
            append(UInt64(truncatingIfNeeded: root) ^ 1 << 63, to: &key)
        case .present: key.append(1)
        }
    }

    /// Appends a number as the nearest double, followed by the exact decimal value.
    ///
    /// So numbers of all types are ordered by value.
    private static func append(number: PredicateOperand, to key: inout [UInt8]) {
        switch number {
        case .integer(let number):
            append(Double(number), to: &key)
            append(DecimalNumber(number), to: &key)
        case .decimal(let number):
            append(number.isNaN ? .nan : number.nearestDouble, to: &key)
            append(number.isNaN ? .zero : number, to: &key)
        case .double(let number):
            append(number, to: &key)
            // For comparisons with decimals, a double counts as its shortest decimal text.
            let exact = Int64(exactly: number).map { DecimalNumber($0) } ?? DecimalNumber(utf8: "\(number)".utf8)
            append(number.isNaN ? .zero : exact ?? .zero, to: &key)
        default: break
        }
    }
}
