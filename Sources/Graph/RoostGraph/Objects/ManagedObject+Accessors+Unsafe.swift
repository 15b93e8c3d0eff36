public import Foundation
public import RoostCore

// The accessors that generated classes and classes with `@Model` call. Most have two forms. The
// first form takes constant offsets, for generated classes of entities that have neither a
// superentity nor subentities. The second form takes a slot of the class (``ClassShape``).
//
// SAFETY of the whole file: when a container opens, it checks that the offsets match the layout of
// the records. Each row has this layout.

extension ManagedObject {
    /// The object's row, read if necessary, or a row of nulls if it cannot be read.
    final var firedRow: UnsafeRawPointer { row ?? core.fire(self) }

    /// Returns the row of a fault or an observable object, and records the access to a field.
    @usableFromInline @inline(never)
    final func slowRow(at offset: Int) -> UnsafeRawPointer {
        let row = firedRow
        guard let observation = core.observation else { return row }
        let fields = info.fieldAtOffset
        if fields.indices.contains(offset), fields[offset] >= 0 {
            observation.access(self, property: .field(Int(fields[offset])))
        }
        return row
    }

    /// Reads a number from a fault or an observable object.
    ///
    /// The method loads the number itself. If it only returned the row to ``load(_:at:)``, the fast
    /// path would also retain and release the object.
    @inlinable @inline(never)
    final func slowLoad<T: BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T {
        slowRow(at: offset).loadUnaligned(fromByteOffset: offset, as: T.self)
    }

    /// Returns whether a field of a fault or an observable object is null.
    @usableFromInline @inline(never)
    final func slowIsNull(_ field: Int) -> Bool {
        let row = firedRow
        noteAccess(.field(field))
        return RowAccess.isNull(row, field: field)
    }

    // SAFETY of the next two functions: `fastRow` is the address of a row if it is even.

    @inlinable @inline(__always)
    final func load<T: BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T {
        let row = fastRow
        if UInt(bitPattern: row) & 1 == 0 { return row.loadUnaligned(fromByteOffset: offset, as: T.self) }
        return slowLoad(type, at: offset)
    }

    @inlinable @inline(__always)
    final func isNull(_ field: Int) -> Bool {
        let row = fastRow
        guard UInt(bitPattern: row) & 1 == 0 else { return slowIsNull(field) }
        return row.load(fromByteOffset: 16 &+ field &>> 3, as: UInt8.self)
            & (1 &<< UInt8(truncatingIfNeeded: field & 7)) != 0
    }

    /// Prepares the row for a change of a field, and calls `body` to write into it.
    ///
    /// Does nothing if the object cannot be changed.
    @inline(__always)
    final func withWritableRow(_ field: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
        if state != .writable {
            if state.contains(.observed) { return withObservedRow(field, body) }
            guard core.touch(self) else { return }
        }
        if let row { body(UnsafeMutableRawPointer(mutating: row)) }
    }

    @inline(never)
    private final func withObservedRow(_ field: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
        setting(.field(field)) {
            if core.touch(self), let row { body(UnsafeMutableRawPointer(mutating: row)) }
        }
    }

    @inline(__always)
    final func store<T: BitwiseCopyable>(_ value: T, at offset: Int, field: Int) {
        withWritableRow(field) { row in
            row.storeBytes(of: value, toByteOffset: offset, as: T.self)
            RowAccess.setNull(false, row: row, field: field)
        }
    }

    @inline(__always)
    final func storeOptional<T: BitwiseCopyable & ExpressibleByIntegerLiteral>(
        _ value: T?, at offset: Int, field: Int
    ) {
        withWritableRow(field) { row in
            row.storeBytes(of: value ?? 0, toByteOffset: offset, as: T.self)
            RowAccess.setNull(value == nil, row: row, field: field)
        }
    }

    /// Returns the field at a slot of the class, or stores a pending error and returns nil.
    final func field(_ slot: Int) -> RecordLayout.Field? {
        let slots = info.slots
        if slots.indices.contains(slot), let field = slots[slot].field { return field }
        core.latch(
            StoreError(
                .invalidModel,
                "The class '\(Self.self)' uses slot \(slot) of entity '\(info.entity.name)', but the entity has no stored property there. Generate the class again from the model, and pass it to the container."
            ))
        return nil
    }

    // MARK: Int16

