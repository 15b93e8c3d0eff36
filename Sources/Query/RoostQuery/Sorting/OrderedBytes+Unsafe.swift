internal import Foundation
internal import RoostCore

/// An encoding of values as keys for sorting, grouping and distinct rows.
///
/// Comparing the keys' bytes as unsigned numbers gives the order of the values.
///
/// Null precedes all values, and NaN follows all numbers. 0.0 and −0.0 have the same bytes, as do
/// all NaNs. The bytes of a value are never a prefix of the bytes of another value of its type, so
/// the bytes of several values can be concatenated.
enum OrderedBytes {
    /// Appends the value of a record's field.
    ///
    /// A reference is encoded as the object's key, and an object ID as the object's key and root
    /// entity.
    @inline(__always)
    static func append(
        _ slot: FieldSlot, of record: RecordReader, options: FetchRequest.Comparison.Options = [],
        to key: inout [UInt8]
    ) {
        guard !slot.isNull(in: record) else { return key.append(0) }
        key.append(1)
        switch slot.kind {
        case .integer64, .integer32, .integer16, .boolean, .order, .reference, .polymorphicReference:
            append(UInt64(bitPattern: slot.integer(in: record)) ^ 1 << 63, to: &key)
        case .objectID:
            append(UInt64(bitPattern: slot.integer(in: record)) ^ 1 << 63, to: &key)
            let entity = slot.entity(in: record)
            // The root entity is enough, because an object's key is unique in its entity hierarchy.
            append(UInt64(entity < record.model.entities.count ? record.model.entities[entity].root : entity), to: &key)
        case .double, .float, .date: append(slot.double(in: record), to: &key)
        case .decimal: append(DecimalNumber(slot: slot.bytes(in: record)) ?? .nan, to: &key)
        case .uuid: key.append(contentsOf: slot.bytes(in: record))
        case .string, .uri: append(text: slot.bytes(in: record), options: options, to: &key)
        case .data, .transformable: append(slot.bytes(in: record), to: &key)
        case .composite: break
        }
    }

    /// Appends text, encoded for the order that `options` define.
    static func append(
        text: UnsafeRawBufferPointer, options: FetchRequest.Comparison.Options, to key: inout [UInt8]
    ) {
        // A shortcut, because most text is compared without options.
        guard !options.isEmpty else { return append(text, to: &key) }
        TextFolding.withFolded(text, by: options) { folded in
            if options.contains(.localized) {
                StandardTextOrder.append(folded, to: &key)
            } else {
                append(folded, to: &key)
            }
        }
    }

    /// Appends bytes, in which each 0 is escaped, and a terminator.
    @inline(__always)
    static func append(_ bytes: some Sequence<UInt8>, to key: inout [UInt8]) {
        for byte in bytes {
            key.append(byte)
            if byte == 0 { key.append(0xFF) }
        }
        key.append(0)
        key.append(0)
    }

    /// Appends a number with its highest byte first.
    @inline(__always)
    static func append(_ number: UInt64, to key: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { key.append(contentsOf: $0) }
    }

    @inline(__always)
    static func append(_ number: Double, to key: inout [UInt8]) {
        guard !number.isNaN else { return append(UInt64.max, to: &key) }
        let bits = (number == 0 ? 0 : number).bitPattern
        append(bits >> 63 == 0 ? bits | 1 << 63 : ~bits, to: &key)
    }

    static func append(_ number: DecimalNumber, to key: inout [UInt8]) {
        guard !number.isNaN else { return key.append(3) }
        guard number.mantissa != 0 else { return key.append(1) }
        let start = key.count
        let (lead, digits) = number.normalized
        key.append(number.isNegative ? 0xFF : 2)
        append(UInt64(bitPattern: Int64(lead)) ^ 1 << 63, to: &key)
        append(UInt64(truncatingIfNeeded: digits >> 64), to: &key)
        append(UInt64(truncatingIfNeeded: digits), to: &key)
        if number.isNegative { complement(&key, from: start) }
    }

    /// Inverts the bytes from `start` on, which reverses the order of keys.
    static func complement(_ key: inout [UInt8], from start: Int) {
        for index in start..<key.count { key[index] = ~key[index] }
    }
}

extension OrderedBytes {
    static func append(text: inout String, options: FetchRequest.Comparison.Options, to key: inout [UInt8]) {
        text.withUTF8 { append(text: UnsafeRawBufferPointer($0), options: options, to: &key) }
    }

    static func append(_ uuid: UUID, to key: inout [UInt8]) {
        withUnsafeBytes(of: uuid.uuid) { key.append(contentsOf: $0) }
    }
}
