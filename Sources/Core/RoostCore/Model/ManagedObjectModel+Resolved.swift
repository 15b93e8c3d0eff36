extension ManagedObjectModel {
    /// A resolved entity in a built model, with a number and all inherited properties.
    public final class Entity: Sendable {
        /// The entity's position in the model's entities, which are ordered by the bytes of their
        /// names.
        public let number: Int
        /// The entity's name.
        public let name: EntityName
        package let declaration: EntityDescription
        /// The number of the superentity; nil for a root.
        public let superentity: Int?
        /// The number of the root entity of the hierarchy; its own number for a root.
        public let root: Int
        /// The numbers of the entity and all of its subentities, ascending.
        public let selfAndSubentities: [Int]
        /// All attributes, including inherited ones, ordered by the bytes of their names.
        public let attributes: [AttributeDescription]
        /// All stored relationships, including inherited ones, ordered by the bytes of their names.
        public let relationships: [Relationship]
        /// The layout of the entity's records.
        public let layout: RecordLayout
        /// The uniqueness constraints for objects of this entity, including inherited ones.
        public let uniquenessConstraints: [UniquenessConstraint]
        /// The fetch indexes that contain objects of this entity, including inherited ones.
        package let fetchIndexes: [FetchIndex]
        package let versionHash: VersionHash

        init(
            number: Int, declaration: EntityDescription, superentity: Int?, root: Int, selfAndSubentities: [Int],
            attributes: [AttributeDescription], relationships: [Relationship], layout: RecordLayout,
            uniquenessConstraints: [UniquenessConstraint], fetchIndexes: [FetchIndex], versionHash: VersionHash
        ) {
            self.number = number
            self.name = EntityName(declaration.name)
            self.declaration = declaration
            self.superentity = superentity
            self.root = root
            self.selfAndSubentities = selfAndSubentities
            self.attributes = attributes
            self.relationships = relationships
            self.layout = layout
            self.uniquenessConstraints = uniquenessConstraints
            self.fetchIndexes = fetchIndexes
            self.versionHash = versionHash
        }

        /// Whether the entity is abstract: only its subentities have objects.
        public var isAbstract: Bool { declaration.isAbstract }
        package var hasSubentities: Bool { selfAndSubentities.count > 1 }
        /// Returns whether the entity with number `other` is this entity or one of its subentities.
        package func includes(_ other: Int) -> Bool {
            let position = selfAndSubentities.firstPosition { $0 >= other }
            return position < selfAndSubentities.count && selfAndSubentities[position] == other
        }
        /// Returns the attribute with this name, which the entity declares or inherits.
        public func attribute(_ name: String) -> AttributeDescription? {
            let position = attributes.firstPosition { !ModelResolver.precedes($0.name, name) }
            return position < attributes.count && attributes[position].name == name ? attributes[position] : nil
        }
        /// Returns the attribute, or the element of a composite, at a dotted path.
        package func attribute(atPath path: String) -> AttributeDescription? {
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard let first = names.first, var found = attribute(first) else { return nil }
            for name in names.dropFirst() {
                guard let element = found.elements.first(where: { $0.name == name }) else { return nil }
                found = element
            }
            return found
        }
        /// Returns the stored relationship with this name, which the entity declares or inherits.
        public func relationship(_ name: String) -> Relationship? {
            let position = relationships.firstPosition { !ModelResolver.precedes($0.name.name, name) }
            return position < relationships.count && relationships[position].name.name == name
                ? relationships[position] : nil
        }
    }

    /// A resolved stored relationship in a built model.
    public struct Relationship: Sendable {
        /// The storage form of a relationship.
        public enum Storage: Sendable, Hashable {
            /// To-one: the key of the referenced object in a field of the record.
            case field
            /// To-many with a to-one inverse: stored as the references of the inverse.
            ///
            /// `inverse` is the number of the inverse relationship.
            case derived(inverse: Int)
            /// To-many without a to-one inverse: stored as links.
            ///
            /// Two to-many relationships that are inverses share links, which belong to the
            /// relationship with the lower number, `of`. `isFlipped` is true if `of` is the
            /// inverse.
            case links(of: Int, isFlipped: Bool)
        }

        /// The position in the model's relationships, which are ordered by the bytes of the
        /// entity's name, then of the relationship's name.
        public let number: Int
        /// The declaring entity and the relationship's name.
        public let name: RelationshipName
        package let declaration: RelationshipDescription
        /// The number of the declaring entity.
        public let source: Int
        /// The number of the destination entity.
        public let destination: Int
        /// The number of the stored inverse, which can be the relationship itself; nil for none.
        public let inverse: Int?
        /// Whether the inverse is to-many and ordered.
        package let inverseIsOrdered: Bool
        /// The storage form of the relationship.
        public let storage: Storage

        /// Whether the relationship can refer to several objects.
        public var isToMany: Bool { declaration.isToMany }
        /// Whether the referenced objects have an order.
        public var isOrdered: Bool { declaration.isToMany && declaration.isOrdered }
        package var ownsLinks: Bool { storage == .links(of: number, isFlipped: false) }
        package var isReflexive: Bool { inverse == number }
    }

    /// A resolved uniqueness constraint in a built model.
    public struct UniquenessConstraint: Sendable, Hashable {
        /// The position in the model's constraints, which are ordered by entity number, then by the
        /// bytes of their property names.
        package let number: Int
        /// The number of the declaring entity.
        ///
        /// The constraint also applies to objects of the entity's subentities.
        public let entity: Int
        /// The names of the attributes and to-one relationships, as declared.
        public let attributes: [String]
    }

    /// A resolved fetch index in a built model.
    package struct FetchIndex: Sendable, Hashable {
        /// The position in the model's indexes, which are ordered by entity number, then by the
        /// bytes of their names.
        ///
        /// Indexes do not affect version hashes, so compatible models may number their indexes
        /// differently. A store uses the numbers of the model that it contains.
        package let number: Int
        /// The number of the declaring entity; the index also contains objects of subentities.
        package let entity: Int
        package let declaration: FetchIndexDescription
    }

    /// All uniqueness constraints, ordered by number.
    public var uniquenessConstraints: [UniquenessConstraint] {
        entities.flatMap { entity in entity.uniquenessConstraints.filter { $0.entity == entity.number } }
    }

    /// All fetch indexes, ordered by number.
    package var fetchIndexes: [FetchIndex] {
        entities.flatMap { entity in entity.fetchIndexes.filter { $0.entity == entity.number } }
    }

    /// The relationships that own links, ordered by number.
    public var linkRelationships: [Relationship] { relationships.filter(\.ownsLinks) }
    package var roots: [Int] { entities.filter { $0.superentity == nil }.map(\.number) }
}

extension Array {
    /// Returns the position of the first element that meets a condition, or the count.
    ///
    /// All elements that meet the condition must come after all others.
    fileprivate func firstPosition(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
