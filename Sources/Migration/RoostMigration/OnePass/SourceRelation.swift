internal import RoostCore

/// Pairs of objects of the source, seen from one end: what a relationship says, whatever way the
/// store keeps it.
///
/// Equal values are the same pairs, so a relationship is equal to its inverse, flipped.
struct SourceRelation: Hashable {
    /// The place where the pairs are stored.
    enum Storage: Hashable {
        /// In the links of the relationship with this number.
        case links(Int)
        /// In the field of the to-one relationship with this number.
        case field(Int)
    }

    let storage: Storage
    /// Whether the targets of links, or the objects that hold the fields' keys, are at this end.
    let isFlipped: Bool

    /// The pairs of a relationship.
    init(_ relationship: ManagedObjectModel.Relationship, model: ManagedObjectModel) {
        switch relationship.storage {
        case .links(let owner, let isFlipped):
            storage = .links(owner)
            self.isFlipped = isFlipped
        case .derived(let inverse):
            storage = .field(inverse)
            isFlipped = true
        case .field:
            // Of one-to-one relationships both sides have the pairs.
            guard let inverse = relationship.inverse, inverse < relationship.number,
                model.relationships[inverse].storage == .field
            else {
                storage = .field(relationship.number)
                isFlipped = false
                return
            }
            storage = .field(inverse)
            isFlipped = true
        }
    }

    private init(_ storage: Storage, isFlipped: Bool) {
        self.storage = storage
        self.isFlipped = isFlipped
    }

    /// The same pairs, seen from the other end.
    func flipped(_ model: ManagedObjectModel) -> Self {
        switch storage {
        case .links(let number), .field(let number):
            model.relationships[number].isReflexive ? self : Self(storage, isFlipped: !isFlipped)
        }
    }

    /// The relationship that has the pairs.
    func relationship(_ model: ManagedObjectModel) -> ManagedObjectModel.Relationship {
        switch storage {
        case .links(let number), .field(let number): model.relationships[number]
        }
    }
}
