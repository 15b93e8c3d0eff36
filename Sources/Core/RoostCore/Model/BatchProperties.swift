internal import Foundation

/// The properties of one entity that batch requests can set, and the rules for these properties.
package struct BatchProperties {
    package enum Property {
        /// An attribute, an element of a composite, or a position in an ordered inverse
        /// relationship.
        case field(RecordLayout.Field)
        /// A composite as a whole.
        case composite(RecordLayout.Field)
        case toOne(RecordLayout.Field, ManagedObjectModel.Relationship)
    }

    package let entity: ManagedObjectModel.Entity
    let model: ManagedObjectModel
    /// The fields of mandatory attributes and to-one relationships.
    package let mandatory: [RecordLayout.Field]
    /// The fields of mandatory elements of composites, each with the marker field of its composite.
    ///
    /// The marker shows whether the composite has a value.
    package let mandatoryElements: [(composite: RecordLayout.Field, element: RecordLayout.Field)]
    /// For each field, the marker field of the composite that contains the field, or nil.
    package let composites: [RecordLayout.Field?]

    /// The fields of elements with a default value, each with the marker field of its composite.
    ///
    /// An element that is a composite precedes its own elements.
    package let elementDefaults:
        [(composite: RecordLayout.Field, element: RecordLayout.Field, attribute: AttributeDescription)]

    package var hasComposites: Bool { composites.contains { $0 != nil } }

    package init(_ entity: ManagedObjectModel.Entity, in model: ManagedObjectModel) {
        self.entity = entity
        self.model = model
        let layout = entity.layout
        var mandatory: [RecordLayout.Field] = []
        var elements: [(composite: RecordLayout.Field, element: RecordLayout.Field)] = []
        var defaults: [(composite: RecordLayout.Field, element: RecordLayout.Field, attribute: AttributeDescription)] =
            []
        func collect(_ attribute: AttributeDescription, path: String) {
            for element in attribute.elements {
                let name = "\(path).\(element.name)"
                if let marker = layout.field(path), let field = layout.field(name) {
                    if !element.isOptional { elements.append((marker, field)) }
                    if !element.defaultValue.isNull { defaults.append((marker, field, element)) }
                }
                collect(element, path: name)
            }
        }
        for attribute in entity.attributes where attribute.isStored && attribute.derivationExpression == nil {
            if !attribute.isOptional, let field = layout.field(attribute.name) { mandatory.append(field) }
            collect(attribute, path: attribute.name)
        }
        for relationship in entity.relationships where !relationship.isToMany && !relationship.declaration.isOptional {
            if let field = layout.field(relationship.name.name) { mandatory.append(field) }
        }
        self.mandatory = mandatory
        mandatoryElements = elements
        elementDefaults = defaults
        composites = layout.fields.map { field in
            field.name.lastIndex(of: ".").flatMap { layout.field(String(field.name[..<$0])) }
        }
    }

    /// Returns the property with a name, or the element of a composite at a dotted path.
    package func property(_ name: String) throws(StoreError) -> Property {
        if let relationship = entity.relationship(name) {
            guard !relationship.isToMany, let field = entity.layout.field(name) else {
                throw StoreError(.invalidRequest, Self.toMany(relationship, entity: entity, model: model))
            }
            return .toOne(field, relationship)
        }
        if let attribute = entity.attribute(String(name.prefix { $0 != "." })) {
            if attribute.isTransient {
                throw StoreError(
                    .unknownProperty, "'\(entity.name).\(attribute.name)' is transient, so no store has its value.")
            }
            if attribute.derivationExpression != nil {
                throw StoreError(
                    .invalidRequest,
                    "'\(entity.name).\(attribute.name)' is derived from other properties and cannot be set.")
            }
        }
        guard let field = entity.layout.field(name) else {
            let hint = entity.hint(forUnknown: name, among: entity.layout.fields.map(\.name))
            throw StoreError(.unknownProperty, "Entity '\(entity.name)' has no stored property '\(name)'\(hint)")
        }
        return field.kind == .composite ? .composite(field) : .field(field)
    }

    private static func toMany(
        _ relationship: ManagedObjectModel.Relationship, entity: ManagedObjectModel.Entity,
        model: ManagedObjectModel
    ) -> String {
        let remedy =
            if case .derived(let inverse) = relationship.storage {
                "set '\(model.relationships[inverse].name)' of the other objects instead"
            } else {
                "add and remove its links with a change set"
            }
        return
            "'\(entity.name).\(relationship.name.name)' refers to many objects, which a batch request cannot set; \(remedy)."
    }

    /// Calls `body` with each field to set and the field's new value.
    ///
    /// The fields include the markers of the composites that contain the property. If `body` gets a
    /// field twice, only the last value counts. The value of a to-one relationship is not checked.
    /// `owner` returns the owner of the value, for messages.
    package func forEachField(
        of value: Value, for property: Property, owner: () -> String,
        _ body: (RecordLayout.Field, Value) throws(StoreError) -> Void
    ) throws(StoreError) {
        switch property {
        case .toOne(let field, _): try body(field, value)
        case .field(let field):
            guard let stored = value.stored(as: field.kind) else { throw mismatch(value, in: field, for: owner()) }
            if !stored.isNull { try markComposites(around: field, body) }
            try body(field, stored)
        case .composite(let field):
            // Elements that the value does not contain become null.
            let prefix = field.name + "."
            for element in entity.layout.fields where element.name.hasPrefix(prefix) { try body(element, .null) }
            if !value.isNull { try markComposites(around: field, body) }
            try body(field, value.isNull ? .null : .composite([:]))
            guard case .composite(let elements) = value else {
                if value.isNull { return }
                throw mismatch(value, in: field, for: owner())
            }
            for (name, value) in elements {
                let element = try entity.layout.requireField(prefix + name)
                try forEachField(
                    of: value, for: element.kind == .composite ? .composite(element) : .field(element), owner: owner,
                    body)
            }
        }
    }

    /// Sets the markers of all composites that contain a field.
    private func markComposites(
        around field: RecordLayout.Field, _ body: (RecordLayout.Field, Value) throws(StoreError) -> Void
    ) throws(StoreError) {
        var marker = composites[field.index]
        while let composite = marker {
            try body(composite, .composite([:]))
            marker = composites[composite.index]
        }
    }

    package func mismatch(_ value: Value, in field: RecordLayout.Field, for owner: String) -> StoreError {
        let remedy: String
        switch (value, field.kind) {
        case (.double, .integer16), (.double, .integer32), (.double, .integer64), (.decimal, .integer16),
            (.decimal, .integer32), (.decimal, .integer64):
            remedy = "; floor, ceiling and trunc make whole numbers"
        default: remedy = ""
        }
        return StoreError(
            .invalidValue,
            "'\(entity.name).\(field.name)' of \(owner) has type \(field.kind) and cannot hold \(value.kindDescription) exactly\(remedy)."
        )
    }

    /// Returns the default value of each field.
    package func defaults() throws(StoreError) -> [Value] {
        var defaults = [Value](repeating: .null, count: entity.layout.fields.count)
        for attribute in entity.attributes where attribute.isStored && !attribute.defaultValue.isNull {
            let field = try entity.layout.requireField(attribute.name)
            try forEachField(
                of: attribute.defaultValue, for: field.kind == .composite ? .composite(field) : .field(field),
                owner: { "its default" }, { defaults[$0.index] = $1 })
        }
        return defaults
    }
}

