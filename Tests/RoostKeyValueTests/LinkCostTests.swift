import RoostCore
import RoostKeyValue
import RoostMemory
import RoostSystem
import Testing

@Suite("Costs of links of the key-value engine")
struct LinkCostTests {
    @Test(
        "writing links that have a place at each end takes steps in proportion to their number",
        arguments: [("Genre", "chart"), ("Album", "charts")])
    func writesLinks(entity: EntityName, name: String) throws {
        let steps = StepCount()
        let store = try self.store(steps, objectCount: Self.count)
        let relationship = RelationshipName(entity, name: name)
        let links = Self.links
        let moved = links.map { Link(1, $0.target, order: Self.count + 1 - $0.order, inverseOrder: 1) }
        let rounds: [(added: [Link], removed: [Link])] = [(links, []), (moved, []), ([], links)]
        for (added, removed) in rounds {
            let before = steps.value
            var changes = ChangeSet(model: store.model)
            for link in added { try changes.add(link, to: relationship) }
            for link in removed { try changes.remove(link, from: relationship) }
            _ = try store.commit(changes)
            // Reading all links of the source for each link would take 80 000 steps.
            #expect(steps.value - before < 10 * links.count)
            let expected = added.sorted { $0.order < $1.order }.map(\.target)
            let source = ObjectID(entity, key: 1)
            #expect(try store.snapshot().targets(of: entity, by: name, from: source) == expected)
        }
    }

    @Test(
        "loading links that have a place at each end into a filled store takes steps in proportion to their number",
        arguments: [("Genre", "chart"), ("Album", "charts")])
    func loadsLinks(entity: EntityName, name: String) throws {
        let steps = StepCount()
        let store = try self.store(steps, objectCount: Self.count)
        let (number, isFlipped) = try store.model.requireLinkRelationship(RelationshipName(entity, name: name))
        let links = Self.links
        let before = steps.value
        let loader = try store.bulkLoader(BulkLoadOptions())
        try loader.append(LinkBatch(relationship: number, links: isFlipped ? links.map(\.flipped) : links))
        _ = try loader.finish()
        #expect(steps.value - before < 10 * links.count)
        let targets = try store.snapshot().targets(of: entity, by: name, from: ObjectID(entity, key: 1))
        #expect(targets == links.map(\.target))
    }

    @Test("a link that has a place at each end is found among many links of both objects")
    func findsLinkAmongMany() throws {
        let store = try self.store(StepCount(), objectCount: 9)
        let chart = RelationshipName("Genre", name: "chart")
        var all: [Link] = []
        for genre in Int64(1)...9 {
            for album in Int64(1)...9 { all.append(Link(genre, album, order: 10 - album, inverseOrder: genre)) }
        }
        var additions = ChangeSet(model: store.model)
        for link in all { try additions.add(link, to: chart) }
        _ = try store.commit(additions)
        for link in all where (link.source + link.target) % 2 == 0 {
            var removal = ChangeSet(model: store.model)
            try removal.remove(Link(link.source, link.target), from: chart)
            _ = try store.commit(removal)
        }
        let snapshot = try store.snapshot()
        let remaining = try snapshot.all(try snapshot.links(of: chart, after: nil))
        #expect(Set(remaining) == Set(all.filter { ($0.source + $0.target) % 2 == 1 }))
        let recorded = try #require(try snapshot.recordedTally())
        #expect(try snapshot.computeTally() == recorded)
    }

    private static let count: Int64 = 400
    /// Links from object 1 to all objects of the other entity.
    private static let links = (1...count).map { Link(1, $0, order: $0, inverseOrder: 1) }

    /// Returns a store with `objectCount` genres and as many albums.
    private func store(_ steps: StepCount, objectCount: Int64) throws -> any PersistentStore {
        let store = try KeyValueStore(
            creating: CountingStorage(steps), type: MemoryStoreType(),
            location: StoreLocation(type: "memory", path: ""), model: try musicModel(),
            options: StoreOptions(timeoutSeconds: 0))
        var changes = ChangeSet(model: store.model)
        for key in 1...objectCount {
            try changes.insert(ObjectID("Genre", key: key), values: [:])
            try changes.insert(ObjectID("Album", key: key), values: ["title": .string("T\(key)")])
        }
        _ = try store.commit(changes)
        return store
    }
}

/// The number of cursor steps: seeks and moves to the next entry.
private final class StepCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}

/// A storage in memory that counts the steps of its writers' cursors.
private final class CountingStorage: OrderedKeyValueStorage {
    private let base = MemoryStorage()
    private let steps: StepCount

    init(_ steps: StepCount) { self.steps = steps }

    var maximumKeyByteCount: Int { base.maximumKeyByteCount }
    func read() throws(StoreError) -> any KeyValueReader { try base.read() }
    func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite {
        CountingWrite(try base.beginLongWrite(timeoutSeconds: timeoutSeconds), steps: steps)
    }
    func sync() throws(StoreError) { try base.sync() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func integrityFindings() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func close() throws(StoreError) { try base.close() }
}

private final class CountingWrite: KeyValueLongWrite {
    private let base: any KeyValueLongWrite
    private let steps: StepCount

    init(_ base: any KeyValueLongWrite, steps: StepCount) { (self.base, self.steps) = (base, steps) }

    func perform<Result: Sendable>(
        _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try base.perform { [steps] (writer) throws(StoreError) in try body(CountingWriter(writer, steps: steps)) }
    }
    func commit() throws(StoreError) { try base.commit() }
    func abort() { base.abort() }
}

private final class CountingWriter: KeyValueWriter {
    private let base: any KeyValueWriter
    private let steps: StepCount

    init(_ base: any KeyValueWriter, steps: StepCount) { (self.base, self.steps) = (base, steps) }

    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        try base.withValue(of: key, in: space, body)
    }
    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor {
        CountingCursor(try base.cursor(in: space), steps: steps)
    }
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try base.put(key, value, in: space)
    }
    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try base.append(key, value, in: space)
    }
    func delete(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> Bool {
        try base.delete(key, in: space)
    }
    func close() { base.close() }
}

private final class CountingCursor: KeyValueCursor {
    private let base: any KeyValueCursor
    private let steps: StepCount

    init(_ base: any KeyValueCursor, steps: StepCount) { (self.base, self.steps) = (base, steps) }

    func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        steps.add()
        return try base.seek(to: key)
    }
    func seek(before key: UnsafeRawBufferPointer?) throws(StoreError) -> Bool {
        steps.add()
        return try base.seek(before: key)
    }
    func next() throws(StoreError) -> Bool {
        steps.add()
        return try base.next()
    }
    var key: UnsafeRawBufferPointer { base.key }
    var value: UnsafeRawBufferPointer { base.value }
}