    /// Returns a mandatory attribute's value.
    @inlinable
    public final func int16(at offset: Int) -> Int16 { Int16(littleEndian: load(Int16.self, at: offset)) }
    /// Returns an optional attribute's value.
    @inlinable
    public final func optionalInt16(at offset: Int, field: Int) -> Int16? {
        isNull(field) ? nil : int16(at: offset)
    }
    /// Sets a mandatory attribute.
    public final func setInt16(_ value: Int16, at offset: Int, field: Int) {
        store(value.littleEndian, at: offset, field: field)
    }
    /// Sets an optional attribute.
    public final func setOptionalInt16(_ value: Int16?, at offset: Int, field: Int) {
        storeOptional(value?.littleEndian, at: offset, field: field)
    }
    /// Returns a mandatory attribute's value.
    public final func int16(slot: Int) -> Int16 { optionalInt16(slot: slot) ?? 0 }
    /// Returns an optional attribute's value.
    public final func optionalInt16(slot: Int) -> Int16? {
        field(slot).flatMap { optionalInt16(at: $0.byteOffset, field: $0.index) }
    }
    /// Sets a mandatory attribute.
    public final func setInt16(_ value: Int16, slot: Int) {
        if let field = field(slot) { setInt16(value, at: field.byteOffset, field: field.index) }
    }
    /// Sets an optional attribute.
    public final func setOptionalInt16(_ value: Int16?, slot: Int) {
        if let field = field(slot) { setOptionalInt16(value, at: field.byteOffset, field: field.index) }
    }

    // MARK: Int32

    /// Returns a mandatory attribute's value.
    @inlinable
    public final func int32(at offset: Int) -> Int32 { Int32(littleEndian: load(Int32.self, at: offset)) }
    /// Returns an optional attribute's value.
    @inlinable
    public final func optionalInt32(at offset: Int, field: Int) -> Int32? {
        isNull(field) ? nil : int32(at: offset)
    }
    /// Sets a mandatory attribute.
    public final func setInt32(_ value: Int32, at offset: Int, field: Int) {
        store(value.littleEndian, at: offset, field: field)
    }
    /// Sets an optional attribute.
    public final func setOptionalInt32(_ value: Int32?, at offset: Int, field: Int) {
        storeOptional(value?.littleEndian, at: offset, field: field)
    }
    /// Returns a mandatory attribute's value.
    public final func int32(slot: Int) -> Int32 { optionalInt32(slot: slot) ?? 0 }
    /// Returns an optional attribute's value.
    public final func optionalInt32(slot: Int) -> Int32? {
        field(slot).flatMap { optionalInt32(at: $0.byteOffset, field: $0.index) }
    }
    /// Sets a mandatory attribute.
    public final func setInt32(_ value: Int32, slot: Int) {
        if let field = field(slot) { setInt32(value, at: field.byteOffset, field: field.index) }
    }
    /// Sets an optional attribute.
    public final func setOptionalInt32(_ value: Int32?, slot: Int) {
        if let field = field(slot) { setOptionalInt32(value, at: field.byteOffset, field: field.index) }
    }

    // MARK: Int64

    /// Returns a mandatory attribute's value.
    @inlinable
    public final func int64(at offset: Int) -> Int64 { Int64(littleEndian: load(Int64.self, at: offset)) }
    /// Returns an optional attribute's value.
    @inlinable
    public final func optionalInt64(at offset: Int, field: Int) -> Int64? {
        isNull(field) ? nil : int64(at: offset)
    }
    /// Sets a mandatory attribute.
    public final func setInt64(_ value: Int64, at offset: Int, field: Int) {
        store(value.littleEndian, at: offset, field: field)
    }
    /// Sets an optional attribute.
    public final func setOptionalInt64(_ value: Int64?, at offset: Int, field: Int) {
        storeOptional(value?.littleEndian, at: offset, field: field)
    }
    /// Returns a mandatory attribute's value.
    public final func int64(slot: Int) -> Int64 { optionalInt64(slot: slot) ?? 0 }
    /// Returns an optional attribute's value.
    public final func optionalInt64(slot: Int) -> Int64? {
        field(slot).flatMap { optionalInt64(at: $0.byteOffset, field: $0.index) }
    }
    /// Sets a mandatory attribute.
    public final func setInt64(_ value: Int64, slot: Int) {
        if let field = field(slot) { setInt64(value, at: field.byteOffset, field: field.index) }
    }
    /// Sets an optional attribute.
    public final func setOptionalInt64(_ value: Int64?, slot: Int) {
        if let field = field(slot) { setOptionalInt64(value, at: field.byteOffset, field: field.index) }
    }

    // MARK: Double

