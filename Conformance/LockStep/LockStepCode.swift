internal import Foundation
internal import RoostCore
internal import RoostMigration

/// A sequence of operations as the body of a Swift test.
///
/// The test must define `fixture`, and import RoostConformance, RoostCore and Foundation.
struct LockStepCode {
    private var model: LockStepModel
    /// Whether the stores record a digest, which the code then expects.
    private let recordsDigest: Bool
    private var lines: [String] = []
    private var hasDeclaredChanges = false
    private var hasChanges = false
    private var snapshotCount = 0
    private var snapshots: [Int: String] = [:]
    private var reservations: [Int: [String]] = [:]
    /// The hierarchies that the operations touch; the code at the end compares only touched
    /// content.
    private var roots: Set<Int> = []
    private var relationships: Set<Int> = []
    private var usesMetadata = false

    /// Returns the code, unindented.
    ///
    /// The code expects the content of the plain model, which has uniqueness constraints only if the
    /// fixture supports them.
    static func text(_ operations: [LockStepOperation], on fixture: StoreFixture) -> String {
        guard let model = try? ConformanceModel.standard(for: [fixture]) else { return "" }
        var code = LockStepCode(
            model: LockStepModel(model), recordsDigest: fixture.capabilities.contains(.digest))
        let reopens = operations.contains { $0 == .reopen || $0 == .reopenReadOnly }
        code.lines = [
            "let bench = try Workbench(fixture)", "defer { bench.discard() }",
            "\(reopens ? "var" : "let") store = try bench.create()",
        ]
        for (index, operation) in operations.enumerated() {
            // If the model rejects an operation, that is the failure, so the code ends before it.
            guard let step = try? code.model.step(operation) else { break }
            code.add(step, isLast: index == operations.count - 1)
        }
        return code.lines.joined(separator: "\n")
    }

    private var reference: ReferenceStore { model.reference }
    private var digest: StoreDigest? { recordsDigest ? reference.digest : nil }

    private mutating func add(_ step: LockStepStep, isLast: Bool) {
        switch step {
        case .nothing: break
        case .change(let operation, let version): addChange(operation, version: version)
        case .commit(_, let refusal, let changesAnything):
            addCommit(refusal, changesAnything: changesAnything, isLast: isLast)
            hasChanges = false
            if isLast { addContents(reference.contents, digest: digest, of: "store") }
        case .load(let changes, let refusal, let finishes):
            addLoad(changes, refusal: refusal, finishes: finishes)
            hasChanges = false
            if isLast { addContents(reference.contents, digest: digest, of: "store") }
        case .reserveKeys(let count, let entity): addReservation(count, entity: entity)
        case .scan(let entity, let key, let objects):
            let after = key.map { ", after: \(SwiftCode.code(ObjectID(entity, key: $0)))" } ?? ""
            addObjects("try store.snapshot().objects(of: \(SwiftCode.code(entity))\(after))", expected: objects)
        case .read(let ids, let objects):
            addObjects(
                "try store.snapshot().objects(with: \(SwiftCode.list(ids.map { SwiftCode.code($0) })))",
                expected: objects)
        case .walk(let name, let id, let targets):
            lines.append(
                "#expect(try store.snapshot().targets(of: \(SwiftCode.code(name)), from: \(SwiftCode.code(id))) == \(targets))"
            )
        case .fetch(let request, let keys):
            lines.append("#expect(try store.snapshot().keys(\(SwiftCode.code(request))) == \(keys))")
            lines.append("#expect(try store.snapshot().count(\(SwiftCode.code(request))) == \(keys.count))")
        case .openSnapshot(let number):
            snapshotCount += 1
            snapshots[number] = "snapshot\(snapshotCount)"
            lines.append("let snapshot\(snapshotCount) = try store.snapshot()")
        case .closeSnapshot(let number, let contents):
            guard let name = snapshots.removeValue(forKey: number) else { return }
            addContents(contents, digest: nil, of: name)
            lines.append("\(name).close()")
        case .reopen:
            closeSnapshots()
            lines.append("store = try bench.reopen(store)")
            if isLast { addContents(reference.contents, digest: nil, of: "store") }
        case .reopenReadOnly:
            closeSnapshots()
            lines += [
                "try store.close()", "store = try bench.open { $0.isReadOnly = true }",
                "do {", "    var forbidden = ChangeSet(model: store.model)",
                "    forbidden.userMetadata[\"written\"] = .bool(true)",
                "    #expect(throws: StoreError.self) { try store.commit(forbidden) }", "}",
            ]
            if isLast { addContents(reference.contents, digest: nil, of: "store") }
            lines += ["try store.close()", "store = try bench.open()"]
        }
    }

