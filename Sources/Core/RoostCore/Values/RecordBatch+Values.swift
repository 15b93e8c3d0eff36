internal import Foundation

extension RecordBatch {
    /// Appends a record with decoded values.
    ///
    /// Properties without a value in `values` are null. If `values` contains a composite itself,
    /// only that entry determines whether the composite is null. Otherwise the composite is not
    /// null if one of its elements has a value.
    ///
    /// The keys of `values` are names of attributes and to-one relationships, and dotted paths of
    /// composites' elements. The key `<relationship>#order` sets the object's place in the ordered
    /// inverse. Building the record with ``beginRecord(_:key:version:)`` is faster.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidValue`, `invalidRequest` (abstract
    ///   entity, key below 1), `limitExceeded`. After an error the batch is unchanged.
    public mutating func append(
        _ id: ObjectID, version: UInt32 = 1, values: [String: Value]
    ) throws(StoreError) {
        let entity = try model.requireEntity(id.entity)
        guard !entity.isAbstract else {
            throw StoreError(.invalidRequest, "Entity '\(id.entity)' is abstract and has no objects of its own.")
        }
        guard id.key > 0 else {
            throw StoreError(.invalidRequest, "The key of \(id) is not positive; reserve keys from the store.")
        }
        var flat: [(field: RecordLayout.Field, value: Value)] = []
        for (name, value) in values {
            try flatten(name, value: value, layout: entity.layout, into: &flat)
            guard entity.layout.hasComposites, !value.isNull else { continue }
            // Searching bytes is many times faster than searching characters.
            var path = name[...]
            while let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) {
                path = path[..<dot]
                let composite = String(path)
                guard !values.keys.contains(composite) else { continue }
                flat.append((try entity.layout.requireField(composite), .composite([:])))
            }
        }
        flat.sort { $0.field.index < $1.field.index }
        beginRecord(entity.layout, key: id.key, version: version)
        do throws(StoreError) {
            for (field, value) in flat { try set(value, for: field) }
        } catch {
            abandonRecord()
            throw error
        }
        endRecord()
    }

    private func flatten(
        _ name: String, value: Value, layout: RecordLayout,
        into flat: inout [(field: RecordLayout.Field, value: Value)]
    ) throws(StoreError) {
        let field = try layout.requireField(name)
        flat.append((field, value))
        if case .composite(let elements) = value {
            for (element, value) in elements {
                try flatten("\(name).\(element)", value: value, layout: layout, into: &flat)
            }
        }
    }

    /// Sets a field of the record being built to a decoded value; does nothing for null.
    ///
    /// - Throws: `limitExceeded`; `invalidValue` if the value does not fit the field's type or
    ///   range. Integers are accepted for floating-point and decimal fields if the conversion is
    ///   exact.
    public mutating func set(_ value: Value, for field: RecordLayout.Field) throws(StoreError) {
        switch (value, field.kind) {
        case (.null, _): return
        case (.int(let number), .integer64), (.int(let number), .integer32), (.int(let number), .integer16),
            (.int(let number), .order):
            try setInteger(number, for: field)
        case (.bool(let flag), .boolean): try setInteger(flag ? 1 : 0, for: field)
        case (.double(let number), .double), (.double(let number), .float): try setDouble(number, for: field)
        case (.int(let number), .double), (.int(let number), .float):
            guard let exact = Double(exactly: number), field.kind == .double || Float(exactly: number) != nil else {
                throw outOfRange(field)
            }
            try setDouble(exact, for: field)
        case (.date(let date), .date): try setDouble(date.timeIntervalSinceReferenceDate, for: field)
        case (.decimal(let decimal), .decimal):
            guard let number = DecimalNumber(decimal) else { throw outOfRange(field) }
            setDecimal(number, for: field)
        case (.int(let number), .decimal):
            guard
                let number = DecimalNumber(
                    isNegative: number < 0, mantissa: UInt128(number.magnitude), exponent: 0)
            else { throw outOfRange(field) }
            setDecimal(number, for: field)
        case (.uuid(let uuid), .uuid): try setUUID(uuid, for: field)
        case (.string(let text), .string), (.uri(let text), .uri): try setText(text, for: field)
        case (.data(let data), .data), (.data(let data), .transformable): try setData(data, for: field)
        case (.objectID(let id), .reference), (.objectID(let id), .polymorphicReference),
            (.objectID(let id), .objectID):
            guard let entity = model.entity(id.entity) else {
                throw wrongType(field, what: "the ID of an unknown entity")
            }
            try setReference(entity: entity.number, key: id.key, for: field)
        case (.composite, .composite): setComposite(field)
        default: throw wrongType(field, what: value.kindDescription)
        }
    }
}
