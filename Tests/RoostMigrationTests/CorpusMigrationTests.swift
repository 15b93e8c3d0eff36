import RoostCore
import RoostMigration

#if SQLite
    import Foundation
    import Roost
    import RoostConformance
    import Testing

    /// Migrations of real Core Data stores through their versions, and of generated data with real
    /// mapping models.
    @Suite(
        "Migrations of the corpus",
        .enabled(if: CorpusStore.isPresent, "the corpus is absent; set ROOST_CORPUS"))
    struct CorpusMigrationTests {
        private let manager = MigrationManager(registry: .standard)

        /// The versions that the tests cannot reach, because their mapping models require code.
        private static let unreachable = ["SampleModel3", "CoreDataMigration_Example 3", "Model2"]

        /// A version whose uniqueness constraint the store breaks; only code could merge the
        /// duplicates.
        private static let constrained = "CoreDataMigration_Example 4"

        @Test(
            "a store of the corpus migrates to each later version and loses only dropped objects",
            arguments: VersionedStore.all, Sample.writingTypes)
        func stores(store: VersionedStore, type: String) throws {
            let source = StoreLocation(type: "coredata", path: store.fullPath)
            let versions = try #require(try ModelFile.history(at: store.bundlePath)).versions
            let identity = try StoreRegistry.standard.type(named: "coredata").metadata(
                at: source, options: StoreOptions(isReadOnly: true, typeOptions: store.typeOptions))
            let start = try #require(versions.firstIndex { $0.model.isCompatible(with: identity) })
            for end in versions.indices.dropFirst(start + 1) {
                let directory = try TemporaryDirectory()
                let location = StoreLocation(type: type, path: directory.file("new"))
                var options = MigrationOptions(
                    conversion: ConversionOptions().with { $0.sourceTypeOptions = store.typeOptions },
                    history: try ModelHistory(Array(versions[start...end])))
                let report: MigrationReport
                do throws(StoreError) {
                    report = try manager.migrateAllowingLoss(
                        from: .location(source), to: .location(location), model: versions[end].model, options: &options)
                } catch {
                    let passed = versions[(start + 1)...end].map(\.name)
                    if passed.contains(Self.constrained) {
                        #expect(error.code == .constraintViolation || error.code == .mappingNotInferable, "\(error)")
                    } else {
                        #expect(error.code == .mappingNotInferable, "\(error)")
                        #expect(passed.contains { Self.unreachable.contains($0) }, "\(error)")
                    }
                    continue
                }
                #expect(report.verified)
                let steps = report.steps.isEmpty ? [report] : report.steps
                let dropped = steps.flatMap(\.mappings).filter { $0.type == "remove" }.reduce(0) { $0 + ($1.read ?? 0) }
                #expect(report.objects == store.objectCount - dropped, "\(versions[end].name)")
                let new = try StoreRegistry.standard.open(location, options: StoreOptions(model: versions[end].model))
                #expect(try checkStore(new).filter { $0.severity == .damage } == [])
                try new.close()
            }
        }

        @Test(
            "a store of the corpus without a model is matched with a version of its model bundle",
            arguments: VersionedStore.all.filter { !$0.typeOptions.isEmpty })
        func versionsOfStoresWithoutModel(store: VersionedStore) throws {
            let location = StoreLocation(type: "coredata", path: store.fullPath)
            let history = try #require(try ModelFile.history(at: store.bundlePath))
            let identity = try StoreRegistry.standard.type(named: "coredata").metadata(
                at: location, options: StoreOptions(isReadOnly: true, typeOptions: store.typeOptions))
            do throws(StoreError) {
                let version = try history.version(
                    ofStoreWithoutModelAt: location, options: StoreOptions(isReadOnly: true), registry: .standard)
                #expect(version?.model.isCompatible(with: identity) == true, "\(version?.name ?? "none")")
            } catch {
                // The store fits several versions with the same columns.
                #expect(error.code == .invalidRequest && error.message.contains("can have been made with"), "\(error)")
            }
        }

        @Test(
            "a mapping model of the corpus without policies migrates generated objects",
            arguments: CorpusMapping.withoutCode, Sample.writingTypes)
        func mappings(_ mapping: CorpusMapping, type: String) throws {
            let (old, new) = (try mapping.model(mapping.source), try mapping.model(mapping.destination))
            let read = try MappingFile.read(mapping.fullPath, source: old, destination: new)
            let directory = try TemporaryDirectory()
            let source = try GeneratedContent.store(StoreLocation(type: "memory", path: ""), model: old)
            let location = StoreLocation(type: type, path: directory.file("new"))
            var options = MigrationOptions(mapping: read.mapping)
            let report = try manager.migrateAllowingLoss(
                from: .store(source), to: .location(location), model: new, options: &options)
            #expect(report.verified)
            for (entity, made) in zip(read.mapping.entityMappings, report.mappings) {
                guard entity.sourceEntity != nil, entity.sourcePredicate == nil else { continue }
                #expect(made.read == 12 && made.made == 12, "\(entity.name)")
            }
            let store = try StoreRegistry.standard.open(location)
            #expect(try checkStore(store) == [])
            try store.close()
        }
    }

    extension MigrationManager {
        /// Migrates a store; if losses are refused, sets `options.allowsLoss` and tries again.
        fileprivate func migrateAllowingLoss(
            from source: ConversionEndpoint, to destination: ConversionEndpoint, model: ManagedObjectModel,
            options: inout MigrationOptions
        ) throws(StoreError) -> MigrationReport {
            while true {
                do throws(StoreError) {
                    let report = try migrate(from: source, to: destination, model: model, options: options)
                    #expect(report.lossCounts.isEmpty != options.allowsLoss)
                    return report
                } catch {
                    guard error.code == .lossRefused, !options.allowsLoss else { throw error }
                    options.allowsLoss = true
                }
            }
        }
    }

    /// A store of the corpus, and the model bundle that has its version.
    struct VersionedStore: Sendable, CustomTestStringConvertible {
        let path: String
        let bundle: String
        let objectCount: Int
        let typeOptions: [String: String]

        var fullPath: String { CorpusStore.corpusPath + "/" + path }
        var bundlePath: String { CorpusStore.corpusPath + "/" + bundle }
        var testDescription: String { path.split(separator: "/").last.map(String.init) ?? path }

        static let all: [VersionedStore] = CorpusStore.all.compactMap { store in
            guard let model = store.exactModels.first, let end = model.range(of: ".xcdatamodeld/"),
                // A bundle with one version has no history.
                let history = try? ModelFile.history(
                    at: CorpusStore.corpusPath + "/" + model[..<end.lowerBound] + ".xcdatamodeld"),
                history.versions.count > 1
            else { return nil }
            return VersionedStore(
                path: store.path, bundle: model[..<end.lowerBound] + ".xcdatamodeld",
                objectCount: store.entities.values.reduce(0, +), typeOptions: store.typeOptions)
        }
    }

    /// A mapping model of the corpus, and its two model files.
    struct CorpusMapping: Sendable, CustomTestStringConvertible {
        let path: String
        /// The names of the source model's bundle and version.
        let source: [String]
        /// The names of the destination model's bundle and version.
        let destination: [String]

        var fullPath: String { CorpusStore.corpusPath + "/" + path }
        var testDescription: String { path.split(separator: "/").last.map(String.init) ?? path }

        /// All mapping models without a policy.
        static let withoutCode: [CorpusMapping] = {
            guard let facts = CorpusStore.json("mapping_models.json") as? [String: [String: Any]] else { return [] }
            return facts.keys.sorted().compactMap { path in
                guard let fact = facts[path], let mappings = fact["entityMappings"] as? [[String: Any]],
                    mappings.allSatisfy({ ($0["policy"] as? String ?? "").isEmpty }),
                    let source = fact["source"] as? String, let destination = fact["destination"] as? String
                else { return nil }
                func names(_ path: String) -> [String] { path.split(separator: "/").suffix(2).map(String.init) }
                return CorpusMapping(path: path, source: names(source), destination: names(destination))
            }
        }()

        func model(_ names: [String]) throws -> ManagedObjectModel {
            let repository = CorpusStore.corpusPath + "/" + (path.split(separator: "/").first ?? "")
            let all = FileManager.default.enumerator(atPath: repository)
            func files(_ path: String) -> [String] {
                (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            }
            let bundle = try #require(names.first)
            let version = try #require(names.last).replacingOccurrences(of: ".xcdatamodel", with: "")
            while let file = all?.nextObject() as? String {
                guard file == bundle || file.hasSuffix("/" + bundle), files(repository + "/" + file).contains(names[1])
                else { continue }
                return try ModelFile.read(repository + "/" + file, version: version).model
            }
            throw StoreError(.notFound, "The corpus has no '\(bundle)' for '\(path)'.")
        }
    }
#endif
