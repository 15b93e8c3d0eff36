internal import Foundation

/// A view of one record's bytes, valid only inside the closure that receives it.
///
/// The structure of the record has been checked, so reading cannot exceed the bytes. Pass only
/// fields of ``layout`` to the methods. A null field reads as 0 or false; a null tail field has no
/// bytes.
public struct RecordReader {
    /// The record's bytes.
    public let bytes: UnsafeRawBufferPointer
    /// The object's key.
    public let key: Int64
    // SAFETY: a reader and its bytes are valid only inside the closure that receives them. The
    // creator of the reader (a batch, a record, a store's snapshot) retains the model until the
    // closure returns, and the model retains its shapes. Reference counting would cost more than
    // reading a field.
    @usableFromInline unowned(unsafe) let unownedModel: ManagedObjectModel.Resolved

    /// The layout of the record.
    @inlinable public var layout: RecordLayout { unownedModel.shape(entityNumber).layout }
    @inlinable package var model: ManagedObjectModel { ManagedObjectModel(resolved: unownedModel) }

    /// Creates a reader of one whole record after checking the structure.
    ///
    /// The caller must retain the model while the reader is used.
    ///
    /// - Throws: `corrupted`, naming the object if its entity is known.
    /// - Complexity: O(number of tail fields).
    package init(
        checking bytes: UnsafeRawBufferPointer, key: Int64, model: ManagedObjectModel
    ) throws(StoreError) {
        if let flaw = RecordVerifier.structuralFlaw(bytes, shapes: model.resolved.shapes) {
            throw RecordVerifier.error(flaw, bytes: bytes, key: key, model: model)
        }
        self.init(unchecked: bytes, key: key, model: model)
    }

    /// Creates a reader of bytes with a valid structure.
    @inlinable
    package init(unchecked bytes: UnsafeRawBufferPointer, key: Int64, model: ManagedObjectModel) {
        self.bytes = bytes
        self.key = key
        unownedModel = model.resolved
    }

    /// Creates a reader of a record in the caller's own memory, at any alignment.
    ///
    /// The record must have a valid structure. The key is not checked. The caller must retain the
    /// bytes and the model while the reader is used.
    @inlinable
    package init(row: UnsafeRawPointer, byteCount: Int, key: Int64, model: ManagedObjectModel) {
        self.init(unchecked: UnsafeRawBufferPointer(start: row, count: byteCount), key: key, model: model)
    }

    /// Creates a reader like ``init(row:byteCount:key:model:)``, but checks the structure.
    package init(
        checkingRow row: UnsafeRawPointer, byteCount: Int, key: Int64, model: ManagedObjectModel
    ) throws(StoreError) {
        try self.init(checking: UnsafeRawBufferPointer(start: row, count: byteCount), key: key, model: model)
    }

    /// Creates a reader of bytes with a valid structure, for a model that the caller retains.
    @inlinable
    init(unchecked bytes: UnsafeRawBufferPointer, key: Int64, resolved: borrowing ManagedObjectModel.Resolved) {
        self.bytes = bytes
        self.key = key
        unownedModel = copy resolved
    }

    static func damaged(key: Int64, entity: EntityName?, reason: String) -> StoreError {
        StoreError(
            .corrupted,
            "The record of \(entity.map(\.text) ?? "object")/p\(key) is damaged: \(reason). Restore the store from a backup, or convert it without its damaged objects (roost convert --skip-damaged).",
            damagedObject: entity.map { ObjectID($0, key: key) })
    }

