internal import RoostCore

/// Rows of the tallies as a store last wrote them.
///
/// Other writers may have changed them since: compare a row with the stored one before use.
struct SQLKnownTallies: Sendable {
    /// The row of the generation, then those of entities, then those of relationships; nil where a
    /// row was not written.
    private var rows: [Tally?]
    private let entityCount: Int

    /// Creates tallies without any known value, for a store of `model`.
    init(model: ManagedObjectModel) {
        entityCount = model.entities.count
        rows = Array(repeating: nil, count: 1 + entityCount + model.relationships.count)
    }

    /// The contents of a row; `number` is 0 for the generation, else that of an entity or
    /// relationship of the model.
    subscript(kind: SQLTallyKind, number: Int) -> Tally? {
        get { rows[position(kind, number: number)] }
        set { rows[position(kind, number: number)] = newValue }
    }

    private func position(_ kind: SQLTallyKind, number: Int) -> Int {
        switch kind {
        case .generation: 0
        case .entity: 1 + number
        case .relationship: 1 + entityCount + number
        }
    }
}
