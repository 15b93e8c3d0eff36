import Foundation
import RoostCore
import RoostFiles
import RoostSQLite
import RoostStores
import Testing

@testable import RoostSQL

@Suite("Sorting of loaded links")
struct LinkSorterTests {
    private func precede(_ a: Link, _ b: Link) -> Bool { (a.source, a.target) < (b.source, b.target) }

    /// Sorts links in batches and returns the links that pass immediately and the waiting links.
    private func sort(
        _ links: [Link], relationship: Int = 0, batchCount: Int, memoryByteCount: Int = 64 << 10
    ) throws -> (direct: [Link], waiting: [Link]) {
        let directory = try TemporaryDirectory()
        let sorter = SQLLinkSorter(
            relationshipCount: relationship + 1, directories: [directory.path], memoryByteCount: memoryByteCount)
        var (direct, waiting) = ([Link](), [Link]())
        for start in stride(from: 0, to: links.count, by: batchCount) {
            var batch = LinkBatch(
                relationship: relationship, links: Array(links[start..<min(links.count, start + batchCount)]))
            try sorter.sort(&batch)
            direct += batch.links
        }
        try sorter.drain { batch in
            #expect(batch.relationship == relationship && !batch.isEmpty && batch.count <= LinkBatch.capacityCount)
            waiting += batch.links
        }
        try sorter.drain { _ in Issue.record("a link came twice") }
        #expect(try directory.names == [])
        return (direct, waiting)
    }

    @Test("links in table order, or out of order only within one source, pass the sorter immediately")
    func passesInOrder() throws {
        let pairs = (Int64(0)..<20_000).map { (number: Int64) -> (source: Int64, place: Int64) in
            (number / 10 + 1, number % 10 + 1)
        }
        let links = pairs.map { Link($0.source, $0.place) }
        let sorted = try sort(links, batchCount: 4096)
        #expect(sorted.direct == links && sorted.waiting == [])
        let lists = pairs.map { Link($0.source, 11 - $0.place, order: $0.place) }
        let (direct, waiting) = try sort(lists, batchCount: 4096)
        // Only the links of a source that two batches share must wait.
        #expect(waiting.count <= 5 * 10)
        #expect((direct + waiting).sorted(by: precede) == lists.sorted(by: precede))
    }

    @Test("the link sorter returns links of any order in table order", arguments: [1, 7, 300, 5000], [0, 70_000])
    func sortsAnyOrder(batchCount: Int, relationship: Int) throws {
        var random = SeededRandom(UInt64(batchCount))
        // Keys of one to eight bytes, and places that are negative, 0 or large.
        var keys: Set<Int64> = [1, 255, 256, .max, .max - 1]
        while keys.count < 150 { keys.insert(.random(in: 1...Int64.max >> Int64.random(in: 0...62, using: &random))) }
        let places: [Int64] = [0, 0, 1, -1, .max, .min]
        var links: [Link] = []
        for source in keys {
            for target in keys {
                links.append(
                    Link(
                        source, target, order: places.randomElement(using: &random) ?? 0,
                        inverseOrder: places.randomElement(using: &random) ?? 0))
            }
        }
        links.shuffle(using: &random)
        let (direct, waiting) = try sort(links, relationship: relationship, batchCount: batchCount)
        let expected = links.sorted(by: precede)
        #expect(direct == direct.sorted(by: precede))
        #expect(waiting == waiting.sorted(by: precede))
        #expect(waiting.count > links.count / 2)
        #expect((direct + waiting).sorted(by: precede) == expected)
    }

    @Test("the link sorter sorts the links of each relationship separately")
    func sortsEachRelationship() throws {
        let sorter = SQLLinkSorter(relationshipCount: 2, directories: [])
        var (direct, waiting) = ([0: [Link](), 1: []], [0: [Link](), 1: []])
        for (relationship, source) in [(0, 5), (1, 3), (0, 6), (1, 2), (0, 4), (1, 1)] as [(Int, Int64)] {
            var batch = LinkBatch(relationship: relationship, links: [Link(source, 1)])
            try sorter.sort(&batch)
            direct[relationship]? += batch.links
        }
        try sorter.drain { waiting[$0.relationship]? += $0.links }
        #expect(direct == [0: [Link(5, 1), Link(6, 1)], 1: [Link(3, 1)]])
        #expect(waiting == [0: [Link(4, 1)], 1: [Link(1, 1), Link(2, 1)]])
    }