    /// Returns a mandatory attribute's value.
    @inlinable
    public final func double(at offset: Int) -> Double {
        Double(bitPattern: UInt64(littleEndian: load(UInt64.self, at: offset)))
    }
    /// Returns an optional attribute's value.
    @inlinable
    public final func optionalDouble(at offset: Int, field: Int) -> Double? {
        isNull(field) ? nil : double(at: offset)
    }
    /// Sets a mandatory attribute.
    public final func setDouble(_ value: Double, at offset: Int, field: Int) {
        store(value.bitPattern.littleEndian, at: offset, field: field)
    }
    /// Sets an optional attribute.
    public final func setOptionalDouble(_ value: Double?, at offset: Int, field: Int) {
        storeOptional(value?.bitPattern.littleEndian, at: offset, field: field)
    }
    /// Returns a mandatory attribute's value.
    public final func double(slot: Int) -> Double { optionalDouble(slot: slot) ?? 0 }
    /// Returns an optional attribute's value.
    public final func optionalDouble(slot: Int) -> Double? {
        field(slot).flatMap { optionalDouble(at: $0.byteOffset, field: $0.index) }
    }
    /// Sets a mandatory attribute.
    public final func setDouble(_ value: Double, slot: Int) {
        if let field = field(slot) { setDouble(value, at: field.byteOffset, field: field.index) }
    }
    /// Sets an optional attribute.
    public final func setOptionalDouble(_ value: Double?, slot: Int) {
        if let field = field(slot) { setOptionalDouble(value, at: field.byteOffset, field: field.index) }
    }

    // MARK: Float

    /// Returns a mandatory attribute's value.
    @inlinable
    public final func float(at offset: Int) -> Float {
        Float(bitPattern: UInt32(littleEndian: load(UInt32.self, at: offset)))
    }
    /// Returns an optional attribute's value.
    @inlinable
    public final func optionalFloat(at offset: Int, field: Int) -> Float? {
        isNull(field) ? nil : float(at: offset)
    }
    /// Sets a mandatory attribute.
    public final func setFloat(_ value: Float, at offset: Int, field: Int) {
        store(value.bitPattern.littleEndian, at: offset, field: field)
    }
    /// Sets an optional attribute.
    public final func setOptionalFloat(_ value: Float?, at offset: Int, field: Int) {
        storeOptional(value?.bitPattern.littleEndian, at: offset, field: field)
    }
    /// Returns a mandatory attribute's value.
    public final func float(slot: Int) -> Float { optionalFloat(slot: slot) ?? 0 }
    /// Returns an optional attribute's value.
    public final func optionalFloat(slot: Int) -> Float? {
        field(slot).flatMap { optionalFloat(at: $0.byteOffset, field: $0.index) }
    }
    /// Sets a mandatory attribute.
    public final func setFloat(_ value: Float, slot: Int) {
        if let field = field(slot) { setFloat(value, at: field.byteOffset, field: field.index) }
    }
    /// Sets an optional attribute.
    public final func setOptionalFloat(_ value: Float?, slot: Int) {
        if let field = field(slot) { setOptionalFloat(value, at: field.byteOffset, field: field.index) }
    }

    // MARK: Bool

    /// Returns a mandatory attribute's value.
    @inlinable
    public final func bool(at offset: Int) -> Bool { load(UInt8.self, at: offset) != 0 }
    /// Returns an optional attribute's value.
    @inlinable
    public final func optionalBool(at offset: Int, field: Int) -> Bool? {
        isNull(field) ? nil : bool(at: offset)
    }
    /// Sets a mandatory attribute.
    public final func setBool(_ value: Bool, at offset: Int, field: Int) {
        store(UInt8(value ? 1 : 0), at: offset, field: field)
    }
    /// Sets an optional attribute.
    public final func setOptionalBool(_ value: Bool?, at offset: Int, field: Int) {
        storeOptional(value.map { $0 ? 1 : 0 } as UInt8?, at: offset, field: field)
    }
    /// Returns a mandatory attribute's value.
    public final func bool(slot: Int) -> Bool { optionalBool(slot: slot) ?? false }
    /// Returns an optional attribute's value.
    public final func optionalBool(slot: Int) -> Bool? {
        field(slot).flatMap { optionalBool(at: $0.byteOffset, field: $0.index) }
    }
    /// Sets a mandatory attribute.
    public final func setBool(_ value: Bool, slot: Int) {
        if let field = field(slot) { setBool(value, at: field.byteOffset, field: field.index) }
    }
    /// Sets an optional attribute.
    public final func setOptionalBool(_ value: Bool?, slot: Int) {
        if let field = field(slot) { setOptionalBool(value, at: field.byteOffset, field: field.index) }
    }

