import RoostCore
import RoostMigration

#if SQLite
    import Foundation
    import Roost
    import TestSamples
    import Testing

    /// Conversions of real Core Data stores through every type of store.
    ///
    /// The corpus's `_derived/stores.json` has the counts that other tools found.
    @Suite(
        "Conversions of the corpus", .enabled(if: CorpusStore.isPresent, "the corpus is absent; set ROOST_CORPUS"))
    struct CorpusConversionTests {
        private let manager = MigrationManager(registry: .standard)

        @Test("the corpus has all of its 22 stores")
        func count() { #expect(CorpusStore.all.count == 22) }

        @Test(
            "a store of the corpus converts through each type with equal digests and known counts",
            arguments: CorpusStore.all)
        func convert(store: CorpusStore) throws {
            let directory = try TemporaryDirectory()
            let before = try store.fileContents()
            var digests: Set<String> = []
            let onServer = Self.locationOnServer()
            defer { if let onServer { try? StoreRegistry.standard.type(named: onServer.type).destroy(onServer) } }
            let files = Sample.writingTypes.map { StoreLocation(type: $0, path: directory.file("middle-\($0)")) }
            for middle in files + (onServer.map { [$0] } ?? []) {
                let type = middle.type
                let last = StoreLocation(type: "sqlite", path: directory.file("last-\(type)"))
                let first = try manager.convert(
                    from: .location(StoreLocation(type: "coredata", path: store.fullPath)), to: .location(middle),
                    options: ConversionOptions().with { $0.sourceTypeOptions = store.typeOptions })
                let second = try manager.convert(from: .location(middle), to: .location(last))
                for report in [first, second] {
                    #expect(report.verified)
                    digests.insert(report.digest)
                    try compare(report, with: store, at: report.destination == first.destination ? middle : last)
                }
                #expect(second.warnings == [])
            }
            #expect(digests.count == 1)
            #expect(try store.fileContents() == before)
        }

        /// Returns a location on the server that `ROOST_POSTGRES` names, if any.
        private static func locationOnServer() -> StoreLocation? {
            guard let parameters = ProcessInfo.processInfo.environment["ROOST_POSTGRES"], !parameters.isEmpty,
                StoreRegistry.standard.all.contains(where: { $0.name == "postgresql" })
            else { return nil }
            let schema = "corpus_" + String(UInt64.random(in: .min ... .max), radix: 36)
            return StoreLocation(type: "postgresql", path: "\(parameters) schema=\(schema)")
        }

        private func compare(_ report: ConversionReport, with facts: CorpusStore, at location: StoreLocation) throws {
            let store = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: true))
            defer { try? store.close() }
            let reported = Dictionary(uniqueKeysWithValues: report.entities.map { ($0.name, $0.count) })
            // For stores that Core Data migrated in place, `stores.json` has old names of entities.
            var counts: [String: Int] = [:]
            for entity in store.model.entities {
                guard let count = reported[entity.name.text] else { continue }
                let oldName = entity.declaration.renamingIdentifier ?? entity.name.text
                let isRenamed = facts.entities[entity.name.text] == nil && facts.entities[oldName] != nil
                counts[isRenamed ? oldName : entity.name.text] = count
            }
            #expect(counts == facts.entities.filter { $0.value > 0 })
            #expect(report.objects == facts.entities.values.reduce(0, +))
            // Only many-to-many relationships with an inverse have a join table.
            let paired = store.model.linkRelationships.filter { $0.inverse != nil }.map(\.name.description)
            let links = report.relationships.filter { paired.contains($0.relationship) }.map(\.count)
            #expect(links.sorted() == facts.joinTables.values.filter { $0 > 0 }.sorted())
        }
    }

    /// A Core Data store of the corpus, and the findings of other tools.
    struct CorpusStore: Sendable, CustomTestStringConvertible {
        let path: String
        /// The number of objects of each concrete entity, without Core Data's internal entities.
        let entities: [String: Int]
        let joinTables: [String: Int]
        /// A model file whose version hashes equal the store's; nil if the store has its own model.
        let modelPath: String?
        /// All model files whose version hashes equal the store's.
        let exactModels: [String]

        var fullPath: String { Self.corpusPath + "/" + path }
        var typeOptions: [String: String] { modelPath.map { ["model": Self.corpusPath + "/" + $0] } ?? [:] }
        var testDescription: String { path.split(separator: "/").last.map(String.init) ?? path }

        func fileContents() throws -> [String: Data] {
            var contents: [String: Data] = [:]
            let location = URL(fileURLWithPath: fullPath)
            let directory = location.deletingLastPathComponent()
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            for name in names where name.hasPrefix(location.lastPathComponent) {
                contents[name] = try Data(contentsOf: directory.appendingPathComponent(name))
            }
            return contents
        }

        static let corpusPath = CorpusFolder.path

        static let isPresent = FileManager.default.fileExists(atPath: corpusPath + "/_derived/stores.json")

        static let all: [CorpusStore] = {
            guard let list = json("stores.json") as? [[String: Any]] else { return [] }
            let caches = json("modelcache/INDEX.json") as? [String: String] ?? [:]
            return list.compactMap { entry in
                guard let path = entry["path"] as? String, let entities = entry["entities"] as? [String: Any],
                    let joinTables = entry["join_tables"] as? [String: Int],
                    let models = entry["model_exact_matches"] as? [String]
                else { return nil }
                return CorpusStore(
                    path: path, entities: entities.compactMapValues { $0 as? Int }, joinTables: joinTables,
                    modelPath: caches[path] == nil ? models.first : nil, exactModels: models)
            }
        }()

        static func json(_ name: String) -> Any? {
            guard let data = FileManager.default.contents(atPath: "\(corpusPath)/_derived/\(name)") else { return nil }
            return try? JSONSerialization.jsonObject(with: data)
        }
    }
#endif