    // MARK: Loading

    /// Links of albums to tags: four for each album, with places.
    private static let links: [Link] = {
        var links: [Link] = []
        for album in Int64(1)...3000 {
            for place in Int64(0)...3 {
                let tag = (album * 7 + place * 11) % 40 + 1
                links.append(Link(album, tag, order: 9 - place))
            }
        }
        return links
    }()

    private static let byTag = links.sorted { ($0.target, $0.source) < ($1.target, $1.source) }

    private func load(_ links: [Link], into store: any PersistentStore, options: BulkLoadOptions = BulkLoadOptions())
        throws -> StoreTally
    {
        let tags = try store.model.requireRelationship(RelationshipName("Album", name: "tags"))
        let loader = try store.bulkLoader(options)
        for start in stride(from: 0, to: links.count, by: 1000) {
            let part = links[start..<min(links.count, start + 1000)]
            try loader.append(LinkBatch(relationship: tags.number, links: Array(part)))
        }
        return try loader.finish()
    }

    @Test("a load stores the same links in any order of arrival", arguments: [true, false])
    func loadsInAnyOrder(isUnpublished: Bool) throws {
        let directory = try TemporaryDirectory()
        var digests: [StoreDigest] = []
        for (index, links) in [Self.links, Self.byTag, Self.links.reversed()].enumerated() {
            let store = try SQLiteStoreType().create(
                directory.location("\(index)"), model: try Models.music(),
                options: StoreOptions().with { $0.isUnpublished = isUnpublished })
            digests.append(try load(links, into: store).digest)
            #expect(
                try store.links(RelationshipName("Album", name: "tags")).sorted(by: precede)
                    == Self.links.sorted(by: precede))
            #expect(try store.findings() == [])
            try store.close()
        }
        #expect(Set(digests).count == 1)
    }

    @Test("a load into a store with objects records each link in the history, in any order of arrival")
    func recordsWaitingLinks() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(),
            options: StoreOptions().with { $0.tracksHistory = true })
        var changes = ChangeSet(model: store.model)
        try changes.insert(ObjectID("Tag", key: 1), values: [:])
        _ = try store.commit(changes)
        _ = try load(Self.links.reversed(), into: store)
        let last = try #require(try Store(store, registry: StoreRegistry()).history(after: nil).last)
        #expect(last.linkChanges.count == Self.links.count)
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("a load refuses a link that occurs twice", arguments: [0, 2500])
    func refusesRepeatedLink(index: Int) throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(), options: StoreOptions().with { $0.isUnpublished = true }
        )
        let links = Self.byTag
        #expect(code { _ = try load(links + [links[index]], into: store) } == .duplicateObject)
        #expect(try store.digest()?.linkCount == 0)
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("a load cancelled while it inserts waiting links leaves nothing", arguments: [true, false])
    func cancelsWhileInserting(isUnpublished: Bool) throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(),
            options: StoreOptions().with { $0.isUnpublished = isUnpublished })
        let links = Array(Self.links.reversed())
        let options = BulkLoadOptions(checkCancellation: { () throws(StoreError) in
            throw StoreError(.cancelled, "It was cancelled.")
        })
        #expect(code { _ = try load(links, into: store, options: options) } == .cancelled)
        #expect(try store.digest()?.linkCount == 0)
        #expect(try load(links, into: store).digest.linkCount == links.count)
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("building the indexes of a load is not limited by the row timeout")
    func buildsIndexesWithoutTimeout() throws {
        let directory = try TemporaryDirectory()
        let note = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [AttributeDescription("text", type: .string)]
            ).with { $0.fetchIndexes = [FetchIndexDescription("byText", on: "text")] }
        ])
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: note, options: StoreOptions(typeOptions: ["rowTimeoutSeconds": "0.000001"]))
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: note)
        for key in Int64(1)...60_000 {
            try batch.append(ObjectID("Note", key: key), version: 1, values: ["text": .string("text \(key % 977)")])
            guard batch.isFull else { continue }
            try loader.append(batch)
            batch.removeAll()
        }
        try loader.append(batch)
        #expect(try loader.finish().digest.objectCount == 60_000)
        #expect(try store.keys(FetchRequest("Note", where: .equal("text", to: "text 5"), limit: 1)) == [5])
        try store.close()
    }
}
