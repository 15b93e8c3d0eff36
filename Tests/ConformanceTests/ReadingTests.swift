import Roost
import RoostConformance
import RoostCore
import Testing

/// The checks of reading on types that bring a sample because they cannot write.
@Suite(
    "Samples of read-only store types",
    .enabled(if: StoreFixture.all.contains { $0.sample != nil }, "no type brings a sample"))
struct ReadingTests {
    private static let readers = StoreFixture.all.filter { $0.sample != nil }

    @Test("every check of reading applies to a store type that provides a sample", arguments: readers)
    func readerRunsEveryCheck(reader: StoreFixture) {
        let checks = ConformanceCheck.all.filter { $0.group == "reading" }
        #expect(!checks.isEmpty)
        for check in checks { #expect(check.missingCapability(on: reader) == nil, "\(check)") }
    }

    @Test(
        "checks of reading fail on a read-only store type with a fault", arguments: readers,
        [
            (.losesLastRecord, ["reading.scan", "reading.batches", "reading.scan-after", "reading.digest"]),
            (.dropsLastLink, ["reading.links", "reading.walk", "reading.digest"]),
            (.miscounts, ["reading.fetch-order"]),
            (.ignoresOrder, ["reading.fetch-order"]), (.forgetsPlaces, ["reading.links"]),
        ] as [(FaultyStoreType.Fault, [String])])
    func notices(reader: StoreFixture, fault: (fault: FaultyStoreType.Fault, checks: [String])) throws {
        let faulty = StoreFixture(
            FaultyStoreType(reader.type, fault: fault.fault), keepsClosedStores: reader.keepsClosedStores
        ).with { $0.sample = reader.sample }
        for id in fault.checks {
            let check = try #require(ConformanceCheck.named(id))
            #expect(throws: ConformanceFailure.self, "\(id)") { try check.run(on: faulty) }
        }
    }

    @Test("checks of reading fail if a sample describes other content than its store has", arguments: readers)
    func wrongSample(reader: StoreFixture) throws {
        let make = try #require(reader.sample)
        let wrong = StoreFixture(
            reader.type
        ).with {
            $0.sample = { directory in
                let sample = try make(directory)
                var content = sample.content
                let model = content.model
                var changes = ChangeSet(model: model)
                changes.userMetadata["title"] = .string("another")
                try changes.insert(ObjectID("Vacancy", key: 1), values: ["reason": "moved"])
                try content.commit(changes)
                return StoreSample(sample.location, options: sample.options, holding: content)
            }
        }
        for id in ["reading.scan", "reading.describes-itself", "reading.digest", "reading.refuses-writing"] {
            let check = try #require(ConformanceCheck.named(id))
            #expect(throws: ConformanceFailure.self, "\(id)") { try check.run(on: wrong) }
        }
    }

    @Test("the standard sample has the batches, versions, links, types and metadata that checks need")
    func standardSample() throws {
        let content = try StandardSample.content.get()
        let contents = content.contents
        let objects = contents.objects.values.flatMap { $0 }
        #expect(objects.count { $0.id.entity == "Play" } > 2 * RecordBatch.capacityCount)
        #expect(objects.contains { $0.version > 1 })
        for relationship in content.model.linkRelationships {
            #expect((contents.links[relationship.number] ?? []).count > 3, "\(relationship.name)")
        }
        let types = Set(content.model.entities.flatMap { $0.attributes.map(\.type) })
        #expect(
            types.isSuperset(of: [
                .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binaryData,
                .uuid, .uri,
            ]))
        #expect(!content.userMetadata.isEmpty)
    }
}
