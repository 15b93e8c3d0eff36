internal import RoostCore

/// A record whose values are set one by one, in any order.
///
/// Values of fixed width are stored directly in their slots. ``finish(key:version:into:)`` adds the
/// other values, in the order of the layout. The memory is reused for the next record.
final class RecordDraft {
    /// The range of a variable-width value in `tail`.
    private struct Part {
        /// The ``RecordDraft/stamp`` of the part's record; parts of earlier records are ignored.
        var stamp = 0
        var start = 0
        var count = 0
    }

    // Checking exclusivity for every value would cost more than storing the value. Accesses cannot
    // overlap, because a draft is used by one thread and its methods are not reentrant. SAFETY:
    // `record` has at least `fixedByteCount` bytes, and every slot of the layout is within these bytes.
    // `tail` has at least `tailByteCount` bytes and contains all parts.
    @exclusivity(unchecked) private var record: UnsafeMutableRawBufferPointer
    @exclusivity(unchecked) private var tail: UnsafeMutableRawBufferPointer
    @exclusivity(unchecked) private var tailByteCount = 0
    @exclusivity(unchecked) private var parts: [Part]
    /// The number of the current record, which ``begin(_:)`` increments.
    @exclusivity(unchecked) private(set) var stamp = 0
    @exclusivity(unchecked) private var layout: RecordLayout?

    /// Creates a draft for records with the given layouts.
    init(_ layouts: [RecordLayout]) {
        record = .allocate(byteCount: 4096, alignment: 16)
        tail = .allocate(byteCount: 4096, alignment: 16)
        parts = Array(repeating: Part(), count: layouts.map(\.fields.count).max() ?? 0)
    }

    deinit {
        record.deallocate()
        tail.deallocate()
    }

    /// Starts a record in which every field is null.
    func begin(_ layout: RecordLayout) {
        self.layout = layout
        stamp += 1
        tailByteCount = 0
        Self.grow(&record, to: layout.fixedByteCount, keeping: 0)
        layout.template.withUnsafeBytes { record.copyMemory(from: $0) }
    }

    // MARK: Values

    /// Sets a field whose slot has the width of `T`.
    @inline(__always)
    func set<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, field: borrowing RecordLayout.Field) {
        record.storeBytes(of: value.littleEndian, toByteOffset: field.byteOffset, as: T.self)
        clearNull(field.index)
    }

    /// Sets a reference: the key of the destination and the number of its entity.
    func set(key: Int64, entity: Int, field: borrowing RecordLayout.Field) {
        record.storeBytes(
            of: UInt32(truncatingIfNeeded: entity).littleEndian, toByteOffset: field.byteOffset + 8, as: UInt32.self)
        set(key, field: field)
    }

    func set(_ value: DecimalNumber, field: borrowing RecordLayout.Field) {
        let offset = field.byteOffset
        record.storeBytes(
            of: UInt64(truncatingIfNeeded: value.mantissa >> 64).littleEndian, toByteOffset: offset + 8, as: UInt64.self
        )
        record.storeBytes(of: value.exponent.littleEndian, toByteOffset: offset + 16, as: Int16.self)
        record[offset + 18] = value.isNaN ? 2 : (value.isNegative ? 1 : 0)
        set(UInt64(truncatingIfNeeded: value.mantissa), field: field)
    }

    func setPresent(_ field: borrowing RecordLayout.Field) { clearNull(field.index) }

    /// Sets a UUID field to the 16 bytes that `body` writes; returns false if `body` returns false.
    func setUUID(_ field: borrowing RecordLayout.Field, _ body: (UnsafeMutableRawBufferPointer) -> Bool) -> Bool {
        let slot = UnsafeMutableRawBufferPointer(rebasing: record[field.byteOffset..<field.byteOffset + 16])
        guard body(slot) else { return false }
        clearNull(field.index)
        return true
    }

    /// Sets a field of variable width to the bytes that `body` writes.
    ///
    /// `body` returns the number of bytes. If it returns nil, this method returns false and does
    /// not change the field.
    func setBytes(
        _ field: borrowing RecordLayout.Field, atMost count: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int?
    ) -> Bool {
        Self.grow(&tail, to: tailByteCount + count, keeping: tailByteCount)
        let room = UnsafeMutableRawBufferPointer(rebasing: tail[tailByteCount..<tailByteCount + count])
        guard let written = body(room) else { return false }
        parts[field.index] = Part(stamp: stamp, start: tailByteCount, count: written)
        tailByteCount += written
        clearNull(field.index)
        return true
    }

    @inline(__always)
    func setBytes(_ bytes: UnsafeRawBufferPointer, field: borrowing RecordLayout.Field) {
        if tail.count - tailByteCount < bytes.count {
            Self.grow(&tail, to: tailByteCount + bytes.count, keeping: tailByteCount)
        }
        UnsafeMutableRawBufferPointer(rebasing: tail[tailByteCount..<tailByteCount + bytes.count])
            .copyMemory(from: bytes)
        parts[field.index] = Part(stamp: stamp, start: tailByteCount, count: bytes.count)
        tailByteCount += bytes.count
        clearNull(field.index)
    }

    func isNull(_ field: borrowing RecordLayout.Field) -> Bool {
        record[RecordLayout.Header.bitmap + field.index >> 3] & (1 << UInt8(field.index & 7)) != 0
    }

    private func clearNull(_ index: Int) {
        record[RecordLayout.Header.bitmap + index >> 3] &= ~(1 << UInt8(index & 7))
    }

    // MARK: The record

    /// Appends the record to a batch.
    ///
    /// - Throws: `limitExceeded` if the record is larger than ``RecordLayout/maximumByteCount``.
    func finish(key: Int64, version: UInt32, into batch: inout RecordBatch) throws(StoreError) {
        guard let layout else { preconditionFailure("finish without begin") }
        let fixed = layout.fixedByteCount
        guard fixed + tailByteCount <= RecordLayout.maximumByteCount else {
            throw StoreError(
                .limitExceeded,
                "The record of \(layout.entity)/p\(key) would be larger than \(RecordLayout.maximumByteCount) bytes.")
        }
        Self.grow(&record, to: fixed + tailByteCount, keeping: fixed)
        // The slots of all fields of variable width are adjacent, at the end of the fixed part.
        var slot = fixed - 4 * (layout.fields.count - layout.firstVariableField)
        var end = 0
        for index in layout.firstVariableField..<layout.fields.count {
            let part = parts[index]
            if part.stamp == stamp, part.count > 0 {
                UnsafeMutableRawBufferPointer(rebasing: record[fixed + end..<fixed + end + part.count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: tail[part.start..<part.start + part.count]))
                end += part.count
            }
            record.storeBytes(of: UInt32(truncatingIfNeeded: end).littleEndian, toByteOffset: slot, as: UInt32.self)
            slot += 4
        }
        record.storeBytes(of: version.littleEndian, toByteOffset: RecordLayout.Header.version, as: UInt32.self)
        let bytes = UnsafeRawBufferPointer(rebasing: record[..<(fixed + end)])
        let checksum = RecordHash.content(of: bytes, key: key) ^ RecordHash.versionMask(version)
        record.storeBytes(of: checksum.littleEndian, toByteOffset: RecordLayout.Header.checksum, as: UInt64.self)
        let model = batch.model
        batch.append(try RecordReader(checking: bytes, key: key, model: model))
    }

    private static func grow(_ memory: inout UnsafeMutableRawBufferPointer, to count: Int, keeping kept: Int) {
        guard memory.count < count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, memory.count * 2), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<kept]))
        memory.deallocate()
        memory = larger
    }
}
