internal import RoostCore

/// Random change sets, done to a store and to ``ReferenceStore`` side by side, comparing everything after each.
///
/// About one change set in four is meant to be refused: stale versions, taken keys, links to nothing, unique values that are taken.
public enum LockStep {
    /// Runs `commitCount` change sets that follow from `seed`.
    ///
    /// - Throws: ``ConformanceFailure`` with the seed and the number of the commit at which the two came apart.
    public static func run(on fixture: StoreFixture, seed: UInt64, commitCount: Int) throws(ConformanceFailure) {
        var commit = 0
        do {
            let bench = try Workbench(fixture)
            defer { bench.discard() }
            var random = SeededGenerator(seed: seed)
            var store = try bench.create()
            var reference = ReferenceStore(model: bench.model)
            var old: (snapshot: any StoreSnapshot, contents: StoreContents)?
            while commit < commitCount {
                commit += 1
                let changes = try RandomChanges(random.next(), reference).changes
                try step(changes, store, &reference)
                try compare(store, reference, &random)
                if let kept = old, random.oneIn(10) {
                    try expectEqual(
                        try StoreContents(of: kept.snapshot), kept.contents, "a snapshot taken earlier is unchanged")
                    kept.snapshot.close()
                    old = nil
                }
                if old == nil, random.oneIn(10) {
                    let snapshot = try store.snapshot()
                    old = (snapshot, try StoreContents(of: snapshot))
                }
                if random.oneIn(40) {
                    old?.snapshot.close()
                    old = nil
                    store = try bench.reopen(store)
                    try compare(store, reference, &random)
                }
            }
            old?.snapshot.close()
            try bench.examineStores()
        } catch let mismatch as Mismatch {
            throw failure(fixture, seed, commit, mismatch.expected, mismatch.actual)
        } catch {
            throw failure(fixture, seed, commit, "no error", "\(error)")
        }
    }

    private static func failure(
        _ fixture: StoreFixture, _ seed: UInt64, _ commit: Int, _ expected: String, _ actual: String
    ) -> ConformanceFailure {
        ConformanceFailure(
            check: "lockstep (seed \(seed), commit \(commit))", store: fixture.name, expected: expected, actual: actual)
    }

    private static func step(_ changes: ChangeSet, _ store: any PersistentStore, _ reference: inout ReferenceStore)
        throws
    {
        var refusal: ReferenceStore.Refusal?
        do throws(ReferenceStore.Refusal) { try reference.commit(changes) } catch { refusal = error }
        do {
            _ = try store.commit(changes)
            if let refusal {
                throw Mismatch(expected: "refused with one of \(refusal.codes)", actual: "it was written")
            }
        } catch let error as StoreError {
            guard let refusal else { throw Mismatch(expected: "the change set is written", actual: "\(error)") }
            try expect(
                refusal.codes.contains(error.code), "refused with one of \(refusal.codes)", otherwise: "\(error)")
            if error.code == .conflict {
                try expectEqual(Set(error.conflicts.map(\.id)), refusal.conflicts, "the objects in conflict")
            }
            if error.code == .constraintViolation {
                let named = Set(error.violations.flatMap { [$0.rejected, $0.existing] })
                try expect(
                    !named.isEmpty && named.isSubset(of: refusal.colliding), "violations among \(refusal.colliding)",
                    otherwise: "\(named)")
            }
        }
    }

    private static func compare(
        _ store: any PersistentStore, _ reference: ReferenceStore, _ random: inout SeededGenerator
    ) throws {
        try expectEqual(try store.contents(), reference.contents, "the contents of the plain model")
        try store.view { snapshot in
            if let recorded = try snapshot.recordedTally() {
                try expectEqual(recorded.digest, reference.digest, "the recorded digest")
            }
            for relationship in store.model.relationships where relationship.isToMany && random.oneIn(2) {
                let source = store.model.entities[relationship.source]
                let keys = (reference.objects[source.root] ?? [:]).values.filter {
                    source.includes(store.model.entity($0.id.entity)?.number ?? -1)
                }
                .map(\.id).sorted { $0.key < $1.key }
                guard !keys.isEmpty else { continue }
                let id = random.pick(keys)
                try expectEqual(
                    try snapshot.targets(of: relationship.name, from: id),
                    reference.targets(of: relationship, from: id.key),
                    "where \(relationship.name) leads from \(id)")
            }
        }
    }
}

/// One random change set that fits the state of a store, or is meant not to.
struct RandomChanges {
    private(set) var changes: ChangeSet
    private let reference: ReferenceStore
    private var random: SeededGenerator
    private var touched: Set<ObjectID> = []

    private static let entities: [EntityName] = [
        "Track", "Track", "Album", "Node", "Node", "Tag", "Playlist", "Queue", "Shelf", "Dog", "Robot", "Animal",
        "Account", "Admin", "Everything", "Indexed",
    ]

