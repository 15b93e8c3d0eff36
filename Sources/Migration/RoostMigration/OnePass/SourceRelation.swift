internal import RoostCore

/// The pairs of source objects in a relationship, as seen from one end.
///
/// Equal values describe the same pairs. So the value for a relationship equals the flipped value
/// for its inverse.
struct SourceRelation: Hashable {
    enum Storage: Hashable {
        /// In the links of the relationship with this number.
        case links(Int)
        /// In the field of the to-one relationship with this number.
        case field(Int)
    }

    let storage: Storage
    /// Whether the objects at this end are the targets of the links or of the field.
    let isFlipped: Bool

    init(_ relationship: ManagedObjectModel.Relationship, model: ManagedObjectModel) {
        switch relationship.storage {
        case .links(let owner, let isFlipped):
            storage = .links(owner)
            self.isFlipped = isFlipped
        case .derived(let inverse):
            storage = .field(inverse)
            isFlipped = true
        case .field:
            // In one-to-one relationships, both ends store the pairs. The end with the lower number is used.
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

    /// Returns the same pairs, as seen from the other end.
    func flipped(_ model: ManagedObjectModel) -> Self {
        switch storage {
        case .links(let number), .field(let number):
            model.relationships[number].isReflexive ? self : Self(storage, isFlipped: !isFlipped)
        }
    }

    func relationship(_ model: ManagedObjectModel) -> ManagedObjectModel.Relationship {
        switch storage {
        case .links(let number), .field(let number): model.relationships[number]
        }
    }
}
