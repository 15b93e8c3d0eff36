/// The position of one field in the records of one entity.
@usableFromInline
package struct FieldSlot: Sendable {
    @usableFromInline package let kind: RecordLayout.Field.Kind
    /// A mask with the field's null bit in the byte at `nullByte`.
    @usableFromInline let nullMask: UInt8
    @usableFromInline let nullByte: Int32
    @usableFromInline let byteOffset: Int32
    /// The offset of the tail in the record.
    @usableFromInline let tail: Int32
    /// The offset of the preceding tail field's slot; 0 without a preceding tail field.
    ///
    /// That slot contains this field's start in the tail.
    @usableFromInline let precedingSlot: Int32

    package init(_ field: RecordLayout.Field, in layout: RecordLayout) {
        kind = field.kind
        nullMask = 1 << UInt8(field.index & 7)
        nullByte = Int32(truncatingIfNeeded: RecordLayout.Header.bitmap + field.index >> 3)
        byteOffset = Int32(truncatingIfNeeded: field.byteOffset)
        tail = Int32(truncatingIfNeeded: layout.fixedByteCount)
        precedingSlot = field.index > layout.firstVariableField ? byteOffset - 4 : 0
    }

    // SAFETY of all methods below: a `FieldSlot` is used only with records of its layout whose
    // structure was checked. Such records have a complete fixed part. The ends of their tail fields
    // ascend and do not exceed the record's end.

    @inlinable
    @inline(__always)
    package func isNull(in record: RecordReader) -> Bool { record.bytes[Int(nullByte)] & nullMask != 0 }

    @inlinable
    package func integer(in record: RecordReader) -> Int64 {
        let (bytes, offset) = (record.bytes, Int(byteOffset))
        switch kind {
        case .integer32: return Int64(Int32(bitPattern: RecordReader.load(bytes, offset: offset, as: UInt32.self)))
        case .integer16: return Int64(Int16(bitPattern: RecordReader.load(bytes, offset: offset, as: UInt16.self)))
        case .boolean: return Int64(bytes[offset])
        default: return Int64(bitPattern: RecordReader.load(bytes, offset: offset, as: UInt64.self))
        }
    }

    /// Returns a slot of 8 bytes as an integer.
    @inlinable
    @inline(__always)
    package func integer64(in record: RecordReader) -> Int64 {
        Int64(bitPattern: RecordReader.load(record.bytes, offset: Int(byteOffset), as: UInt64.self))
    }

    @inlinable
    package func double(in record: RecordReader) -> Double {
        kind == .float
            ? Double(Float(bitPattern: RecordReader.load(record.bytes, offset: Int(byteOffset), as: UInt32.self)))
            : Double(bitPattern: RecordReader.load(record.bytes, offset: Int(byteOffset), as: UInt64.self))
    }

    /// Returns the entity number that a polymorphic reference or an object ID contains.
    @inlinable
    package func entity(in record: RecordReader) -> Int {
        Int(RecordReader.load(record.bytes, offset: Int(byteOffset) + 8, as: UInt32.self))
    }

    /// Returns the bytes of a tail field, or the bytes of any other field's slot.
    @inlinable
    @inline(__always)
    package func bytes(in record: RecordReader) -> UnsafeRawBufferPointer {
        let bytes = record.bytes
        guard kind.isVariable else {
            return UnsafeRawBufferPointer(rebasing: bytes[Int(byteOffset)..<Int(byteOffset) + kind.width])
        }
        let start = precedingSlot == 0 ? 0 : Int(RecordReader.load(bytes, offset: Int(precedingSlot), as: UInt32.self))
        let end = Int(RecordReader.load(bytes, offset: Int(byteOffset), as: UInt32.self))
        return UnsafeRawBufferPointer(rebasing: bytes[Int(tail) + start..<Int(tail) + end])
    }

    /// Returns the value's first eight bytes as a big-endian number; missing bytes are zero.
    @inlinable
    @inline(__always)
    package func firstBytes(in record: RecordReader) -> UInt64 {
        let bytes = record.bytes
        var (start, count) = (Int(byteOffset), kind.width)
        if kind.isVariable {
            let before =
                precedingSlot == 0 ? 0 : Int(RecordReader.load(bytes, offset: Int(precedingSlot), as: UInt32.self))
            let end = Int(RecordReader.load(bytes, offset: Int(byteOffset), as: UInt32.self))
            (start, count) = (Int(tail) + before, end - before)
        }
        guard count < 8 else { return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
        // The record's header has over eight bytes, so the eight bytes up to the value's end are in the record.
        let word = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start + count - 8, as: UInt64.self))
        return count == 0 ? 0 : word << UInt64(64 - 8 * count)
    }
}