    private mutating func closeSnapshots() {
        for name in snapshots.values.sorted() { lines.append("\(name).close()") }
        snapshots = [:]
    }

    // MARK: Changes

    private mutating func addChange(_ operation: LockStepOperation, version: UInt32) {
        if !hasChanges {
            lines.append("\(hasDeclaredChanges ? "" : "var ")changes = ChangeSet(model: store.model)")
            (hasChanges, hasDeclaredChanges) = (true, true)
        }
        switch operation {
        case .insert(let id, let values):
            touch(id)
            lines.append("try changes.insert(\(SwiftCode.code(id)), values: \(SwiftCode.code(values)))")
        case .update(let id, let values, _):
            touch(id)
            lines.append(
                "try changes.update(\(SwiftCode.code(id)), version: \(version), values: \(SwiftCode.code(values)))")
        case .delete(let id, _):
            touch(id)
            lines.append("changes.delete(\(SwiftCode.code(id)), version: \(version))")
        case .requireUnchanged(let id, _):
            touch(id)
            lines.append("changes.unchanged.append(.init(\(SwiftCode.code(id)), version: \(version)))")
        case .requireExisting(let id):
            touch(id)
            lines.append("changes.existing.append(\(SwiftCode.code(id)))")
        case .requireUnreferencedDeletes:
            lines.append("(changes.requiresUnreferencedDeletes, changes.requiresUnlinkedDeletes) = (true, true)")
        case .link(let link, let name):
            touch(name)
            lines.append("try changes.add(\(SwiftCode.code(link)), to: \(SwiftCode.code(name)))")
        case .unlink(let link, let name):
            touch(name)
            lines.append("try changes.remove(\(SwiftCode.code(link)), from: \(SwiftCode.code(name)))")
        case .setMetadata(let key, let value):
            usesMetadata = true
            lines.append(
                "changes.userMetadata[\(SwiftCode.code(key))] = .some(\(value.map { SwiftCode.code($0) } ?? "nil"))")
        default: break
        }
    }

    private mutating func touch(_ id: ObjectID) {
        if let entity = reference.model.entity(id.entity) { roots.insert(entity.root) }
    }

    private mutating func touch(_ name: RelationshipName) {
        if let owner = try? reference.model.requireLinkRelationship(name).owner { relationships.insert(owner) }
    }

