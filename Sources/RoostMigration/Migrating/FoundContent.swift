internal import RoostCore

/// What was read of a source, for comparison with what its last commit recorded.
struct FoundContent {
    private let model: ManagedObjectModel
    private var tally: StoreTally
    private var entities: Set<Int> = []
    private var relationships: Set<Int> = []

    init(_ model: ManagedObjectModel) {
        self.model = model
        tally = StoreTally(model: model)
    }

    /// Whether all objects of these entities are about to be read for the first time; they are to be added then.
    mutating func begins(_ numbers: [Int]) -> Bool {
        guard entities.isDisjoint(with: numbers) else { return false }
        entities.formUnion(numbers)
        return true
    }

    /// The same of all links of a relationship that owns some.
    mutating func begins(linksOf relationship: Int) -> Bool { relationships.insert(relationship).inserted }

    mutating func add(_ records: RecordBatch) { tally.add(records) }
    mutating func add(_ links: LinkBatch) { tally.add(links) }

    /// Whether everything is what was recorded, once everything was read.
    func isWhole(_ recorded: StoreTally) -> Bool {
        tally.entities == recorded.entities && tally.relationships == recorded.relationships
    }

    /// What the source's own record of its content says against what was read; none without a record.
    func warnings(against recorded: StoreTally?) -> [String] {
        guard let recorded else { return [] }
        let changed = model.entities.filter {
            entities.contains($0.number) && tally.entities[$0.number] != recorded.entities[$0.number]
        }
        let changedLinks = model.relationships.filter {
            relationships.contains($0.number) && tally.relationships[$0.number] != recorded.relationships[$0.number]
        }
        guard !changed.isEmpty || !changedLinks.isEmpty else { return [] }
        let names = (changed.map { "entity '\($0.name)'" } + changedLinks.map { "relationship '\($0.name)'" })
            .joined(separator: ", ")
        return [
            "The source's content is not what its last commit recorded (\(names)): another program changed it, or it was damaged. It was migrated as it is; 'roost check' says more."
        ]
    }
}
