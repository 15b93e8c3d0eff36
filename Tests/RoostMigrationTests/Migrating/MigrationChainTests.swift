import RoostCore
import RoostMigration

#if SQLite
    import Foundation
    import Roost
    import RoostConformance
    import Testing

    @Suite(
        "Chains of model versions of the corpus",
        .enabled(if: CorpusStore.isPresent, "the corpus is absent; set ROOST_CORPUS"))
    struct MigrationChainTests {
        static let chains = [
            "ptsochantaris+trailer/Shared/Trailer.xcdatamodeld",
            "artsy+energy/Resources/CoreData/ArtsyPartner.xcdatamodeld",
        ]

        @Test(
            "each step through a chain of versions gives the expected content", arguments: chains,
            Sample.writingTypes)
        func chain(path: String, type: String) throws {
            let versions = try Self.versions(path)
            let directory = try TemporaryDirectory()
            let manager = MigrationManager(registry: .standard)
            var location = StoreLocation(type: type, path: directory.file("0"))
            var store: any PersistentStore = try GeneratedContent.store(location, model: versions[0].model)
            var objects = try store.snapshot().computeTally().digest.objectCount
            var otherSteps: [String] = []
            for (index, version) in versions.enumerated().dropFirst() {
                let (before, tally, old) = (try store.contents(), try store.snapshot().computeTally(), store.model)
                let mapping = try MappingModel.inferred(from: old, to: version.model)
                location = StoreLocation(type: type, path: directory.file("\(index)"))
                let drops = mapping.remarks(from: old, to: version.model).contains { $0.kind == .loss }
                let options = MigrationOptions(allowsLoss: drops)
                let report: MigrationReport
                if type == "memory" {
                    let next = try StoreRegistry.standard.create(
                        StoreLocation(type: "memory", path: ""), model: version.model)
                    report = try manager.migrate(
                        from: .store(store), to: .store(next), model: version.model, options: options)
                    try store.close()
                    store = next
                } else {
                    report = try manager.migrate(
                        from: .store(store), to: .location(location), model: version.model, options: options)
                    try store.close()
                    store = try StoreRegistry.standard.open(location)
                }
                if report.path != .onePass { otherSteps.append(version.name) }
                // Only mappings that remove objects change the number of objects.
                let dropped = report.mappings.filter { $0.type == "remove" }.reduce(0) { $0 + ($1.read ?? 0) }
                #expect(report.objects == objects - dropped, "\(version.name)")
                objects = report.objects
                var plain = PlainMigration(mapping, of: before, from: old, to: version.model)
                let expected = try plain.contents()
                let fails = plain.fails
                #expect(!fails, "\(version.name)")
                #expect(try store.contents().difference(from: expected) == nil, "\(version.name)")
                Self.explain(
                    report, before: tally, after: try store.snapshot().computeTally(), old: old, new: version.model,
                    mapping: mapping)
                // A new mandatory relationship stays empty, which a check reports.
                let findings = try checkStore(store).filter { $0.kind != "mandatory" }
                #expect(findings == [], "\(version.name): \(findings.prefix(3))")
            }
            #expect(objects > 0)
            // Only this step needs more than one pass: it adds a to-one inverse to a to-many relationship.
            #expect(otherSteps == (path.contains("artsy") ? ["ArtsyFolio v1.7"] : []))
            try store.close()
        }

        /// Checks the reported digests, and that copied entities with unchanged records keep their
        /// part of the digest.
        private static func explain(
            _ report: MigrationReport, before: StoreTally, after: StoreTally, old: ManagedObjectModel,
            new: ManagedObjectModel, mapping: MappingModel
        ) {
            #expect(report.sourceDigest == before.digest.description)
            #expect(report.mappedDigest == after.digest.description)
            #expect(report.destinationDigest == after.digest.description)
            for mapping in mapping.entityMappings where mapping.type == .copy {
                guard let from = mapping.sourceEntity.flatMap(old.entity),
                    let to = mapping.destinationEntity.flatMap(new.entity)
                else { continue }
                #expect(before.entities[from.number].count == after.entities[to.number].count)
                // Records of an entity with subentities, and references to it, store entity numbers.
                let (fields, newFields) = (from.layout.fields, to.layout.fields)
                let namesOthers = fields.contains { $0.kind == .polymorphicReference || $0.kind == .objectID }
                guard from.number == to.number, !namesOthers, fields.map(\.kind) == newFields.map(\.kind) else {
                    continue
                }
                #expect(before.entities[from.number].sum == after.entities[to.number].sum, "\(from.name)")
            }
        }

        static func versions(_ path: String) throws -> [(name: String, model: ManagedObjectModel)] {
            let file = CorpusStore.corpusPath + "/_derived/version_chains.json"
            let data = try #require(FileManager.default.contents(atPath: file))
            let chains = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
            let names = try #require(chains[path]?["versions"] as? [String])
            return try names.map { name in
                let version = name.replacingOccurrences(of: ".xcdatamodel", with: "")
                return (
                    version, try ModelFile.read("\(CorpusStore.corpusPath)/\(path)", version: version).model
                )
            }
        }
    }
#endif
