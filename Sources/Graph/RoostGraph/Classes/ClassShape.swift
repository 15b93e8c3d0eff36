public import RoostCore

/// The properties that a class of managed objects expects in its entity.
///
/// A new container refuses a class whose shape does not match the model. The index of a property in
/// the shape is its *slot*. Accessors without a fixed offset identify a property by its slot. A
/// subclass lists the properties of its superclass first.
///
/// ```swift
/// static var shape: ClassShape {
///     ClassShape(
///         "Album", properties: [.field("plays", as: .integer64, at: 25, field: 1)])
/// }
/// ```
public struct ClassShape: Sendable {
    /// A property of a class.
    public struct Property: Sendable {
        enum Kind {
            case field(RecordLayout.Field.Kind, place: (offset: Int, index: Int)?)
            /// A stored attribute, whose type determines the field.
            case attribute(AttributeType)
            /// A to-one relationship, whose destination determines the field.
            case toOne
            case toMany(isOrdered: Bool)
            case transient(AttributeType)
        }

        let name: String
        let kind: Kind

        /// Returns a stored attribute or a to-one relationship at a fixed offset in the records.
        ///
        /// The entity must have neither a superentity nor subentities.
        public static func field(
            _ name: String, as kind: RecordLayout.Field.Kind, at offset: Int, field index: Int
        ) -> Property {
            Property(name: name, kind: .field(kind, place: (offset, index)))
        }

        /// Returns a stored attribute or a to-one relationship, at an offset that can differ
        /// between subentities.
        public static func field(_ name: String, as kind: RecordLayout.Field.Kind) -> Property {
            Property(name: name, kind: .field(kind, place: nil))
        }

        /// Returns a to-many relationship.
        public static func toMany(_ name: String, isOrdered: Bool = false) -> Property {
            Property(name: name, kind: .toMany(isOrdered: isOrdered))
        }

        package static func attribute(_ name: String, as type: AttributeType) -> Property {
            Property(name: name, kind: .attribute(type))
        }

        package static func toOne(_ name: String) -> Property { Property(name: name, kind: .toOne) }

        /// Returns a transient attribute.
        public static func transient(_ name: String, as type: AttributeType) -> Property {
            Property(name: name, kind: .transient(type))
        }
    }

    /// The entity of the class.
    public let entity: EntityName
    let properties: [Property]

    /// Creates a shape.
    public init(_ entity: EntityName, properties: [Property]) {
        self.entity = entity
        self.properties = properties
    }
}

extension ClassShape.Property {
    /// Returns the slot for this property, with its field or relationship in an entity.
    ///
    /// - Throws: `invalidModel` if the entity does not have the expected property.
    func slot(in entity: ManagedObjectModel.Entity, of type: ManagedObject.Type) throws(StoreError) -> EntityInfo.Slot {
        func problem(_ text: String) -> StoreError {
            StoreError(
                .invalidModel,
                "Class '\(type)' does not fit entity '\(entity.name)': \(text). Generate the class again from the model."
            )
        }
        switch kind {
        case .field(let kind, let place):
            guard let field = entity.layout.field(name) else { throw problem("it has no stored property '\(name)'") }
            guard field.kind == kind else { throw problem("property '\(name)' has another type") }
            if let place, place.offset != field.byteOffset || place.index != field.index {
                throw problem("property '\(name)' is at another place in the records")
            }
            return EntityInfo.Slot(
                name: name, field: field, relationship: entity.relationship(name)?.number, isTransient: false)
        case .attribute(let type):
            guard let attribute = entity.attribute(name), let field = entity.layout.field(name) else {
                throw problem("it has no stored attribute '\(name)'")
            }
            guard attribute.type == type else { throw problem("attribute '\(name)' has another type") }
            return EntityInfo.Slot(name: name, field: field, relationship: nil, isTransient: false)
        case .toOne:
            guard let relationship = entity.relationship(name), !relationship.isToMany,
                let field = entity.layout.field(name)
            else { throw problem("it has no to-one relationship '\(name)'") }
            return EntityInfo.Slot(name: name, field: field, relationship: relationship.number, isTransient: false)
        case .toMany(let isOrdered):
            guard let relationship = entity.relationship(name), relationship.isToMany else {
                throw problem("it has no to-many relationship '\(name)'")
            }
            guard relationship.isOrdered == isOrdered else {
                throw problem("relationship '\(name)' is \(isOrdered ? "not ordered" : "ordered")")
            }
            return EntityInfo.Slot(name: name, field: nil, relationship: relationship.number, isTransient: false)
        case .transient(let type):
            guard let attribute = entity.attribute(name), attribute.isTransient, attribute.type == type else {
                throw problem("it has no transient attribute '\(name)' of this type")
            }
            return EntityInfo.Slot(name: name, field: nil, relationship: nil, isTransient: true)
        }
    }
}
