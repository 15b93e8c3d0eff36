internal import RoostCore
internal import RoostMigration

/// One store, in lock-step with other stores and the plain model.
final class LockStepLane {
    let fixture: StoreFixture
    private let bench: Workbench
    private var store: any PersistentStore
    private var snapshots: [Int: any StoreSnapshot] = [:]
    /// The highest reserved key of each root entity; stores may reserve different keys.
    private var reservedKeys: [Int: Int64] = [:]
    /// The current generation, or nil if it is unknown until the next commit.
    private var generation: Generation?

    /// Creates an empty store of the managed object model.
    init(_ fixture: StoreFixture, model: ManagedObjectModel) throws {
        self.fixture = fixture
        let bench = try Workbench(fixture)
        self.bench = bench
        do {
            let store = try bench.create(model)
            self.store = store
            generation = try store.view { try $0.recordedTally()?.generation }
        } catch {
            bench.discard()
            throw error
        }
    }

    func discard() {
        closeSnapshots()
        bench.discard()
    }

    private func closeSnapshots() {
        for snapshot in snapshots.values { snapshot.close() }
        snapshots = [:]
    }

    /// Applies a step and compares its result; `reference` is the reference store after the step.
    func perform(_ step: LockStepStep, reference: ReferenceStore, digest: StoreDigest?) throws {
        switch step {
        case .change, .nothing: break
        case .commit(let changes, let refusal, let changesAnything):
            try write(refusal) {
                let receipt = try self.store.commit(changes)
                if let before = self.generation {
                    try expectEqual(receipt.previousGeneration, before, "the generation before the commit")
                }
                try self.compare(
                    receipt.generation, with: receipt.previousGeneration, changesAnything: changesAnything,
                    what: "the generation of the commit")
                self.generation = receipt.generation
            }
            try compareTally(digest)
        case .load(let changes, let refusal, let finishes):
            try load(changes, refusal: refusal, finishes: finishes)
            try compareTally(digest)
        case .reserveKeys(let count, let entity): try reserve(count, entity: entity, reference: reference)
        case .scan(let entity, let key, let expected):
            try store.view { snapshot in
                let found = try snapshot.objects(of: entity, after: key.map { ObjectID(entity, key: $0) })
                try compare(found, expected: expected, what: "the objects of \(entity)")
            }
        case .read(let ids, let expected):
            try store.view {
                try compare(try $0.objects(with: ids), expected: expected, what: "the objects with the IDs \(ids)")
            }
        case .walk(let relationship, let id, let expected):
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: relationship, from: id), expected,
                    "the members of \(relationship) of \(id)"
                )
            }
        case .fetch(let request, let expected):
            try store.view { snapshot in
                try expectEqual(try snapshot.keys(request), expected, "the keys of \(request)")
                try expectEqual(try snapshot.count(request), expected.count, "the count of \(request)")
            }
        case .openSnapshot(let number): snapshots[number] = try store.snapshot()
        case .closeSnapshot(let number, let contents):
            guard let snapshot = snapshots.removeValue(forKey: number) else { return }
            defer { snapshot.close() }
            var found = try StoreContents(of: snapshot)
            found.userMetadata = try snapshot.userMetadata()
            try expectEqual(found, contents, "a snapshot taken earlier is unchanged")
        case .reopen:
            closeSnapshots()
            store = try bench.reopen(store)
            try compareContents(reference)
        case .reopenReadOnly:
            closeSnapshots()
            if fixture.keepsClosedStores { try openReadOnly(reference) }
            try compareContents(reference)
        }
    }

    /// Requires the content and last keys of the plain model.
    ///
    /// Reserved keys may raise the last keys.
    func compareContents(_ reference: ReferenceStore) throws {
        try expectEqual(try store.contents(), reference.contents, "the contents of the plain model")
        try store.view { snapshot in
            for root in store.model.roots {
                let (name, used) = (store.model.entities[root].name, reference.lastKeys[root] ?? 0)
                let last = try snapshot.lastKey(of: name)
                if let reserved = reservedKeys[root] {
                    try expect(
                        last >= max(used, reserved), "a last key of \(name) of \(max(used, reserved)) or more",
                        otherwise: "\(last)")
                } else {
                    try expectEqual(last, used, "the last key of \(name)")
                }
            }
        }
    }

    /// Requires that nothing is damaged, and that a recorded tally equals the computed one.
    func examine() throws { try bench.examineStores() }

    private func compareTally(_ digest: StoreDigest?) throws {
        try store.view { snapshot in
            guard let digest, let recorded = try snapshot.recordedTally() else { return }
            try expectEqual(recorded.digest, digest, "the recorded digest")
            if let generation { try expectEqual(recorded.generation, generation, "the recorded generation") }
        }
    }

    private func compare(
        _ generation: Generation, with before: Generation, changesAnything: Bool, what: String
    ) throws {
        if changesAnything {
            try expectLater(generation, than: before, on: bench, what: what)
        } else {
            try expectEqual(generation, before, what)
        }
    }

    private func compare(_ found: [StoredObject], expected: [StoredObject], what: String) throws {
        try expectEqual(found.map(\.id), expected.map(\.id), what)
        var (mine, theirs) = (StoreContents(), StoreContents())
        (mine.objects, theirs.objects) = ([0: found], [0: expected])
        try expectEqual(mine, theirs, what)
    }

    private func write(_ refusal: ReferenceStore.Refusal?, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StoreError {
            guard let refusal else { throw Mismatch(expected: "the changes are written", actual: "\(error)") }
            return try compare(error, refusal: refusal)
        }
        if let refusal {
            throw Mismatch(expected: "refused with \(Self.names(refusal.codes))", actual: "it was written")
        }
    }

    private static func names(_ codes: Set<StoreError.Code>) -> String {
        codes.map(\.description).sorted().joined(separator: " or ")
    }

    private func compare(_ error: StoreError, refusal: ReferenceStore.Refusal) throws {
        try expect(
            refusal.codes.contains(error.code), "refused with \(Self.names(refusal.codes))", otherwise: "\(error)")
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

    private func load(_ changes: ChangeSet, refusal: ReferenceStore.Refusal?, finishes: Bool) throws {
        let loader = try store.bulkLoader(BulkLoadOptions())
        defer { loader.abandon() }
        func append() throws {
            try loader.append(changes.inserts)
            for batch in changes.addedLinks { try loader.append(batch) }
        }
        if finishes {
            try write(refusal) {
                try append()
                let tally = try loader.finish()
                guard let before = generation else { return }
                let isEmpty = changes.inserts.isEmpty && changes.addedLinks.allSatisfy(\.isEmpty)
                if fixture.type.capabilities.contains(.digest) {
                    try compare(
                        tally.generation, with: before, changesAnything: !isEmpty, what: "the generation of the load")
                    generation = tally.generation
                } else if !isEmpty {
                    generation = nil
                }
            }
        } else {
            // Only `finish()` must refuse invalid loads; `append(_:)` may refuse them too.
            do { try append() } catch let error as StoreError where refusal != nil {
                try compare(error, refusal: refusal ?? .init())
            }
        }
    }

    private func reserve(_ count: Int, entity: EntityName, reference: ReferenceStore) throws {
        let root = try store.model.requireEntity(entity).root
        let used = max(reference.lastKeys[root] ?? 0, reservedKeys[root] ?? 0)
        let keys = try store.reserveKeys(count, for: entity)
        try expect(
            keys.count == count && keys.lowerBound > used, "\(count) keys above \(used) for \(entity)",
            otherwise: "\(keys)")
        reservedKeys[root] = keys.upperBound - 1
    }

    private func openReadOnly(_ reference: ReferenceStore) throws {
        try store.close()
        store = try bench.open { $0.isReadOnly = true }
        try compareContents(reference)
        try expectError(.readOnly, in: "a commit to a store opened read-only") {
            try store.change { $0.userMetadata["written"] = .bool(true) }
        }
        try store.close()
        store = try bench.open()
    }
}