    init(_ seed: UInt64, _ reference: ReferenceStore) throws(StoreError) {
        changes = ChangeSet(model: reference.model)
        self.reference = reference
        random = SeededGenerator(seed: seed)
        for _ in 0..<(1 + random.below(10)) { try addChange() }
        for _ in 0..<random.below(6) { try addLink() }
        if random.oneIn(5) {
            changes.userMetadata["k\(random.below(4))"] = .some(random.oneIn(3) ? nil : .int(Int64(random.below(100))))
        }
        if random.oneIn(6), let id = existing(random.pick(Self.entities)), touched.insert(id).inserted,
            let record = reference.record(id)
        {
            changes.unchanged.append(.init(id, version: record.version))
        }
        if random.oneIn(6) { try addFault() }
    }

    private func root(_ entity: EntityName) -> Int { reference.model.entity(entity)?.root ?? -1 }

    private mutating func existing(_ entity: EntityName) -> ObjectID? {
        let ids = (reference.objects[root(entity)] ?? [:]).values.map(\.id).filter { $0.entity == entity }.sorted {
            $0.key < $1.key
        }
        return ids.isEmpty ? nil : random.pick(ids)
    }

    private mutating func addChange() throws(StoreError) {
        let entity = random.pick(Self.entities)
        if random.below(10) < 4, let id = existing(entity), let record = reference.record(id) {
            guard touched.insert(id).inserted else { return }
            if random.oneIn(3) {
                changes.delete(id, version: record.version)
            } else {
                try changes.update(id, version: record.version, values: values(entity))
            }
            return
        }
        // Few keys, so that links meet; never one that was used: the reference has no memory of deleted keys.
        let id = ObjectID(entity, Int64(reference.commitCount * 16 + changes.inserts.count + 1))
        guard touched.insert(id).inserted else { return }
        try changes.insert(id, values: values(entity))
    }

    private mutating func values(_ entity: EntityName) -> [String: Value] {
        switch entity {
        case "Track":
            guard random.oneIn(2) else { return ["title": .string(SampleGraph.words(2, &random))] }
            return [
                "album": .objectID(existing("Album") ?? ObjectID("Album", 1)),
                "album#order": .int(Int64(random.below(3))),
            ]
        case "Node": return random.oneIn(2) ? [:] : ["parent": .objectID(existing("Node") ?? ObjectID("Node", 1))]
        case "Album":
            return random.oneIn(2)
                ? ["title": "album"] : ["shelf": .objectID(existing("Shelf") ?? ObjectID("Shelf", 1))]
        case "Account", "Admin":
            return [
                "email": random.oneIn(2) ? .null : .string("e\(random.below(60))"),
                "first": random.oneIn(3) ? .null : .string("f\(random.below(8))"),
                "last": random.oneIn(3) ? .null : .string("l\(random.below(8))"),
                "number": random.oneIn(3) ? .null : .int(Int64(random.below(100))),
            ]
        default:
            guard let entity = reference.model.entity(entity) else { return [:] }
            return SampleGraph.randomValues(for: entity, using: &random, nullOneIn: 3)
        }
    }

    private mutating func addLink() throws(StoreError) {
        let relationships = reference.model.relationships.filter { if case .links = $0.storage { true } else { false } }
        let relationship = random.pick(relationships)
        if random.oneIn(3), case .links(let owner, let isFlipped) = relationship.storage,
            let ends = reference.contents.links[owner]?.first
        {
            try changes.remove(isFlipped ? ends.flipped : ends, from: relationship.name)
            return
        }
        guard let source = end(relationship.source), let target = end(relationship.destination) else { return }
        try changes.add(
            Link(source, target, order: Int64(random.below(5)), inverseOrder: Int64(random.below(5))),
            to: relationship.name)
    }

    /// A key for one end of a link: an object that is there and stays, or one that this change set inserts.
    private mutating func end(_ entity: Int) -> Int64? {
        let entity = reference.model.entities[entity]
        var ids = (reference.objects[entity.root] ?? [:]).values.map(\.id) + changes.inserts.ids
        let deleted = Set(changes.deletes.map(\.id))
        ids = ids.filter { entity.includes(reference.model.entity($0.entity)?.number ?? -1) && !deleted.contains($0) }
            .sorted { $0.key < $1.key }
        return ids.isEmpty ? nil : random.pick(ids).key
    }

    private mutating func addFault() throws(StoreError) {
        let id = existing(random.pick(Self.entities))
        switch random.below(4) {
        case 0:
            guard let id, let record = reference.record(id), touched.insert(id).inserted else { return }
            try changes.update(id, version: record.version &+ 1, values: [:])
        case 1:
            let id = ObjectID("Tag", .max - 1)
            changes.delete(id, version: 3)
        case 2:
            guard let id, touched.insert(id).inserted else { return }
            try changes.insert(id, values: [:])
        default: try changes.add(Link(.max - 2, .max - 3), to: RelationshipName("Node", "friends"))
        }
    }
}
