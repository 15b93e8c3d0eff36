internal import Foundation
internal import RoostCore

/// Functions that read and write fields of rows.
///
/// A row ends with a tail, which contains the bytes of the variable-length fields. The slot of such
/// a field contains the offset in the tail at which the field's bytes end.
///
/// SAFETY: rows have the structure of their entity's layout. Stores verify the structure of the
/// rows that they return, and these functions preserve it.
enum RowAccess {
    @inline(__always)
    static func isNull(_ row: UnsafeRawPointer, field: Int) -> Bool {
        row.load(fromByteOffset: RecordLayout.Header.bitmap &+ field &>> 3, as: UInt8.self)
            & (1 &<< UInt8(truncatingIfNeeded: field & 7)) != 0
    }

    @inline(__always)
    static func setNull(_ isNull: Bool, row: UnsafeMutableRawPointer, field: Int) {
        let offset = RecordLayout.Header.bitmap &+ field &>> 3
        let bit = UInt8(1) &<< UInt8(truncatingIfNeeded: field & 7)
        let byte = row.load(fromByteOffset: offset, as: UInt8.self)
        row.storeBytes(of: isNull ? byte | bit : byte & ~bit, toByteOffset: offset, as: UInt8.self)
    }

    /// Returns whether any of the given bits of a row is set.
    @inline(__always)
    static func hasBits(_ row: UnsafeRawPointer, bits: [(offset: Int, bits: UInt8)]) -> Bool {
        for (offset, bits) in bits where row.load(fromByteOffset: offset, as: UInt8.self) & bits != 0 { return true }
        return false
    }

    @inline(__always)
    static func version(_ row: UnsafeRawPointer) -> UInt32 {
        UInt32(littleEndian: row.loadUnaligned(fromByteOffset: RecordLayout.Header.version, as: UInt32.self))
    }

    /// Sets the version of a complete row, and computes its checksum.
    static func seal(_ row: UnsafeMutableRawPointer, byteCount: Int, key: Int64, version: UInt32) {
        let hash = RecordHash.content(of: UnsafeRawBufferPointer(start: row, count: byteCount), key: key)
        row.storeBytes(of: version.littleEndian, toByteOffset: RecordLayout.Header.version, as: UInt32.self)
        row.storeBytes(
            of: (hash ^ RecordHash.versionMask(version)).littleEndian, toByteOffset: RecordLayout.Header.checksum,
            as: UInt64.self)
    }

    /// Changes the version of a row, and updates its checksum.
    ///
    /// The old checksum must be valid.
    static func setVersion(_ version: UInt32, row: UnsafeMutableRawPointer) {
        let sum = UInt64(
            littleEndian: row.loadUnaligned(fromByteOffset: RecordLayout.Header.checksum, as: UInt64.self))
        let next = sum ^ RecordHash.versionMask(Self.version(row)) ^ RecordHash.versionMask(version)
        row.storeBytes(of: version.littleEndian, toByteOffset: RecordLayout.Header.version, as: UInt32.self)
        row.storeBytes(of: next.littleEndian, toByteOffset: RecordLayout.Header.checksum, as: UInt64.self)
    }

    /// Returns whether two rows of an entity have the same content, ignoring versions and
    /// checksums.
    @inline(__always)
    static func haveEqualContent(
        _ left: UnsafeRawPointer, leftCount: Int, right: UnsafeRawPointer, rightCount: Int
    ) -> Bool {
        let start = RecordLayout.Header.entity
        return leftCount == rightCount && memcmp(left + start, right + start, leftCount - start) == 0
    }

    @inline(__always)
    static func haveEqualBytes(_ left: UnsafeRawPointer, right: UnsafeRawPointer, in range: Range<Int>) -> Bool {
        memcmp(left + range.lowerBound, right + range.lowerBound, range.count) == 0
    }

    /// Returns whether two rows of an entity have the same references in the given ranges.
    ///
    /// Each range has 8 or 12 bytes.
    @inline(__always)
    static func haveEqualReferences(
        _ left: UnsafeRawPointer, right: UnsafeRawPointer, in ranges: [Range<Int>]
    ) -> Bool {
        for range in ranges {
            // The first and the last eight bytes together cover a reference. Calling `memcmp` would
            // cost more.
            let (first, last) = (range.lowerBound, range.upperBound &- 8)
            guard
                left.loadUnaligned(fromByteOffset: first, as: UInt64.self)
                    == right.loadUnaligned(fromByteOffset: first, as: UInt64.self),
                left.loadUnaligned(fromByteOffset: last, as: UInt64.self)
                    == right.loadUnaligned(fromByteOffset: last, as: UInt64.self)
            else { return false }
        }
        return true
    }

