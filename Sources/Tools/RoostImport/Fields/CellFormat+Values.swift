internal import Foundation
package import RoostCore
internal import RoostJSONText
internal import RoostQuery
internal import RoostSystem

extension CellFormat {
    /// Returns the value of a UTF-8 text for a field, or nil if the text is invalid for the field.
    package func value(
        _ text: UnsafeRawBufferPointer, for field: RecordLayout.Field, in model: ManagedObjectModel
    ) -> Value? {
        switch field.kind {
        case .integer16, .integer32, .integer64, .order:
            return wholeNumber(text, for: field).map { .int($0) }
        case .boolean: return Self.boolean(text).map { .bool($0) }
        case .double, .float: return number(text, for: field).map { .double($0) }
        case .decimal: return decimalOrNaN(text).map { .decimal($0.decimal) }
        case .date: return seconds(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .uuid: return Self.uuid(text).map { .uuid($0) }
        case .string: return String(validating: text, as: UTF8.self).map { .string($0) }
        case .uri: return String(validating: text, as: UTF8.self).map { .uri($0) }
        case .data, .transformable:
            return String(validating: text, as: UTF8.self).flatMap { Base64.data($0) }.map { .data($0) }
        case .reference, .polymorphicReference, .objectID: return object(text, for: field, in: model)
        case .composite: return nil
        }
    }

    /// Sets a field of the current record, or returns false if the UTF-8 text is invalid for the
    /// field.
    ///
    /// - Throws: `limitExceeded` for a record that is too large.
    func set(
        _ text: UnsafeRawBufferPointer, for field: RecordLayout.Field, in batch: inout RecordBatch
    ) throws(StoreError) -> Bool {
        switch field.kind {
        case .integer16, .integer32, .integer64:
            guard let number = wholeNumber(text, for: field) else { return false }
            try batch.setInteger(number, for: field)
        case .double:
            guard let number = number(text, for: field) else { return false }
            try batch.setDouble(number, for: field)
        case .decimal:
            guard let number = decimalOrNaN(text) else { return false }
            batch.setDecimal(number, for: field)
        case .date:
            guard let seconds = seconds(text) else { return false }
            try batch.setDouble(seconds, for: field)
        case .string, .uri:
            guard text.isValidUTF8 else { return false }
            try batch.setBytes(text, for: field)
        default:
            let model = batch.model
            guard let value = value(text, for: field, in: model) else { return false }
            do throws(StoreError) { try batch.set(value, for: field) } catch {
                guard error.code == .invalidValue else { throw error }
                return false
            }
        }
        return true
    }

    /// Reads a floating-point number, or a word of `roost export` for infinity or NaN.
    ///
    /// Type inference does not accept these words, because other programs use such words for
    /// missing values.
    private func number(_ text: UnsafeRawBufferPointer, for field: RecordLayout.Field) -> Double? {
        if let number = double(text) { return number }
        let word = Self.trimmed(text)
        if let special = JSONNumbers.special(word) { return special }
        return field.kind == .float ? JSONNumbers.floatNaN(word).map { Double($0) } : JSONNumbers.nan(word)
    }

    private func decimalOrNaN(_ text: UnsafeRawBufferPointer) -> DecimalNumber? {
        decimal(text) ?? (Self.trimmed(text).elementsEqual("NaN".utf8) ? .nan : nil)
    }

    /// Returns a whole number in the range of the field.
    ///
    /// The text may have a fraction of zeros, as in `5.0`.
    private func wholeNumber(_ text: UnsafeRawBufferPointer, for field: RecordLayout.Field) -> Int64? {
        guard let number = integer(text) ?? decimal(text)?.wholeNumber else { return nil }
        switch field.kind {
        case .integer16: return Int16(exactly: number) == nil ? nil : number
        case .integer32: return Int32(exactly: number) == nil ? nil : number
        default: return number
        }
    }

    /// Returns the object ID for a key or a text such as `Album/5`.
    private func object(
        _ text: UnsafeRawBufferPointer, for field: RecordLayout.Field, in model: ManagedObjectModel
    ) -> Value? {
        let string = String(decoding: Self.trimmed(text), as: UTF8.self)
        if let id = model.objectID(string) { return .objectID(id) }
        guard field.kind == .reference, let number = field.destination, model.entities.indices.contains(number),
            let key = Int64(string), key > 0
        else { return nil }
        return .objectID(ObjectID(model.entities[number].name, key: key))
    }

    /// Returns a phrase that describes the valid texts for fields of a kind.
    package static func expectation(of kind: RecordLayout.Field.Kind) -> String {
        switch kind {
        case .integer16: "a whole number from -32768 to 32767"
        case .integer32: "a whole number from -2147483648 to 2147483647"
        case .integer64, .order: "a whole number"
        case .boolean: "true or false"
        case .double, .float: "a number"
        case .decimal: "a number of at most 38 digits"
        case .date: "a date, as in 2024-05-01 or 2024-05-01T12:30:00Z"
        case .uuid: "a UUID"
        case .data, .transformable: "base64"
        case .reference: "the key of an object, as in 5"
        case .polymorphicReference, .objectID: "an object, as in Album/5"
        case .string, .uri: "text in UTF-8"
        case .composite: "another value"
        }
    }
}
