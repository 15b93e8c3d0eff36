internal import RoostCore

/// The tally rows as a store last wrote them.
///
/// Other writers may have changed the stored rows since. Compare a known row with the stored row
/// before use.
struct SQLKnownTallies: Sendable {
    /// The row of the generation, then those of entities, then those of relationships.
    private var rows: [Tally?]
    private let entityCount: Int

    /// Creates tallies without known values.
    init(model: ManagedObjectModel) {
        entityCount = model.entities.count
        rows = Array(repeating: nil, count: 1 + entityCount + model.relationships.count)
    }

    /// The contents of a row; nil if the store has not written it.
    ///
    /// `number` is 0 for the generation.
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