extension Value {
    /// Returns the value converted to the type of a field of this kind, or nil.
    ///
    /// An integer stays an integer for every numeric field.
    package func converted(to kind: RecordLayout.Field.Kind) -> Value? {
        switch (self, kind) {
        case (.null, _), (.bool, .boolean), (.double, .double), (.double, .float), (.decimal, .decimal), (.date, .date),
            (.uuid, .uuid), (.string, .string), (.uri, .uri), (.data, .data), (.data, .transformable),
            (.objectID, .objectID), (.objectID, .reference), (.objectID, .polymorphicReference),
            (.int, .integer64), (.int, .integer32), (.int, .integer16), (.int, .order), (.int, .double), (.int, .float),
            (.int, .decimal):
            self
        case (.string(let text), .uri): .uri(text)
        case (.uri(let text), .string): .string(text)
        case (.bool(let flag), _): Value.int(flag ? 1 : 0).converted(to: kind)
        case (.int(let number), .boolean): number == 0 || number == 1 ? .bool(number == 1) : nil
        case (.double(let number), .integer64), (.double(let number), .integer32), (.double(let number), .integer16),
            (.double(let number), .boolean):
            Int64(exactly: number).flatMap { Value.int($0).converted(to: kind) }
        case (.double(let number), .decimal):
            number.isFinite ? DecimalNumber(utf8: "\(number)".utf8).map { .decimal($0.decimal) } : nil
        case (.decimal(let number), .integer64), (.decimal(let number), .integer32), (.decimal(let number), .integer16),
            (.decimal(let number), .boolean):
            DecimalNumber(number)?.integer.flatMap { Value.int($0).converted(to: kind) }
        case (.decimal(let number), .double), (.decimal(let number), .float):
            DecimalNumber(number).map { .double($0.isNaN ? .nan : $0.nearestDouble) }
        default: nil
        }
    }

    /// Returns the value as a field of this kind stores it; nil if the value cannot be converted.
    ///
    /// Two results are equal if and only if the stored fields are equal. The result may be out of
    /// the field's range; ``RecordBatch/set(_:for:)`` then rejects it.
    package func stored(as kind: RecordLayout.Field.Kind) -> Value? {
        let converted = converted(to: kind)
        switch (converted, kind) {
        case (.int(let number), .double): return Double(exactly: number).map { .double($0) } ?? converted
        case (.int(let number), .float): return Float(exactly: number).map { .double(Double($0)) } ?? converted
        case (.int(let number), .decimal): return .decimal(Decimal(number))
        case (.double(let number), .float):
            let narrow = Float(number)
            return narrow.isFinite ? .double(Double(narrow)) : converted
        default: return converted
        }
    }
}

extension DecimalNumber {
    fileprivate var integer: Int64? {
        guard !isNaN, exponent >= 0, exponent < 20 else { return nil }
        var magnitude = mantissa
        for _ in 0..<exponent {
            guard magnitude <= UInt128(UInt64.max) else { return nil }
            magnitude *= 10
        }
        guard let magnitude = UInt64(exactly: magnitude) else { return nil }
        guard isNegative else { return Int64(exactly: magnitude) }
        return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
}
