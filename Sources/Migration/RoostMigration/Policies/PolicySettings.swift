internal import RoostCore

/// A log of the relationships that policies set.
struct PolicySettings {
    /// The numbers of the relationships that policies have set, and of their inverses.
    private(set) var relationships: Set<Int> = []
    /// The objects whose to-one relationship a policy has set from either end, by relationship
    /// number.
    private let fields: AssociationTable
    /// The numbers of the relationships that policies have set by ID.
    ///
    /// Validation checks that the objects with these IDs exist.
    private(set) var givenByID: Set<Int> = []
    /// Whether a policy is setting a relationship.
    var isSetting = false

    init(model: ManagedObjectModel, directories: [String]) {
        fields = AssociationTable(
            mappingCount: model.relationships.count, from: model, to: model, memoryByteCount: 2 << 20,
            directories: directories)
    }

    mutating func note(_ relationship: ManagedObjectModel.Relationship) {
        guard relationships.insert(relationship.number).inserted else { return }
        if let inverse = relationship.inverse { relationships.insert(inverse) }
    }

    mutating func noteGivenByID(_ relationship: ManagedObjectModel.Relationship) {
        givenByID.insert(relationship.number)
    }

    /// Records that a policy has set a to-one relationship of an object, if ``isSetting`` is true.
    func noteField(
        _ relationship: ManagedObjectModel.Relationship, of place: AssociationTable.Object
    ) throws(StoreError) {
        guard isSetting, try !includes(relationship, of: place) else { return }
        try fields.associate(place, with: place, in: relationship.number)
    }

    /// Returns whether a policy has set a to-one relationship of an object, from either end.
    func includes(
        _ relationship: ManagedObjectModel.Relationship, of place: AssociationTable.Object
    ) throws(StoreError) -> Bool {
        guard fields.count(in: relationship.number) > 0 else { return false }
        var found: [AssociationTable.Object] = []
        try fields.appendDestinations(of: place, in: relationship.number, to: &found)
        return !found.isEmpty
    }
}