    // MARK: Date

    /// Returns a mandatory attribute's value.
    @inlinable
    public final func date(at offset: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(littleEndian: load(UInt64.self, at: offset))))
    }
    /// Returns an optional attribute's value.
    @inlinable
    public final func optionalDate(at offset: Int, field: Int) -> Date? {
        isNull(field) ? nil : date(at: offset)
    }
    /// Sets a mandatory attribute.
    public final func setDate(_ value: Date, at offset: Int, field: Int) {
        store(value.timeIntervalSinceReferenceDate.bitPattern.littleEndian, at: offset, field: field)
    }
    /// Sets an optional attribute.
    public final func setOptionalDate(_ value: Date?, at offset: Int, field: Int) {
        storeOptional(value?.timeIntervalSinceReferenceDate.bitPattern.littleEndian, at: offset, field: field)
    }
    /// Returns a mandatory attribute's value.
    public final func date(slot: Int) -> Date { optionalDate(slot: slot) ?? Date(timeIntervalSinceReferenceDate: 0) }
    /// Returns an optional attribute's value.
    public final func optionalDate(slot: Int) -> Date? {
        field(slot).flatMap { optionalDate(at: $0.byteOffset, field: $0.index) }
    }
    /// Sets a mandatory attribute.
    public final func setDate(_ value: Date, slot: Int) {
        if let field = field(slot) { setDate(value, at: field.byteOffset, field: field.index) }
    }
    /// Sets an optional attribute.
    public final func setOptionalDate(_ value: Date?, slot: Int) {
        if let field = field(slot) { setOptionalDate(value, at: field.byteOffset, field: field.index) }
    }

    // MARK: Text and data

    /// Runs `body` with the bytes of a variable-length field, or returns nil if the field is null.
    @inline(__always)
    final func withTail<Result>(_ offset: Int, field: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        let row = firedRow
        noteAccess(.field(field))
        guard !RowAccess.isNull(row, field: field) else { return nil }
        let (start, end) = RowAccess.tailRange(row, byteOffset: offset, layout: tail)
        return body(UnsafeRawBufferPointer(start: row + start, count: end - start))
    }

    /// Replaces the bytes of a variable-length field, or sets the field to null if `bytes` is nil.
    final func setTail(_ bytes: UnsafeRawBufferPointer?, at offset: Int, field: Int) {
        // Repeats the code of `withWritableRow` without a closure, to avoid reference counting.
        if state != .writable {
            if state.contains(.observed) { return setObservedTail(bytes, at: offset, field: field) }
            guard core.touch(self) else { return }
        }
        if let row { core.replaceTail(of: self, row: row, field: field, offset: offset, with: bytes) }
    }

    @inline(never)
    private final func setObservedTail(_ bytes: UnsafeRawBufferPointer?, at offset: Int, field: Int) {
        withObservedRow(field) {
            core.replaceTail(of: self, row: UnsafeRawPointer($0), field: field, offset: offset, with: bytes)
        }
    }

    /// Returns a mandatory attribute's value, or an empty string if it is null.
    public final func text(at offset: Int, field: Int) -> String { optionalText(at: offset, field: field) ?? "" }
    /// Returns an optional attribute's value.
    public final func optionalText(at offset: Int, field: Int) -> String? {
        withTail(offset, field: field) { String(decoding: $0, as: UTF8.self) }
    }
    /// Sets a mandatory attribute.
    public final func setText(_ value: String, at offset: Int, field: Int) {
        var value = value
        value.withUTF8 { setTail(UnsafeRawBufferPointer($0), at: offset, field: field) }
    }
    /// Sets an optional attribute.
    public final func setOptionalText(_ value: String?, at offset: Int, field: Int) {
        if let value { setText(value, at: offset, field: field) } else { setTail(nil, at: offset, field: field) }
    }
    /// Returns a mandatory attribute's value, or empty data if it is null.
    public final func data(at offset: Int, field: Int) -> Data { optionalData(at: offset, field: field) ?? Data() }
    /// Returns an optional attribute's value.
    public final func optionalData(at offset: Int, field: Int) -> Data? { withTail(offset, field: field) { Data($0) } }
    /// Sets a mandatory attribute.
    public final func setData(_ value: Data, at offset: Int, field: Int) {
        value.withUnsafeBytes { setTail($0, at: offset, field: field) }
    }
    /// Sets an optional attribute.
    public final func setOptionalData(_ value: Data?, at offset: Int, field: Int) {
        if let value { setData(value, at: offset, field: field) } else { setTail(nil, at: offset, field: field) }
    }

    /// Returns a mandatory attribute's value, or an empty string if it is null.
    public final func text(slot: Int) -> String { optionalText(slot: slot) ?? "" }
    /// Returns an optional attribute's value.
    public final func optionalText(slot: Int) -> String? {
        field(slot).flatMap { optionalText(at: $0.byteOffset, field: $0.index) }
    }
    /// Sets a mandatory attribute.
    public final func setText(_ value: String, slot: Int) {
        if let field = field(slot) { setText(value, at: field.byteOffset, field: field.index) }
    }
    /// Sets an optional attribute.
    public final func setOptionalText(_ value: String?, slot: Int) {
        if let field = field(slot) { setOptionalText(value, at: field.byteOffset, field: field.index) }
    }

    /// Returns a mandatory attribute's value, or empty data if it is null.
    public final func data(slot: Int) -> Data { optionalData(slot: slot) ?? Data() }
    /// Returns an optional attribute's value.
    public final func optionalData(slot: Int) -> Data? {
        field(slot).flatMap { optionalData(at: $0.byteOffset, field: $0.index) }
    }
    /// Sets a mandatory attribute.
    public final func setData(_ value: Data, slot: Int) {
        if let field = field(slot) { setData(value, at: field.byteOffset, field: field.index) }
    }
    /// Sets an optional attribute.
    public final func setOptionalData(_ value: Data?, slot: Int) {
        if let field = field(slot) { setOptionalData(value, at: field.byteOffset, field: field.index) }
    }

    // MARK: Other attributes

    private final func read(slot: Int) -> Value {
        guard let field = field(slot) else { return .null }
        let value = value(of: field)
        noteAccess(field)
        return value
    }

    private final func write(_ value: Value, slot: Int) {
        guard let field = field(slot) else { return }
        do throws(StoreError) {
            try setting(.field(field.index)) { () throws(StoreError) in try set(value, for: field) }
        } catch { core.latch(error) }
    }

    package final func value(slot: Int) -> Value { read(slot: slot) }
    /// Sets a stored attribute of any type.
    ///
    /// If the value is invalid, the next save, fetch or count throws an error.
    package final func setValue(_ value: Value, slot: Int) { write(value, slot: slot) }

    /// Returns a mandatory attribute's value.
    public final func uuid(slot: Int) -> UUID {
        optionalUUID(slot: slot) ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
    /// Returns an optional attribute's value.
    public final func optionalUUID(slot: Int) -> UUID? {
        if case .uuid(let value) = read(slot: slot) { value } else { nil }
    }
    /// Sets a mandatory attribute.
    public final func setUUID(_ value: UUID, slot: Int) { write(.uuid(value), slot: slot) }
    /// Sets an optional attribute.
    public final func setOptionalUUID(_ value: UUID?, slot: Int) {
        write(value.map { .uuid($0) } ?? .null, slot: slot)
    }

    /// Returns a mandatory attribute's value.
    public final func decimal(slot: Int) -> Decimal {
        optionalDecimal(slot: slot) ?? 0
    }
    /// Returns an optional attribute's value.
    public final func optionalDecimal(slot: Int) -> Decimal? {
        if case .decimal(let value) = read(slot: slot) { value } else { nil }
    }
    /// Sets a mandatory attribute.
    public final func setDecimal(_ value: Decimal, slot: Int) { write(.decimal(value), slot: slot) }
    /// Sets an optional attribute.
    public final func setOptionalDecimal(_ value: Decimal?, slot: Int) {
        write(value.map { .decimal($0) } ?? .null, slot: slot)
    }

    /// Returns the value of an object-ID attribute.
    public final func reference(slot: Int) -> ObjectID? {
        if case .objectID(let id) = read(slot: slot) { id } else { nil }
    }
    /// Sets an object-ID attribute.
    public final func setReference(_ value: ObjectID?, slot: Int) {
        write(value.map { .objectID($0) } ?? .null, slot: slot)
    }
    /// Returns the elements of a composite attribute.
    public final func composite(slot: Int) -> [String: Value]? {
        guard let field = field(slot) else { return nil }
        let value = value(of: field)
        noteAccess(field)
        if case .composite(let elements) = value { return elements }
        return nil
    }
    /// Sets a composite attribute.
    public final func setComposite(_ value: [String: Value]?, slot: Int) {
        guard let field = field(slot) else { return }
        do throws(StoreError) { try assign(value.map { .composite($0) } ?? .null, name: field.name) } catch {
            core.latch(error)
        }
    }
}
