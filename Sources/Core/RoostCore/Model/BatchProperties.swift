internal import Foundation

/// The properties of one entity that batch requests can set, with the rules that hold for its
/// records.
package struct BatchProperties {
    /// A property that can be set.
    package enum Property {
        /// An attribute that is one field, the element of a composite, or the place in an ordered
        /// inverse.
        case field(RecordLayout.Field)
        /// A composite as a whole.
        case composite(RecordLayout.Field)
        /// A to-one relationship.
        case toOne(RecordLayout.Field, ManagedObjectModel.Relationship)
    }

    package let entity: ManagedObjectModel.Entity
    let model: ManagedObjectModel
    /// The fields that must have a value.
    package let mandatory: [RecordLayout.Field]
    /// The fields of elements that must have a value if their composite has one, each with its
    /// marker.
    package let mandatoryElements: [(composite: RecordLayout.Field, element: RecordLayout.Field)]
    /// By field: the marker of the composite that an element is of.
    package let composites: [RecordLayout.Field?]

    /// The fields of elements with a default, each with the marker of its composite: outer
    /// composites first.
    package let elementDefaults:
        [(composite: RecordLayout.Field, element: RecordLayout.Field, attribute: AttributeDescription)]

    /// Whether the entity has a composite attribute.
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

    /// The property with this name, or the element of a composite with this dotted path.
    ///
    /// - Throws: `unknownProperty`, naming the nearest one; `invalidRequest` for a to-many
    ///   relationship and a derived attribute.
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

    /// The fields that a property's value goes into, each with its own value.
    ///
    /// - Parameters:
    ///   - value: The value, of any type.
    ///   - property: The property; a to-one relationship's object is taken as it is.
    ///   - owner: What the value is for, as a message names it.
    ///   - body: What is called for each field.
    /// - Throws: `invalidValue` when the property cannot hold the value; `unknownProperty` for an
    ///   element that a composite has not.
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
            // Elements that are not named are null.
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

    /// Marks the composites around a field as present, since an element was set.
    private func markComposites(
        around field: RecordLayout.Field, _ body: (RecordLayout.Field, Value) throws(StoreError) -> Void
    ) throws(StoreError) {
        var marker = composites[field.index]
        while let composite = marker {
            try body(composite, .composite([:]))
            marker = composites[composite.index]
        }
    }

    /// Refuses a value that a field cannot hold.
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
            "'\(entity.name).\(field.name)' has type \(field.kind) and cannot hold \(value.kindDescription) exactly, which it was to be set to for \(owner)\(remedy)."
        )
    }

    /// Returns the default values, by field.
    ///
    /// - Throws: `invalidValue` for a default that its attribute cannot hold.
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
    /// Returns the same value in a type that a field of this kind holds, or nil.
    ///
    /// Numbers change their type if nothing is lost: a double becomes an integer if it is whole, a
    /// decimal if its shortest text gives the double back. A decimal becomes the nearest double,
    /// which is all that such a field can hold. Booleans are 0 and 1.
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

    /// Returns the value that a field of a kind has after it was set to this one, or nil if the
    /// field cannot hold it.
    ///
    /// Values of this form are equal if and only if their fields are. A number that is out of the
    /// field's range is returned as it is, for ``RecordBatch/set(_:for:)`` to refuse.
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
    /// The same number as a 64-bit integer, or nil if it is not one.
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