    /// Returns the little-endian integer at `offset`.
    ///
    /// SAFETY: callers have checked that `bytes` contains the whole integer.
    @inlinable
    static func load<T: BitwiseCopyable & FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, offset: Int, as type: T.Type
    ) -> T {
        T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension RecordReader {
    /// The object's identity.
    public var id: ObjectID { ObjectID(layout.entity, key: key) }
    package static func entityNumber(in bytes: UnsafeRawBufferPointer) -> Int {
        Int(load(bytes, offset: RecordLayout.Header.entity, as: UInt16.self))
    }
    @inlinable
    package var entityNumber: Int { Int(Self.load(bytes, offset: RecordLayout.Header.entity, as: UInt16.self)) }
    package var root: Int { unownedModel.shape(entityNumber).root }
    /// The object's version: 1 after its insertion, plus 1 for each update.
    @inlinable
    public var version: UInt32 { Self.load(bytes, offset: RecordLayout.Header.version, as: UInt32.self) }
    @inlinable
    package var storedChecksum: UInt64 { Self.load(bytes, offset: RecordLayout.Header.checksum, as: UInt64.self) }
    /// The content hash in the record, extracted from the checksum.
    @inlinable
    public var storedContentHash: UInt64 { storedChecksum ^ RecordHash.versionMask(version) }
    package var computedContentHash: UInt64 { RecordHash.content(of: bytes, key: key) }

    /// Verifies the record's checksum; throws `corrupted`, naming the object.
    package func verifyChecksum() throws(StoreError) {
        guard computedContentHash == storedContentHash else {
            throw Self.damaged(key: key, entity: layout.entity, reason: "its checksum does not match its bytes")
        }
    }

    /// Whether the field has no value.
    @inlinable
    public func isNull(_ field: borrowing RecordLayout.Field) -> Bool {
        bytes[RecordLayout.Header.bitmap + field.index >> 3] & (1 << UInt8(field.index & 7)) != 0
    }

    /// Returns the value of a field as an integer.
    ///
    /// The field can be an integer of any width, a boolean (0 or 1), or a place in an ordered
    /// relationship. For a reference or an object ID, returns the key; for any other kind, 0.
    @inlinable
    public func integer(_ field: borrowing RecordLayout.Field) -> Int64 {
        switch field.kind {
        case .integer32: Int64(Int32(bitPattern: Self.load(bytes, offset: field.byteOffset, as: UInt32.self)))
        case .integer16: Int64(Int16(bitPattern: Self.load(bytes, offset: field.byteOffset, as: UInt16.self)))
        case .boolean: Int64(bytes[field.byteOffset])
        case .integer64, .reference, .polymorphicReference, .objectID, .order:
            Int64(bitPattern: Self.load(bytes, offset: field.byteOffset, as: UInt64.self))
        default: 0
        }
    }

    /// Returns the value of a double, float or date field as a double.
    @inlinable
    public func double(_ field: borrowing RecordLayout.Field) -> Double {
        switch field.kind {
        case .double, .date: Double(bitPattern: Self.load(bytes, offset: field.byteOffset, as: UInt64.self))
        case .float: Double(Float(bitPattern: Self.load(bytes, offset: field.byteOffset, as: UInt32.self)))
        default: 0
        }
    }

    /// Returns the bits of a float field; ``double(_:)`` would change a signaling NaN.
    @inlinable
    package func floatBits(_ field: borrowing RecordLayout.Field) -> UInt32 {
        field.kind == .float ? Self.load(bytes, offset: field.byteOffset, as: UInt32.self) : 0
    }

    /// Returns the value of a boolean field.
    @inlinable
    public func boolean(_ field: borrowing RecordLayout.Field) -> Bool {
        field.kind == .boolean && bytes[field.byteOffset] != 0
    }

    /// Returns the value of a decimal field; nil if its bytes are not canonical.
    package func decimal(_ field: borrowing RecordLayout.Field) -> DecimalNumber? {
        field.kind == .decimal ? DecimalNumber(slot: bytes(field)) : nil
    }

    /// Returns the bytes of a field's value, from the tail or from the slot.
    @inlinable
    public func bytes(_ field: borrowing RecordLayout.Field) -> UnsafeRawBufferPointer {
        guard field.kind.isVariable else {
            return UnsafeRawBufferPointer(rebasing: bytes[field.byteOffset..<field.byteOffset + field.kind.width])
        }
        // Reading the shape instead of the layout avoids reference counting.
        let shape = unownedModel.shape(entityNumber)
        let start =
            field.byteOffset == shape.firstVariableByteOffset
            ? 0 : Int(Self.load(bytes, offset: field.byteOffset - 4, as: UInt32.self))
        let end = Int(Self.load(bytes, offset: field.byteOffset, as: UInt32.self))
        let tail = shape.fixedByteCount
        return UnsafeRawBufferPointer(rebasing: bytes[tail + start..<tail + end])
    }

    /// Returns the object to which a reference or object-ID field refers; nil for a null field or
    /// a field of another kind.
    @inlinable
    package func reference(_ field: borrowing RecordLayout.Field) -> (entity: Int, key: Int64)? {
        guard !isNull(field) else { return nil }
        switch field.kind {
        case .reference:
            guard let destination = field.destination else { return nil }
            return (destination, integer(field))
        case .polymorphicReference, .objectID:
            return (Int(Self.load(bytes, offset: field.byteOffset + 8, as: UInt32.self)), integer(field))
        default: return nil
        }
    }

    /// Returns a text field's number of code points, the result of the predicate function `length`.
    package func codePointCount(_ field: RecordLayout.Field) -> Int {
        bytes(field).reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 &+ 1 }
    }

    /// Returns the field's decoded value.
    ///
    /// For a composite field, returns the whole composite.
    public func value(_ field: RecordLayout.Field) -> Value {
        guard !isNull(field) else { return .null }
        switch field.kind {
        case .integer64, .integer32, .integer16, .order: return .int(integer(field))
        case .boolean: return .bool(boolean(field))
        case .double, .float: return .double(double(field))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: double(field)))
        case .decimal: return decimal(field).map { .decimal($0.decimal) } ?? .null
        case .uuid: return .uuid(bytes.loadUnaligned(fromByteOffset: field.byteOffset, as: UUID.self))
        case .string: return .string(String(decoding: bytes(field), as: UTF8.self))
        case .uri: return .uri(String(decoding: bytes(field), as: UTF8.self))
        case .data, .transformable: return .data(Data(bytes(field)))
        case .reference, .polymorphicReference, .objectID:
            guard let (entity, key) = reference(field), entity < model.entities.count else { return .null }
            return .objectID(ObjectID(model.entities[entity].name, key: key))
        case .composite:
            var elements: [String: Value] = [:]
            let prefix = field.name + "."
            for element in layout.fields where element.name.hasPrefix(prefix) {
                let name = String(element.name.dropFirst(prefix.count))
                if !name.contains("."), !isNull(element) { elements[name] = value(element) }
            }
            return .composite(elements)
        }
    }

    /// Returns the value of the property with this name; throws `unknownProperty`.
    public func value(_ name: String) throws(StoreError) -> Value { value(try layout.requireField(name)) }

    /// Returns the attributes, to-one relationships, and places in ordered inverses that are not
    /// null, by name.
    ///
    /// A composite is one value.
    ///
    /// ``RecordBatch/append(_:version:values:)`` creates the same record from these values, except
    /// for signaling NaNs of floats and elements of null composites.
    public func values() -> [String: Value] {
        var values: [String: Value] = [:]
        for field in layout.fields where !field.name.contains(".") && !isNull(field) {
            values[field.name] = value(field)
        }
        return values
    }

    /// Checks the checksum and that the values are canonical; does not check the structure.
    ///
    /// If the checks succeed, a new record with the same values has the same bytes, except as
    /// ``values()`` states.
    ///
    /// - Throws: `corrupted`, naming the object.
    package func validate() throws(StoreError) {
        try verifyChecksum()
        for bit in layout.fields.count..<(layout.fields.count + 7) / 8 * 8
        where bytes[RecordLayout.Header.bitmap + bit / 8] & (1 << UInt8(bit % 8)) != 0 {
            throw Self.damaged(key: key, entity: layout.entity, reason: "its bitmap sets bits beyond its fields")
        }
        for field in layout.fields {
            if isNull(field) {
                guard field.kind.isVariable ? bytes(field).isEmpty : bytes(field).allSatisfy({ $0 == 0 }) else {
                    throw damaged(field, reason: "is null but has bytes")
                }
                continue
            }
            switch field.kind {
            case .boolean where bytes[field.byteOffset] > 1: throw damaged(field, reason: "is neither true nor false")
            case .decimal where decimal(field) == nil: throw damaged(field, reason: "is not a canonical decimal")
            case .string, .uri:
                guard bytes(field).isValidUTF8 else { throw damaged(field, reason: "is not valid UTF-8") }
            case .reference, .polymorphicReference, .objectID:
                guard let (entity, key) = reference(field), key > 0, entity < model.entities.count,
                    field.destination.map({ model.entities[$0].includes(entity) }) ?? true
                else { throw damaged(field, reason: "refers to an object that cannot exist") }
            default: break
            }
        }
    }

    private func damaged(_ field: RecordLayout.Field, reason: String) -> StoreError {
        Self.damaged(key: key, entity: layout.entity, reason: "property '\(field.name)' \(reason)")
    }
}

extension DecimalNumber {
    /// Reads a decimal's slot in a record; returns nil if the bytes are not canonical.
    package init?(slot bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 20 else { return nil }
        let low = RecordReader.load(bytes, offset: 0, as: UInt64.self)
        let high = RecordReader.load(bytes, offset: 8, as: UInt64.self)
        let exponent = Int16(bitPattern: RecordReader.load(bytes, offset: 16, as: UInt16.self))
        let (sign, zero) = (bytes[18], bytes[19])
        guard zero == 0, sign <= 2 else { return nil }
        if sign == 2 {
            guard low == 0, high == 0, exponent == 0 else { return nil }
            self = .nan
            return
        }
        let mantissa = UInt128(high) << 64 | UInt128(low)
        guard Self.isCanonical(mantissa: mantissa, exponent: exponent, isNegative: sign == 1) else { return nil }
        self.init(isNegative: sign == 1, mantissa: mantissa, exponent: Int(exponent))
    }
}
