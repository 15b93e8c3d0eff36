#if SQLite
    import Foundation
    import Roost
    import RoostConformance
    import RoostMigration
    import Testing

    @Suite(
        "Whole chains of model versions", .enabled(if: CorpusStore.isPresent, "the corpus is absent; set ROOST_CORPUS"))
    struct MigrationChainTests {
        static let chains = [
            "ptsochantaris+trailer/Shared/Trailer.xcdatamodeld",
            "artsy+energy/Resources/CoreData/ArtsyPartner.xcdatamodeld",
        ]

        @Test(
            "migrate step by step in every type, and each step's digest is explained", arguments: chains,
            Sample.writingTypes)
        func chain(path: String, type: String) throws {
            let versions = try Self.versions(path)
            let directory = try TemporaryDirectory()
            let manager = MigrationManager(registry: .builtIn)
            var url = StoreURL(type: type, path: directory.file("0"))
            var store: any PersistentStore = try GeneratedContent.store(url, model: versions[0].model)
            var objects = try store.snapshot().computeTally().digest.objectCount
            var otherSteps: [String] = []
            for (index, version) in versions.enumerated().dropFirst() {
                let (before, tally, old) = (try store.contents(), try store.snapshot().computeTally(), store.model)
                let mapping = try MappingModel.inferred(from: old, to: version.model)
                url = StoreURL(type: type, path: directory.file("\(index)"))
                let report: MigrationReport
                if type == "memory" {
                    let next = try StoreRegistry.builtIn.create(
                        StoreURL(type: "memory", path: ""), model: version.model)
                    report = try manager.migrate(from: .store(store), to: .store(next), model: version.model)
                    try store.close()
                    store = next
                } else {
                    report = try manager.migrate(from: .store(store), to: .url(url), model: version.model)
                    try store.close()
                    store = try StoreRegistry.builtIn.open(url)
                }
                if report.path != .onePass { otherSteps.append(version.name) }
                // Nothing comes or goes but by a mapping that says so.
                let dropped = report.mappings.filter { $0.type == "remove" }.reduce(0) { $0 + ($1.read ?? 0) }
                #expect(report.objects == objects - dropped, "\(version.name)")
                objects = report.objects
                // The digest is that of what a plain migration over dictionaries makes.
                var plain = PlainMigration(mapping, of: before, from: old, to: version.model)
                let expected = try plain.contents()
                let fails = plain.fails
                #expect(!fails, "\(version.name)")
                #expect(try store.contents().difference(from: expected) == nil, "\(version.name)")
                Self.explain(
                    report, tally, try store.snapshot().computeTally(), old, version.model, mapping)
                #expect(try checkStore(store) == [], "\(version.name)")
            }
            #expect(objects > 0)
            // The one step that gives a to-many relationship a to-one inverse: its objects are to be searched for.
            #expect(otherSteps == (path.contains("artsy") ? ["ArtsyFolio v1.7"] : []))
            try store.close()
        }

        /// Entities that are copied keep their part of the digest, bit for bit, where the number in their records stays the same.
        ///
        /// All others have one of their own; together they are the digest.
        private static func explain(
            _ report: MigrationReport, _ before: StoreTally, _ after: StoreTally, _ old: ManagedObjectModel,
            _ new: ManagedObjectModel, _ mapping: MappingModel
        ) {
            #expect(report.sourceDigest == before.digest.description)
            #expect(report.mappedDigest == after.digest.description)
            #expect(report.destinationDigest == after.digest.description)
            for mapping in mapping.entityMappings where mapping.type == .copy {
                guard let from = mapping.sourceEntity.flatMap(old.entity),
                    let to = mapping.destinationEntity.flatMap(new.entity)
                else { continue }
                #expect(before.entities[from.number].count == after.entities[to.number].count)
                // Records name entities by number: their own, and those of objects that they refer to among several. An entity that
                // gets a subentity is one of several from then on.
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

    /// Objects of every entity of any model, with values in every attribute and objects in every relationship, by seed.
    enum GeneratedContent {
        static func store(_ url: StoreURL, model: ManagedObjectModel, perEntity: Int = 12) throws -> any PersistentStore
        {
            let store = try StoreRegistry.builtIn.create(url, model: model)
            var generator = SeededGenerator(seed: 5)
            var keys: [Int: [Int64]] = [:]
            var ids: [ObjectID] = []
            var lastKeys: [Int: Int64] = [:]
            for entity in model.entities where !entity.isAbstract {
                for _ in 0..<perEntity {
                    let key = (lastKeys[entity.root] ?? 0) + Int64(1 + generator.below(3))
                    lastKeys[entity.root] = key
                    keys[entity.number, default: []].append(key)
                    ids.append(ObjectID(entity.name, key))
                }
            }
            func objects(_ entity: Int) -> [ObjectID] {
                model.entities[entity].selfAndSubentities.flatMap { number in
                    (keys[number] ?? []).map { ObjectID(model.entities[number].name, $0) }
                }
            }
            var values: [ObjectID: [String: Value]] = [:]
            for (index, id) in ids.enumerated() {
                for attribute in model.entity(id.entity)?.attributes ?? [] where attribute.isStored {
                    // Some of what may be null is.
                    if attribute.isOptional, index % 5 == 0 { continue }
                    values[id, default: [:]][attribute.name] = value(attribute, index)
                }
            }
            var links: [Int: [Link]] = [:]
            for relationship in model.relationships {
                let (sources, targets) = (objects(relationship.source), objects(relationship.destination))
                guard !targets.isEmpty else { continue }
                let inverse = relationship.inverse.map { model.relationships[$0] }
                if relationship.storage == .field {
                    if let inverse, !inverse.isToMany, inverse.number < relationship.number { continue }
                    for (index, source) in sources.enumerated() {
                        if let inverse, !inverse.isToMany {
                            guard index < targets.count, inverse.number != relationship.number else { continue }
                            values[source, default: [:]][relationship.name.name] = .objectID(targets[index])
                            values[targets[index], default: [:]][inverse.name.name] = .objectID(source)
                            continue
                        }
                        values[source, default: [:]][relationship.name.name] = .objectID(
                            targets[(index * 7) % targets.count])
                        if relationship.inverseIsOrdered {
                            values[source, default: [:]][RecordLayout.orderFieldName(of: relationship.name.name)] =
                                .int(Int64(100 - index))
                        }
                    }
                } else if relationship.ownsLinks {
                    var seen: Set<Link> = []
                    for (index, source) in sources.enumerated() {
                        // Without an inverse, an object may get a to-one one in a later version: it is in one list only.
                        if relationship.inverse == nil {
                            guard index < targets.count else { continue }
                            seen.insert(relationship.normalised(Link(source.key, targets[index].key)))
                            continue
                        }
                        for step in 0..<2 {
                            seen.insert(
                                relationship.normalised(
                                    Link(
                                        source.key, targets[(index * 3 + step) % targets.count].key,
                                        order: Int64(step), inverseOrder: 0)))
                        }
                    }
                    var pairs: Set<[Int64]> = []
                    links[relationship.number] = seen.sorted {
                        ($0.source, $0.target, $0.order) < ($1.source, $1.target, $1.order)
                    }
                    .filter { pairs.insert([$0.source, $0.target]).inserted }
                }
            }
            let loader = try store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: model)
            for id in ids { try batch.append(id, values: values[id] ?? [:]) }
            try loader.append(batch)
            for (number, links) in links.sorted(by: { $0.key < $1.key }) {
                try loader.append(LinkBatch(relationship: number, links: links))
            }
            _ = try loader.finish()
            return store
        }

        private static func value(_ attribute: AttributeDescription, _ index: Int) -> Value {
            switch attribute.type {
            case .undefined: .null
            case .integer16, .integer32, .integer64: .int(Int64(index % 30_000))
            case .decimal: .decimal(Decimal(index) / 8)
            case .double, .float: .double(Double(index) / 4)
            case .string: .string("\(attribute.name) \(index)")
            case .boolean: .bool(index % 2 == 0)
            case .date: .date(Date(timeIntervalSinceReferenceDate: Double(index) * 1000))
            case .binaryData, .transformable: .data(Data("\(attribute.name)\(index)".utf8))
            case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(index % 250))))
            case .uri: .uri("x:\(index)")
            case .objectID: .null
            case .composite:
                .composite(Dictionary(uniqueKeysWithValues: attribute.elements.map { ($0.name, value($0, index)) }))
            }
        }
    }
#endif
