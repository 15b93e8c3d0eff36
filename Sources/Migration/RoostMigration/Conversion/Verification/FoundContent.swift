internal import RoostCore

/// A tally of the content read from a source, to compare with the tally of its last commit.
struct FoundContent {
    private let model: ManagedObjectModel
    private var tally: StoreTally
    private var entities: Set<Int> = []
    private var relationships: Set<Int> = []

    init(_ model: ManagedObjectModel) {
        self.model = model
        tally = StoreTally(model: model)
    }

    /// Marks entities as read if none of them is marked yet, and returns whether it marked them.
    ///
    /// If the result is true, the caller must add all objects of the entities to the tally.
    mutating func begins(_ numbers: [Int]) -> Bool {
        guard entities.isDisjoint(with: numbers) else { return false }
        entities.formUnion(numbers)
        return true
    }

    /// Marks a relationship's links as read, and returns whether they were not marked yet.
    mutating func begins(linksOf relationship: Int) -> Bool { relationships.insert(relationship).inserted }

    mutating func add(_ records: RecordBatch) { tally.add(records) }
    mutating func add(_ links: LinkBatch) { tally.add(links) }

    /// Reads and counts the content of all entities and relationships not yet marked as read.
    mutating func countRest(
        of snapshot: any StoreSnapshot, options: ConversionOptions, noting skipped: inout SkippedObjects
    ) throws(StoreError) {
        var batch = RecordBatch(model: model)
        for root in model.roots {
            let rest = Set(model.entities[root].selfAndSubentities).subtracting(entities)
            guard !rest.isEmpty else { continue }
            entities.formUnion(rest)
            let cursor = try snapshot.records(of: model.entities[root].name, after: nil)
            while try cursor.next(into: &batch, options: options, noting: &skipped) {
                batch.forEachRecord { record in
                    guard rest.contains(record.entityNumber) else { return }
                    tally.entities[record.entityNumber].add(record.storedContentHash)
                }
            }
        }
        for relationship in model.linkRelationships where begins(linksOf: relationship.number) {
            var links = LinkBatch(relationship: relationship.number)
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            while try cursor.next(into: &links) {
                try options.cancellation?.check()
                add(links)
            }
        }
    }

    private func differences(from recorded: StoreTally) -> [String] {
        model.entities.filter {
            entities.contains($0.number) && tally.entities[$0.number] != recorded.entities[$0.number]
        }.map { "entity '\($0.name)'" }
            + model.relationships.filter {
                relationships.contains($0.number) && tally.relationships[$0.number] != recorded.relationships[$0.number]
            }.map { "relationship '\($0.name)'" }
    }

    /// Throws `corrupted` if the content differs from the recorded tally, unless the store accepts
    /// changes by other programs.
    func requireRecorded(_ recorded: StoreTally?, store: any PersistentStore) throws(StoreError) {
        guard let recorded, !store.takesChanges else { return }
        let names = differences(from: recorded)
        guard !names.isEmpty else { return }
        let name = store.location.path.isEmpty ? store.location.description : store.location.path
        let remedy =
            store.canTakeChanges
            ? "If the changes were made on purpose, accept them for this command with --accept-changes, or for good with 'roost check --accept'."
            : "Restore it from a backup."
        throw StoreError(
            .corrupted,
            "'\(name)' does not hold what its last commit recorded (\(names.joined(separator: ", "))): it was damaged, or changed by another program. Run 'roost check' for details. \(remedy)"
        )
    }

    /// Returns a warning if the content that was read and the skipped objects do not add up to the
    /// recorded tally.
    func warnings(against recorded: StoreTally?, skipped: [ObjectID]) -> [String] {
        guard let recorded else { return [] }
        var skippedCounts: [Int: Int] = [:]
        for id in skipped { if let entity = model.entity(id.entity) { skippedCounts[entity.root, default: 0] += 1 } }
        var names: [String] = []
        for root in model.roots where entities.isSuperset(of: model.entities[root].selfAndSubentities) {
            let numbers = model.entities[root].selfAndSubentities
            let left = skippedCounts[root] ?? 0
            let count = numbers.reduce(left) { $0 &+ tally.entities[$1].count }
            let isRight =
                left == 0
                ? numbers.allSatisfy { tally.entities[$0] == recorded.entities[$0] }
                : count == numbers.reduce(0) { $0 &+ recorded.entities[$1].count }
            if !isRight { names.append("entity '\(model.entities[root].name)'") }
        }
        for relationship in model.relationships
        where relationships.contains(relationship.number)
            && tally.relationships[relationship.number] != recorded.relationships[relationship.number]
        {
            names.append("relationship '\(relationship.name)'")
        }
        guard !names.isEmpty else { return [] }
        return [
            "The source's content differs from what its last commit recorded (\(names.joined(separator: ", "))), and the objects that were left out do not explain the difference; run 'roost check' for details."
        ]
    }
}

extension PersistentStore {
    /// Whether the store accepts content that another program changed.
    var takesChanges: Bool {
        if let frozen = self as? FrozenStore { return frozen.base.takesChanges }
        return (self as? any ChangeAcceptingStore)?.acceptsChanges ?? false
    }

    /// Whether a store of this type can accept content that another program changed.
    var canTakeChanges: Bool {
        if let frozen = self as? FrozenStore { return frozen.base.canTakeChanges }
        return self is any ChangeAcceptingStore
    }
}
