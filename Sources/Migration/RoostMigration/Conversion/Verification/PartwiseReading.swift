internal import RoostCore

/// A reading of a finished destination, part by part, on one or more threads.
final class PartwiseReading: Sendable {
    private struct State {
        var next = 0
        var objects = 0
        var links = 0
        var tally: StoreTally
        var dangling: [Int]
        /// The error of the first failed part, in the order of parts.
        var failure: (part: Int, error: StoreError)?
    }

    private let destinationWriter: DestinationWriter
    private let store: any PersistentStore
    private let parts: [ContentPart]
    private let expected: StoreDigest
    private let leftOut: LeftOut
    private let memory: PrivateMemory
    private let start = ContinuousClock().now
    private let state: Mutex<State>

    init(
        _ destinationWriter: DestinationWriter, store: any PersistentStore, parts: [ContentPart],
        expecting copied: CopiedContent,
        memory: PrivateMemory
    ) {
        self.destinationWriter = destinationWriter
        self.store = store
        self.parts = parts
        self.memory = memory
        expected = copied.tally.digest
        leftOut = LeftOut(copied.skippedThere ?? copied.skipped, model: store.model)
        state = Mutex(
            State(
                tally: StoreTally(model: store.model),
                dangling: Array(repeating: 0, count: store.model.relationships.count)))
    }

    /// Reads unassigned parts until none are left or a part has failed on any thread.
    func run(_ snapshot: any StoreSnapshot) {
        var records = RecordBatch(model: store.model)
        while let number = take() {
            do throws(StoreError) {
                switch parts[number] {
                case .structure: try store.requireSoundStructure()
                case .records(let root, let span): try read(root, span: span, snapshot: snapshot, records: &records)
                case .links(let relationship, let span):
                    try read(store.model.relationships[relationship], span: span, snapshot: snapshot)
                }
            } catch {
                state.withLock { state in
                    if state.failure.map({ number < $0.part }) ?? true { state.failure = (number, error) }
                }
            }
            memory.sample()
        }
    }

    /// Returns the combined results; all threads must have ended.
    func result() throws(StoreError) -> SecondReading {
        let (tally, dangling, failure) = state.withLock { ($0.tally, $0.dangling, $0.failure) }
        if let failure { throw failure.error }
        return SecondReading(
            tally: tally,
            dangling: zip(store.model.relationships, dangling).filter { $1 > 0 }
                .map { RelationshipCount(relationship: $0.name.description, count: $1) })
    }

    private func take() -> Int? {
        state.withLock { state in
            guard state.failure == nil, parts.indices.contains(state.next) else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func shouldContinue() throws(StoreError) -> Bool {
        try destinationWriter.options.cancellation?.check()
        return state.withLock { $0.failure == nil }
    }

    private func read(
        _ root: Int, span: ContentPart.KeySpan, snapshot: any StoreSnapshot, records: inout RecordBatch
    ) throws(StoreError) {
        let name = store.model.entities[root].name
        let last = span.through ?? .max
        let cursor = try snapshot.records(of: name, after: span.after.map { ObjectID(name, key: $0) })
        var isAtEnd = false
        while !isAtEnd, try shouldContinue(), try cursor.next(into: &records) {
            var (tally, dangling, count) = (StoreTally(model: store.model), leftOut.none, 0)
            records.forEachRecord { record in
                guard record.key <= last else {
                    isAtEnd = true
                    return
                }
                tally.entities[record.entityNumber].add(record.computedContentHash)
                leftOut.count(record, counts: &dangling)
                count += 1
            }
            add(tally, dangling: dangling, objects: count, links: 0, current: name.text)
        }
    }

    private func read(
        _ relationship: ManagedObjectModel.Relationship, span: ContentPart.KeySpan, snapshot: any StoreSnapshot
    ) throws(StoreError) {
        let last = span.through ?? .max
        var batch = LinkBatch(relationship: relationship.number)
        // No link of the source `span.after` sorts after `before`, so reading starts at the next source.
        let before = span.after.map { Link($0, .max, order: .max, inverseOrder: .max) }
        let cursor = try snapshot.links(of: relationship.name, after: before)
        var isAtEnd = false
        while !isAtEnd, try shouldContinue(), try cursor.next(into: &batch) {
            if let end = batch.links.firstIndex(where: { $0.source > last }) {
                isAtEnd = true
                batch.links.removeSubrange(end...)
            }
            var (tally, dangling) = (StoreTally(model: store.model), leftOut.none)
            tally.add(batch)
            leftOut.count(batch, relationship: relationship, counts: &dangling)
            add(tally, dangling: dangling, objects: 0, links: batch.count, current: relationship.name.description)
        }
    }

    private func add(_ tally: StoreTally, dangling: [Int], objects: Int, links: Int, current: String) {
        state.withLock { state in
            state.tally.add(tally)
            for (number, count) in dangling.enumerated() { state.dangling[number] += count }
            state.objects += objects
            state.links += links
            // The lock is held during the report, so that the reported numbers never decrease.
            destinationWriter.report(
                .verifying, current: current, objects: state.objects, links: state.links,
                totalObjects: expected.objectCount,
                totalLinks: expected.linkCount, seconds: (ContinuousClock().now - start).inSeconds)
        }
    }
}

/// A counter of references and links that involve left-out objects.
private struct LeftOut: Sendable {
    private struct Target: Hashable {
        var root: Int
        var key: Int64
    }

    private let model: ManagedObjectModel
    private let targets: Set<Target>
    private let references: [[RecordLayout.Field]]

    init(_ skipped: [ObjectID], model: ManagedObjectModel) {
        self.model = model
        targets = Set(skipped.compactMap { id in model.entity(id.entity).map { Target(root: $0.root, key: id.key) } })
        references = model.entities.map { entity in entity.layout.fields.filter { $0.destination != nil } }
    }

    /// Zero counts for all relationships; empty if no object was left out.
    var none: [Int] { targets.isEmpty ? [] : Array(repeating: 0, count: model.relationships.count) }

    func count(_ record: borrowing RecordReader, counts: inout [Int]) {
        guard !targets.isEmpty else { return }
        for field in references[record.entityNumber] {
            guard let destination = field.destination, let relationship = field.relationship,
                let (_, key) = record.reference(field),
                targets.contains(Target(root: model.entities[destination].root, key: key))
            else { continue }
            counts[relationship] += 1
        }
    }

    func count(_ batch: LinkBatch, relationship: ManagedObjectModel.Relationship, counts: inout [Int]) {
        guard !targets.isEmpty else { return }
        let (source, target) = (model.entities[relationship.source].root, model.entities[relationship.destination].root)
        for link in batch.links
        where targets.contains(Target(root: source, key: link.source))
            || targets.contains(Target(root: target, key: link.target))
        {
            counts[relationship.number] += 1
        }
    }
}
