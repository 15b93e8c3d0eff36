internal import RoostCore
internal import RoostJSONText

extension RecordTextWriter {
    /// Appends every member that is not null, each with its comma and key.
    ///
    /// The most common kinds of values are written here, the others by ``append(_:of:to:)``.
    func appendMembers(
        of plan: Plan, record: RecordReader, to text: inout TextBuffer
    ) throws(StoreError) {
        // SAFETY: the structure of the record was checked before its reader was created. So the
        // record has all bytes of its entity's layout, and the offsets in each step refer to bytes
        // of the record. The stored ends of the values in the tail ascend, and none is after the
        // record's last byte. The prefix of each step is a range of `plan.prefixes`.
        let bytes = record.bytes
        let (memberList, stepList, prefixText) = (plan.members, plan.steps, plan.prefixes)
        let members = memberList.span
        let steps = stepList.span
        let prefixes = prefixText.span
        for index in steps.indices {
            let step = steps[index]
            guard bytes[step.nullOffset] & step.nullBit == 0 else { continue }
            switch step.kind {
            case .composite, .decimal, .objectID, .polymorphicReference, .integer32, .integer16, .float:
                try append(members[index], of: record, to: &text)
                continue
            default: break
            }
            prefixes.withUnsafeBytes {
                text.append(
                    UnsafeRawBufferPointer(rebasing: $0[step.prefixStart..<step.prefixStart + step.prefixCount]))
            }
            switch step.kind {
            case .double, .date:
                JSONText.append(
                    Double(bitPattern: Self.load(bytes, offset: step.byteOffset, as: UInt64.self)), to: &text)
            case .boolean: text.append(bytes[step.byteOffset] != 0 ? "true" : "false")
            case .uuid:
                JSONText.append(
                    uuid: UnsafeRawBufferPointer(rebasing: bytes[step.byteOffset..<step.byteOffset + 16]), to: &text)
            case .string, .uri:
                let value = Self.tail(step, bytes: bytes)
                guard value.isValidUTF8 else {
                    throw Self.unwritable(members[index].field, record: record, what: "valid UTF-8")
                }
                JSONText.append(string: value, to: &text)
            case .data, .transformable: JSONText.append(base64: Self.tail(step, bytes: bytes), to: &text)
            default:
                JSONText.append(
                    Int64(bitPattern: Self.load(bytes, offset: step.byteOffset, as: UInt64.self)), to: &text)
            }
        }
    }

    @inline(__always)
    private static func load<T: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: UnsafeRawBufferPointer, offset: Int, as type: T.Type
    ) -> T {
        T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// Returns a step's value, which is in the tail.
    @inline(__always)
    private static func tail(_ step: Step, bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let start = step.startOffset.map { Int(load(bytes, offset: $0, as: UInt32.self)) } ?? 0
        let end = Int(load(bytes, offset: step.byteOffset, as: UInt32.self))
        return UnsafeRawBufferPointer(rebasing: bytes[step.tailOffset + start..<step.tailOffset + end])
    }

    /// Appends the value of a field that is neither null nor a composite.
    func appendValue(
        of field: borrowing RecordLayout.Field, record: RecordReader, to text: inout TextBuffer
    ) throws(StoreError) {
        switch field.kind {
        case .integer64, .integer32, .integer16, .order, .reference: JSONText.append(record.integer(field), to: &text)
        case .double: JSONText.append(record.double(field), to: &text)
        case .date: dates.append(record.double(field), to: &text)
        case .float: JSONText.append(Float(bitPattern: record.floatBits(field)), to: &text)
        case .boolean: text.append(record.boolean(field) ? "true" : "false")
        case .decimal:
            guard let number = record.decimal(field) else {
                throw Self.unwritable(field, record: record, what: "a canonical decimal")
            }
            JSONText.append(number, to: &text)
        case .uuid: JSONText.append(uuid: record.bytes(field), to: &text)
        case .objectID, .polymorphicReference:
            guard let (entity, key) = record.reference(field), entity < plans.count else {
                throw Self.unwritable(field, record: record, what: "an object of the model")
            }
            text.append(contentsOf: plans[entity].idPrefix)
            JSONText.append(key, to: &text)
            text.append(UInt8(ascii: "\""))
        case .string, .uri:
            let bytes = record.bytes(field)
            guard bytes.isValidUTF8 else { throw Self.unwritable(field, record: record, what: "valid UTF-8") }
            JSONText.append(string: bytes, to: &text)
        case .data, .transformable: JSONText.append(base64: record.bytes(field), to: &text)
        case .composite: break
        }
    }

    @inline(never)
    private static func unwritable(
        _ field: borrowing RecordLayout.Field, record: RecordReader, what: String
    ) -> StoreError {
        StoreError(
            .corrupted,
            "Property '\(field.name)' of \(record.id) is not \(what), so it cannot be written as text; run 'roost check' for details.",
            damagedObject: record.id)
    }
}
