package import RoostCore

/// Data of the source that a mapping model drops, in a form that can be counted in a store.
package struct MappingLoss: Hashable, Sendable {
    /// Objects of one source entity, excluding subentities.
    package struct Objects: Hashable, Sendable {
        package let entity: EntityName
        /// The predicate, or nil for all objects of the entity.
        package let predicate: FetchRequest.Predicate?

        package init(_ entity: EntityName, where predicate: FetchRequest.Predicate? = nil) {
            (self.entity, self.predicate) = (entity, predicate)
        }
    }

    package enum Kind: Hashable, Sendable {
        case objects
        /// The values of the attribute or composite element at this path.
        case values(String)
        /// The digits that an attribute's values lose in the new type.
        case digits(String, AttributeType)
        /// The references of a relationship to the given objects, or all references if nil.
        case references(String, to: [Objects]?)
        /// All references of a relationship except one per object.
        case furtherReferences(String)
        /// The order of a relationship's destinations.
        case order(String)
        /// The direction of pairs: which object refers to the other.
        case direction(String)
        /// The IDs of the given objects in an attribute.
        case ids(String, of: [Objects])
    }

    /// The objects that have the data.
    package let objects: Objects
    package let kind: Kind
    /// The names of the entity mappings that drop the data; empty if no mapping reads the objects.
    package let mappings: [String]

    package init(_ kind: Kind, of objects: Objects, by mappings: [String] = []) {
        (self.objects, self.kind, self.mappings) = (objects, kind, mappings)
    }
}

extension FetchRequest.Predicate {
    /// Returns a predicate that matches if any of `predicates` does; nil matches all objects.
    static func any(_ predicates: [Self?]) -> Self? {
        let all = predicates.compactMap { $0 }
        guard all.count == predicates.count else { return nil }
        return all.count == 1 ? all[0] : .or(all)
    }
}
