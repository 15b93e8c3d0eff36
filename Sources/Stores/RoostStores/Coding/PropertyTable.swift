internal import RoostCore

/// The properties of an entity, or the elements of a composite attribute, by their coding keys.
///
/// Most types request their keys in the same order each time. So the table remembers which property
/// was requested after each property. A table is used from one thread at a time.
final class PropertyTable {
    /// The name for messages: `Track`, or `Track.place` for the elements of a composite.
    let label: String
    /// The properties in the order of their fields, and then the properties without a field.
    let properties: [CodedProperty]
    private let positions: [String: Int]
    /// The coding path from the object to the composite; empty for an entity.
    let path: [PropertyKey]
    /// The index of the property that is expected first.
    private var first = 0
    /// The index of the last requested property, or -1 at the start.
    private var last = -1

    private init(_ label: String, properties: [CodedProperty], path: [PropertyKey] = []) {
        self.label = label
        self.properties = properties
        self.path = path
        positions = Dictionary(properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Prepares the table for a new keyed container.
    func begin() { last = -1 }

    func property(_ name: String) -> CodedProperty? {
        let guess = last < 0 ? first : properties[last].successor
        // In a table without properties, the guess is not a valid index.
        guard guess < properties.count, properties[guess].name == name else { return search(name) }
        last = guess
        return properties[guess]
    }

    private func search(_ name: String) -> CodedProperty? {
        guard let found = positions[name] else { return nil }
        if last < 0 { first = found } else { properties[last].successor = found }
        last = found
        return properties[found]
    }
}

extension PropertyTable {
    func unknown(_ key: some CodingKey, of type: any Any.Type) -> StoreError {
        let near = nearestName(to: key.stringValue, among: properties.map(\.name))
        let hint = near.map { "; did you mean '\($0)'?" } ?? "."
        let noun = path.isEmpty ? "Entity" : "Composite"
        return StoreError(
            .unknownProperty, "\(noun) '\(label)' has no property '\(key.stringValue)', a key of '\(type)'\(hint)")
    }

    /// The name that is reserved for an object's own ID.
    static let objectIDName = "objectID"

    convenience init(_ entity: ManagedObjectModel.Entity, model: ManagedObjectModel) {
        let label = entity.name.text
        var properties = entity.layout.fields.filter { !$0.name.contains(".") }.map { field in
            let attribute = entity.attribute(field.name)
            let property = Self.property(
                field, prefix: "", entity: label, elements: attribute?.elements ?? [], layout: entity.layout)
            property.isDerived = attribute?.derivationExpression != nil
            return property
        }
        for relationship in entity.relationships where relationship.isToMany {
            let name = relationship.name.name
            properties.append(CodedProperty(name, kind: .toMany, label: "\(label).\(name)", relationship: relationship))
        }
        properties.append(CodedProperty(Self.objectIDName, kind: .objectID, label: "\(label).\(Self.objectIDName)"))
        for attribute in entity.attributes where !attribute.isStored {
            properties.append(
                CodedProperty(
                    attribute.name, kind: .unstored, label: "\(label).\(attribute.name)",
                    reason: "'\(label).\(attribute.name)' is transient, so no store has its value."))
        }
        var names = Set(properties.map(\.name))
        for other in model.entities[entity.root].selfAndSubentities.map({ model.entities[$0] }) {
            for name in other.attributes.map(\.name) + other.relationships.map(\.name.name)
            where names.insert(name).inserted {
                properties.append(
                    CodedProperty(
                        name, kind: .ofOtherEntity, label: "\(label).\(name)",
                        reason: "Entity '\(label)' has no property '\(name)'; entity '\(other.name)' has one."))
            }
        }
        self.init(label, properties: properties)
    }

    private static func property(
        _ field: RecordLayout.Field, prefix: String, entity: String, elements: [AttributeDescription],
        layout: RecordLayout
    ) -> CodedProperty {
        let name = String(field.name.dropFirst(prefix.count))
        let label = "\(entity).\(field.name)"
        guard field.kind == .composite else { return CodedProperty(name, kind: .field, label: label, field: field) }
        let prefix = field.name + "."
        let properties = elements.compactMap { element in
            layout.field(prefix + element.name).map {
                property($0, prefix: prefix, entity: entity, elements: element.elements, layout: layout)
            }
        }
        return CodedProperty(
            name, kind: .composite, label: label, field: field,
            table: PropertyTable(label, properties: properties, path: CodedProperty.keys(field.name)))
    }
}

/// A property that a Swift type can name with a coding key.
final class CodedProperty {
    enum Kind {
        case field
        case composite
        case toMany
        case objectID
        /// The object itself, which contains the other properties.
        case object
        case unstored
        /// A property that only other entities of the hierarchy have.
        case ofOtherEntity
    }

    let name: String
    let kind: Kind
    /// The full name for messages, such as `Track.place.city`.
    let label: String
    /// The property's field; for a composite, the field that marks it as present.
    ///
    /// Nil for properties without a field.
    let field: RecordLayout.Field?
    /// The elements of a composite, or the properties of an object.
    let table: PropertyTable?
    let relationship: ManagedObjectModel.Relationship?
    /// The message that explains why the property has no value; empty for a property with values.
    let reason: String
    var isDerived = false
    /// The index of the property that is expected next.
    fileprivate(set) var successor = 0

    init(
        _ name: String, kind: Kind, label: String, field: RecordLayout.Field? = nil, table: PropertyTable? = nil,
        relationship: ManagedObjectModel.Relationship? = nil, reason: String = ""
    ) {
        self.name = name
        self.kind = kind
        self.label = label
        self.field = field
        self.table = table
        self.relationship = relationship
        self.reason = reason
    }

    /// The coding path from the object to the property.
    var path: [PropertyKey] {
        guard kind != .object else { return [] }
        return Self.keys(field?.name ?? name)
    }

    static func keys(_ path: String) -> [PropertyKey] {
        path.split(separator: ".").map { PropertyKey(stringValue: String($0)) }
    }

    /// The type of the attribute or relationship, for messages.
    var typeName: String {
        switch kind {
        case .field:
            switch field?.kind {
            case .reference, .polymorphicReference: "to-one relationship"
            case .data: "binaryData"
            case .order: "place in an ordered relationship"
            case let kind?: "\(kind)"
            case nil: "unknown type"
            }
        case .composite: "composite"
        case .toMany: "to-many relationship"
        case .objectID: "ID of the object"
        case .object: "object"
        case .unstored: "transient"
        case .ofOtherEntity: "property of another entity"
        }
    }
}

struct PropertyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
