package import RoostCore
internal import RoostJSONText
internal import RoostSystem

extension RecordTextReader {
    /// Reads the next records of an array while their text has exactly the format of
    /// ``RecordTextWriter``.
    ///
    /// This is faster than reading token by token, and changes neither values nor errors. Reading
    /// stops before the first record that has another format or a composite, is invalid, or is not
    /// completely in the reader's buffer. The caller continues there with
    /// ``JSONTokenReader/nextElement()``.
    ///
    /// `entity` must not be abstract. The reader must be after the array's `[` or after an element.
    package mutating func readWritten(
        _ entity: Int, from reader: inout JSONTokenReader, into batch: inout RecordBatch
    ) {
        guard reader.tokens.isBetweenElements else { return }
        let (plan, written) = (plans[entity], written.plans[entity])
        while !batch.isFull, readOneWritten(plan.layout, plan: written, from: &reader, into: &batch) {}
    }

    private func readOneWritten(
        _ layout: RecordLayout, plan: RecordTextWriter.Plan, from reader: inout JSONTokenReader,
        into batch: inout RecordBatch
    ) -> Bool {
        let (start, end) = reader.tokens.bytesAtHand
        var text = WrittenTextScanner(start, end: end)
        guard reader.tokens.state == .firstElement || text.skip(","), text.skip("\n") else { return false }
        let lineStart = text.place
        guard text.skip("{\"id\": "), let key = text.integer(), key > 0, text.skip(", \"version\": "),
            let version = text.integer().flatMap(UInt32.init(exactly:))
        else { return false }
        draft.begin(layout)
        let (memberList, stepList, prefixText) = (plan.members, plan.steps, plan.prefixes)
        let members = memberList.span
        let steps = stepList.span
        let prefixes = prefixText.span
        for index in steps.indices {
            let step = steps[index]
            // The writer omits a property that is null, so other text may be next.
            let isNext = prefixes.withUnsafeBytes {
                text.skip(UnsafeRawBufferPointer(rebasing: $0[step.prefixStart..<step.prefixStart + step.prefixCount]))
            }
            guard !isNext || read(step, field: members[index].field, from: &text) else { return false }
        }
        guard text.skip("}") else { return false }
        do throws(StoreError) { try draft.finish(key: key, version: version, into: &batch) } catch { return false }
        reader.tokens.pass(to: text.place, lineStart: lineStart)
        return true
    }

    /// Reads a field's value into the draft; returns false for text in another format.
    @inline(__always)
    private func read(
        _ step: RecordTextWriter.Step, field: borrowing RecordLayout.Field, from text: inout WrittenTextScanner
    ) -> Bool {
        switch step.kind {
        case .integer64, .order:
            guard let value = text.integer() else { return false }
            draft.set(value, field: field)
        case .reference:
            guard let value = text.integer(), value > 0 else { return false }
            draft.set(value, field: field)
        case .double, .date:
            guard let value = text.double() else { return false }
            draft.set(value.bitPattern, field: field)
        case .boolean:
            guard text.skip("false") else {
                guard text.skip("true") else { return false }
                draft.set(UInt8(1), field: field)
                break
            }
            draft.set(UInt8(0), field: field)
        case .string, .uri:
            guard let value = text.string() else { return false }
            draft.setBytes(value, field: field)
        case .uuid:
            guard let value = text.quoted() else { return false }
            return draft.setUUID(field) { Hexadecimal.decodeUUID(value, into: $0) }
        case .data, .transformable:
            guard let value = text.quoted() else { return false }
            return draft.setBytes(field, atMost: value.count / 4 * 3) { Base64.decode(value, into: $0) }
        default: return readOther(step, field: field, from: &text)
        }
        return true
    }

    private func readOther(
        _ step: RecordTextWriter.Step, field: borrowing RecordLayout.Field, from text: inout WrittenTextScanner
    ) -> Bool {
        switch step.kind {
        case .integer32:
            guard let value = text.integer().flatMap(Int32.init(exactly:)) else { return false }
            draft.set(value, field: field)
        case .integer16:
            guard let value = text.integer().flatMap(Int16.init(exactly:)) else { return false }
            draft.set(value, field: field)
        case .float:
            guard let value = text.float() else { return false }
            draft.set(value.bitPattern, field: field)
        case .decimal:
            guard let value = text.string(), let number = DecimalNumber(utf8: value) else { return false }
            draft.set(number, field: field)
        case .objectID, .polymorphicReference:
            guard let value = text.string() else { return false }
            return readReference(field, text: value)
        default: return false
        }
        return true
    }
}
