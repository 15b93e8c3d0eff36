package import RoostCore

/// Data of the source that a mapping model drops, in a form that can be counted in a store.
package struct MappingLoss: Hashable, Sendable {
    /// Objects of one entity of the source, those of subentities not included.
    package struct Objects: Hashable, Sendable {
        /// The entity.
        package let entity: EntityName
        /// The predicate that the objects meet; nil for all of the entity.
        package let predicate: FetchRequest.Predicate?

        package init(_ entity: EntityName, where predicate: FetchRequest.Predicate? = nil) {
            (self.entity, self.predicate) = (entity, predicate)
        }
    }

    /// The data of the objects that is lost.
    package enum Kind: Hashable, Sendable {
        /// The objects themselves.
        case objects
        /// The values of the attribute or composite element at this path.
        case values(String)
        /// The digits of an attribute's values that the new type cannot hold.
        case digits(String, AttributeType)
        /// The references of a relationship to some objects; to all for nil.
        case references(String, to: [Objects]?)
        /// All but one of the references of each object's relationship.
        case furtherReferences(String)
        /// The order of a relationship's destinations.
        case order(String)
        /// The direction of a pair: the object that refers to the other one.
        case direction(String)
        /// The IDs of some objects in an attribute.
        case ids(String, of: [Objects])
    }

    /// The objects that have the data.
    package let objects: Objects
    /// The data.
    package let kind: Kind
    /// The names of the entity mappings that drop it; empty if no mapping takes the objects.
    package let mappings: [String]

    package init(_ kind: Kind, of objects: Objects, by mappings: [String] = []) {
        (self.objects, self.kind, self.mappings) = (objects, kind, mappings)
    }
}

extension FetchRequest.Predicate {
    /// The predicate that objects meet which meet one of several; nil for any object, where one of
    /// them is nil.
    static func any(_ predicates: [Self?]) -> Self? {
        let all = predicates.compactMap { $0 }
        guard all.count == predicates.count else { return nil }
        return all.count == 1 ? all[0] : .or(all)
    }
}