    private mutating func addCommit(_ refusal: ReferenceStore.Refusal?, changesAnything: Bool, isLast: Bool) {
        let commit = "try store.commit(\(hasChanges ? "changes" : "ChangeSet(model: store.model)"))"
        guard let refusal else {
            guard isLast else { return lines.append("_ = \(commit)") }
            lines.append("let receipt = \(commit)")
            return lines.append("#expect(\(changesAnything ? "" : "!")receipt.hasChanges)")
        }
        guard isLast else { return lines.append("#expect(throws: StoreError.self) { \(commit) }") }
        lines.append("let error = #expect(throws: StoreError.self) { \(commit) }")
        let codes = refusal.codes.map(\.description).sorted().map { "StoreError.Code(\(SwiftCode.code($0)))" }
        lines.append("#expect(error.map { \(SwiftCode.list(codes)).contains($0.code) } == true)")
        if refusal.codes == [.conflict] {
            let ids = refusal.conflicts.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) }.map { SwiftCode.code($0) }
            lines.append("#expect(Set(error?.conflicts.map(\\.id) ?? []) == \(SwiftCode.list(ids)))")
        }
    }

    private mutating func addLoad(_ changes: ChangeSet, refusal: ReferenceStore.Refusal?, finishes: Bool) {
        var calls = ["try loader.append(changes.inserts)"]
        if !hasChanges { calls = [] }
        for batch in changes.addedLinks {
            let name = SwiftCode.code(reference.model.relationships[batch.relationship].name)
            let number = "store.model.requireLinkRelationship(\(name)).owner"
            let links = SwiftCode.list(batch.links.map { SwiftCode.code($0) })
            calls.append("try loader.append(LinkBatch(relationship: \(number), links: \(links)))")
        }
        calls.append(finishes ? "_ = try loader.finish()" : "loader.abandon()")
        lines += ["do {", "    let loader = try store.bulkLoader(BulkLoadOptions())"]
        if refusal == nil || !finishes {
            lines += calls.map { "    \($0)" }
        } else {
            lines += ["    #expect(throws: StoreError.self) {"] + calls.map { "        \($0)" }
            lines += ["    }", "    loader.abandon()"]
        }
        lines.append("}")
    }

    private mutating func addReservation(_ count: Int, entity: EntityName) {
        let root = reference.model.entity(entity)?.root ?? -1
        let names = reservations[root] ?? []
        let name = "keys\(reservations.values.reduce(1) { $0 + $1.count })"
        lines.append("let \(name) = try store.reserveKeys(\(count), for: \(SwiftCode.code(entity)))")
        let above = names.last.map { " && \(name).lowerBound >= \($0).upperBound" } ?? ""
        lines.append(
            "#expect(\(name).count == \(count) && \(name).lowerBound > \(reference.lastKeys[root] ?? 0)\(above))")
        reservations[root] = names + [name]
    }

    // MARK: Expectations

    private mutating func addObjects(_ objects: String, expected: [StoredObject]) {
        lines.append("#expect(\(objects).map(\\.id) == \(SwiftCode.list(expected.map { SwiftCode.code($0.id) })))")
        lines.append(
            "#expect(\(objects).map(\\.values) == \(SwiftCode.list(expected.map { SwiftCode.code($0.values) })))")
    }

    /// Adds the expected contents of a store or a snapshot, limited to touched entities and
    /// relationships.
    private mutating func addContents(_ contents: StoreContents, digest: StoreDigest?, of name: String) {
        let snapshot = name == "store" ? "store.snapshot()" : name
        for root in roots.sorted() {
            let (entity, expected) = (reference.model.entities[root].name, contents.objects[root] ?? [])
            let objects = "try \(snapshot).objects(of: \(SwiftCode.code(entity)))"
            lines.append("#expect(\(objects).map(\\.id) == \(SwiftCode.list(expected.map { SwiftCode.code($0.id) })))")
            lines.append("#expect(\(objects).map(\\.version) == \(expected.map(\.version)))")
            lines.append(
                "#expect(\(objects).map(\\.values) == \(SwiftCode.list(expected.map { SwiftCode.code($0.values) })))")
        }
        for number in relationships.sorted() {
            let relationship = SwiftCode.code(reference.model.relationships[number].name)
            let links = SwiftCode.list((contents.links[number] ?? []).map { SwiftCode.code($0) })
            lines.append("#expect(try \(snapshot).allLinks(of: \(relationship)) == \(links))")
        }
        if usesMetadata {
            let values = contents.userMetadata.sorted { $0.key < $1.key }.map {
                "\(SwiftCode.code($0.key)): \(SwiftCode.code($0.value))"
            }
            lines.append(
                "#expect(try \(snapshot).userMetadata() == \(values.isEmpty ? "[:]" : SwiftCode.list(values)))")
        }
        if let digest {
            lines.append(
                "#expect(try \(snapshot).recordedTally()?.digest.description == \(SwiftCode.code("\(digest)")))")
        }
    }
}