    @inline(__always)
    static func reference(_ row: UnsafeRawPointer, field: RecordLayout.Field) -> (entity: Int, key: Int64)? {
        guard !isNull(row, field: field.index) else { return nil }
        let key = Int64(littleEndian: row.loadUnaligned(fromByteOffset: field.byteOffset, as: Int64.self))
        if field.kind == .reference { return (field.destination ?? 0, key) }
        let entity = UInt32(littleEndian: row.loadUnaligned(fromByteOffset: field.byteOffset + 8, as: UInt32.self))
        return (Int(entity), key)
    }

    static func setReference(
        _ reference: (entity: Int, key: Int64)?, row: UnsafeMutableRawPointer, field: RecordLayout.Field
    ) {
        setNull(reference == nil, row: row, field: field.index)
        row.storeBytes(of: (reference?.key ?? 0).littleEndian, toByteOffset: field.byteOffset, as: Int64.self)
        guard field.kind != .reference else { return }
        row.storeBytes(
            of: UInt32(truncatingIfNeeded: reference?.entity ?? 0).littleEndian, toByteOffset: field.byteOffset + 8,
            as: UInt32.self)
    }

    /// Returns the range of a tail field's bytes, relative to the row's start.
    @inline(__always)
    static func tailRange(
        _ row: UnsafeRawPointer, byteOffset: Int, layout: borrowing TailLayout
    ) -> (start: Int, end: Int) {
        let start =
            byteOffset == layout.firstByteOffset
            ? 0 : Int(UInt32(littleEndian: row.loadUnaligned(fromByteOffset: byteOffset - 4, as: UInt32.self)))
        let end = Int(UInt32(littleEndian: row.loadUnaligned(fromByteOffset: byteOffset, as: UInt32.self)))
        return (layout.tail + start, layout.tail + end)
    }

    /// The location of the tail in an entity's rows.
    struct TailLayout: Sendable {
        /// The number of bytes before the tail.
        let tail: Int
        /// The offset of the first tail field's slot, or of the tail if the tail has no fields.
        let firstByteOffset: Int

        init(_ layout: RecordLayout) {
            tail = layout.fixedByteCount
            firstByteOffset =
                layout.fields.indices.contains(layout.firstVariableField)
                ? layout.fields[layout.firstVariableField].byteOffset : layout.fixedByteCount
        }

        @inline(__always)
        func byteCount(_ row: UnsafeRawPointer) -> Int {
            firstByteOffset == tail
                ? tail : tail + Int(UInt32(littleEndian: row.loadUnaligned(fromByteOffset: tail - 4, as: UInt32.self)))
        }
    }

    /// Writes a copy of a row into `target`, with one field of the tail replaced.
    ///
    /// `byteOffset` is the offset of the field's slot. If `bytes` is nil, the field becomes null.
    static func replaceTail(
        of row: UnsafeRawPointer, field: Int, byteOffset: Int, layout: TailLayout,
        with bytes: UnsafeRawBufferPointer?, into target: UnsafeMutableRawPointer
    ) {
        let length = layout.byteCount(row)
        let (start, end) = tailRange(row, byteOffset: byteOffset, layout: layout)
        let count = bytes?.count ?? 0
        target.copyMemory(from: row, byteCount: start)
        if let bytes, let base = bytes.baseAddress { (target + start).copyMemory(from: base, byteCount: count) }
        (target + start + count).copyMemory(from: row + end, byteCount: length - end)
        let difference = count - (end - start)
        var slot = byteOffset
        while slot < layout.tail {
            let old = UInt32(littleEndian: target.loadUnaligned(fromByteOffset: slot, as: UInt32.self))
            target.storeBytes(
                of: UInt32(truncatingIfNeeded: Int(old) + difference).littleEndian, toByteOffset: slot, as: UInt32.self)
            slot += 4
        }
        setNull(bytes == nil, row: target, field: field)
    }
}
