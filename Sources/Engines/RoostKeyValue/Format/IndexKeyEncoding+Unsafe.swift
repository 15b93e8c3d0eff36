internal import RoostCore

/// An encoding of property values as bytes whose order is the order of the values.
///
/// Each encoded value starts with a byte that is 0 for null and 1 otherwise, so nulls come first.
/// The further bytes depend on the type:
/// - integers of any width and booleans: eight bytes, big-endian, with the sign bit inverted;
/// - doubles, floats and dates: eight bytes in the order of the numbers. −0.0 is encoded as 0.0,
///   and each NaN as the same last value;
/// - decimals: a class (0 negative, 1 zero, 2 positive, 3 NaN). Unless the value is zero or NaN,
///   the position of the leading digit and 38 digits follow, both inverted for negative numbers;
/// - text and URIs: UTF-8, in the order of code points; data: its bytes. In each of these types, a
///   zero byte is encoded as 00 FF, and the end as 00 00;
/// - UUIDs: sixteen bytes; references: the key; object-ID attributes: the hierarchy's number and
///   the key;
/// - composites: no further bytes.
///
/// The value of a descending index element has all its bits inverted.
enum IndexKeyEncoding {
    /// Appends the value of a field to `bytes`; returns false if the value is null.
    @discardableResult
    static func append(
        _ field: RecordLayout.Field, of record: RecordReader, isAscending: Bool = true, model: ManagedObjectModel,
        to bytes: inout [UInt8]
    ) -> Bool {
        let start = bytes.count
        let hasValue = !record.isNull(field)
        bytes.append(hasValue ? 1 : 0)
        if hasValue { appendValue(field, of: record, model: model, to: &bytes) }
        if !isAscending { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
        return hasValue
    }

    private static func appendValue(
        _ field: RecordLayout.Field, of record: RecordReader, model: ManagedObjectModel, to bytes: inout [UInt8]
    ) {
        switch field.kind {
        case .integer64, .integer32, .integer16, .boolean, .order: append(record.integer(field), to: &bytes)
        case .double, .float, .date: append(record.double(field), to: &bytes)
        case .decimal: append(record.decimal(field) ?? .nan, to: &bytes)
        case .string, .uri, .data, .transformable: append(escaping: record.bytes(field), to: &bytes)
        case .uuid: bytes.append(contentsOf: record.bytes(field))
        case .reference, .polymorphicReference: append(reference: record.integer(field), to: &bytes)
        case .objectID:
            let entity = record.reference(field)?.entity ?? 0
            let root = entity < model.entities.count ? model.entities[entity].root : entity
            append(root: root, key: record.integer(field), to: &bytes)
        case .composite: break
        }
    }

    static func append(_ value: Int64, to bytes: inout [UInt8]) {
        append(bigEndian: UInt64(bitPattern: value) ^ 1 << 63, to: &bytes)
    }

    static func append(_ value: Double, to bytes: inout [UInt8]) {
        let canonical = value.isNaN ? Double.nan : (value == 0 ? 0.0 : value)
        let bits = canonical.bitPattern
        append(bigEndian: canonical.sign == .minus ? ~bits : bits ^ 1 << 63, to: &bytes)
    }

    static func append(_ value: DecimalNumber, to bytes: inout [UInt8]) {
        guard !value.isNaN else { return bytes.append(3) }
        guard value.mantissa != 0 else { return bytes.append(1) }
        let (lead, digits) = value.normalized
        // The leading digit is at a position from −127 to 165, so adding 1024 makes the sum positive.
        let place = UInt16(truncatingIfNeeded: lead + 1024)
        let (high, low) = (UInt64(truncatingIfNeeded: digits >> 64), UInt64(truncatingIfNeeded: digits))
        bytes.append(value.isNegative ? 0 : 2)
        append(bigEndian: value.isNegative ? ~place : place, to: &bytes)
        append(bigEndian: value.isNegative ? ~high : high, to: &bytes)
        append(bigEndian: value.isNegative ? ~low : low, to: &bytes)
    }

    static func append(reference key: Int64, to bytes: inout [UInt8]) {
        append(bigEndian: UInt64(bitPattern: key), to: &bytes)
    }

    static func append(root: Int, key: Int64, to bytes: inout [UInt8]) {
        append(bigEndian: UInt16(truncatingIfNeeded: root), to: &bytes)
        append(bigEndian: UInt64(bitPattern: key), to: &bytes)
    }

    /// Appends text or data that does not come from a record.
    ///
    /// If `isWhole` is false, the end mark is omitted, so the bytes begin the encodings of all
    /// values that begin with `value`.
    static func append(escaping value: [UInt8], isWhole: Bool, to bytes: inout [UInt8]) {
        value.span.bytes.withUnsafeBytes { append(escaping: $0, to: &bytes) }
        if !isWhole { bytes.removeLast(2) }
    }

    /// Returns the length of the encoded value at `offset`; nil if the value is not complete.
    static func byteCount(
        of kind: RecordLayout.Field.Kind, in bytes: UnsafeRawBufferPointer, at offset: Int, isAscending: Bool
    ) -> Int? {
        guard offset >= 0, offset < bytes.count else { return nil }
        let mask: UInt8 = isAscending ? 0 : 0xFF
        guard bytes[offset] ^ mask != 0 else { return 1 }
        let count: Int
        switch kind {
        case .integer64, .integer32, .integer16, .boolean, .order, .double, .float, .date, .reference,
            .polymorphicReference:
            count = 9
        case .uuid: count = 17
        case .objectID: count = 11
        case .composite: count = 1
        case .decimal:
            guard offset + 1 < bytes.count else { return nil }
            count = [0, 2].contains(bytes[offset + 1] ^ mask) ? 20 : 2
        case .string, .uri, .data, .transformable:
            var position = offset + 1
            while position + 1 < bytes.count {
                guard bytes[position] ^ mask == 0 else {
                    position += 1
                    continue
                }
                if bytes[position + 1] ^ mask == 0 { return position + 2 - offset }
                position += 2
            }
            return nil
        }
        return offset + count <= bytes.count ? count : nil
    }

    /// Appends text or data with escaped zero bytes and an end mark.
    static func append(escaping value: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        var start = 0
        for index in 0..<value.count where value[index] == 0 {
            bytes.append(contentsOf: value[start...index])
            bytes.append(0xFF)
            start = index + 1
        }
        bytes.append(contentsOf: value[start...])
        bytes.append(0)
        bytes.append(0)
    }

    private static func append<Word: FixedWidthInteger>(bigEndian value: Word, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    // MARK: Whole keys

    /// The number of bytes of the hash and the object key in a shortened key.
    static let shortenedTail = 24

    /// Creates the key of a unique value: `[constraint][values]`.
    ///
    /// A key of `limit` bytes or more is shortened to exactly `limit` bytes,
    /// `[constraint][beginning][XXH3-128][object]`. The result is then false.
    static func makeUniqueKey(
        constraint: Int, values: [UInt8], object: Int64, limit: Int, into key: inout StorageKey
    ) -> Bool {
        key.start(number: constraint)
        key.append(bytes: values)
        guard key.count >= limit else { return true }
        shorten(&key, values: values, object: object, limit: limit)
        return false
    }

    /// Creates the key of an index entry, `[index][values][object]`, shortened like a unique key.
    static func makeIndexKey(
        index: Int, values: [UInt8], object: Int64, limit: Int, into key: inout StorageKey
    ) {
        key.start(number: index)
        key.append(bytes: values)
        guard key.count + 8 >= limit else { return key.append(lastKey: object) }
        shorten(&key, values: values, object: object, limit: limit)
    }

    private static func shorten(_ key: inout StorageKey, values: [UInt8], object: Int64, limit: Int) {
        key.truncate(to: limit - shortenedTail)
        let hash = values.span.bytes.withUnsafeBytes { RecordHash.wide($0) }
        key.append(hash.high)
        key.append(hash.low)
        key.append(lastKey: object)
    }
}
