import RoostCore

#if SQLite
    import Foundation
    @testable import RoostAppleModels
    @testable import RoostCoreData
    import Testing

    @Suite("Stores of the corpus", .enabled(if: Corpus.isPresent, "the corpus is absent; set ROOST_CORPUS"))
    struct CorpusStoreTests {
        static func open(_ facts: StoreFacts) throws -> CoreDataStore {
            var options = StoreOptions()
            let holdsModel =
                FileManager.default.fileExists(atPath: Corpus.path + "/_derived/modelcache/INDEX.json")
                && Corpus.modelCaches[facts.path] != nil
            if !holdsModel, let model = facts.exactModels.first {
                options.typeOptions["model"] = Corpus.path + "/" + model
            }
            let store = try CoreDataStoreType().open(
                StoreLocation(type: "coredata", path: facts.fullPath), options: options)
            return try #require(store as? CoreDataStore)
        }

        @Test(
            "a store of the corpus has the objects, links and hashes that other tools found", arguments: Corpus.stores)
        func counts(facts: StoreFacts) throws {
            let store = try Self.open(facts)
            for warning in try store.notices() { print("NOTICE \(facts.testDescription): \(warning)") }
            #expect(try !store.notices().contains { $0.contains("belongs to no property") })
            let tally = try store.snapshot().computeTally()
            // A store that was migrated in place may still list an entity under its old name.
            let counts = Dictionary(
                uniqueKeysWithValues: store.model.entities.map { entity in
                    let old = entity.declaration.renamingIdentifier.flatMap { facts.entities[$0] == nil ? nil : $0 }
                    return (
                        facts.entities[entity.name.text] == nil ? old ?? entity.name.text : entity.name.text,
                        tally.entities[entity.number].count
                    )
                })
            #expect(counts.filter { $0.value > 0 } == facts.entities.filter { $0.value > 0 })
            // Join tables have various names, so only the total number of their rows is compared.
            let links = store.model.linkRelationships.filter { $0.inverse != nil }
                .reduce(0) { $0 + tally.relationships[$1.number].count }
            #expect(links == facts.joinTables.values.reduce(0, +))
            #expect(
                store.appleVersionHashes.mapValues { $0.map { String(format: "%02x", $0) }.joined() }
                    == facts.versionHashes)
        }

        @Test("reading a store of the corpus changes no file of its directory", arguments: Corpus.stores)
        func leavesNoTrace(facts: StoreFacts) throws {
            let directory = CoreDataSource.split(facts.fullPath).directory
            func state() throws -> [String: [FileAttributeKey: String]] {
                var state: [String: [FileAttributeKey: String]] = [:]
                for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                    let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/" + name)
                    state[name] = [
                        .size: "\(attributes[.size] ?? "")",
                        .modificationDate: "\(attributes[.modificationDate] ?? "")",
                    ]
                }
                return state
            }
            let before = try state()
            let store = try Self.open(facts)
            _ = try store.snapshot().computeTally()
            _ = try store.integrityFindings()
            try store.close()
            #expect(try state() == before)
        }

        @Test("the integrity check of a store of the corpus finds no damage", arguments: Corpus.stores)
        func hasNoDamage(facts: StoreFacts) throws {
            let findings = try Self.open(facts).integrityFindings()
            for finding in findings { print("FINDING \(facts.testDescription): \(finding)") }
            #expect(!findings.contains { $0.severity == .damage })
        }

        /// Compares the entities, the records' fields, the renaming identifiers and the delete
        /// rules.
        ///
        /// One of the store's model files must have equal version hashes. Others may differ, as the
        /// list of files ignores version hash modifiers. Class names, indexes and user info are not
        /// compared, because they affect no hash and differ in published files.
        @Test("the model in a store of the corpus equals the model file that fits it", arguments: Corpus.exactPairs)
        func exactModels(pair: ExactPair) throws {
            let cached = try CoreDataStoreType().open(
                StoreLocation(type: "coredata", path: Corpus.path + "/" + pair.store), options: StoreOptions()
            ).model
            let file = try CoreDataModelReader.read(at: Corpus.path + "/" + pair.model).model
            let others = try pair.all.map { try CoreDataModelReader.read(at: Corpus.path + "/" + $0).model }
            #expect(others.contains { $0.entities.map(\.versionHash) == cached.entities.map(\.versionHash) })
            #expect(cached.entities.map(\.name) == file.entities.map(\.name))
            for (left, right) in zip(cached.entities, file.entities) {
                #expect(left.layout.fields == right.layout.fields)
                #expect(left.attributes.map(\.renamingIdentifier) == right.attributes.map(\.renamingIdentifier))
                #expect(
                    left.relationships.map(\.declaration.deleteRule)
                        == right.relationships.map(\.declaration.deleteRule))
                #expect(left.declaration.renamingIdentifier == right.declaration.renamingIdentifier)
            }
        }

        @Test(
            "the model in a store of the corpus has what another reader decoded",
            arguments: Corpus.modelCaches.keys.sorted())
        func modelCaches(path: String) throws {
            let file = try #require(Corpus.modelCaches[path])
            let data = try #require(
                FileManager.default.contents(atPath: "\(Corpus.path)/_derived/modelcache/\(file).json"))
            let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let entities = try #require(json["entities"] as? [String: [String: Any]])
            let model = try CoreDataStoreType().open(
                StoreLocation(type: "coredata", path: Corpus.path + "/" + path), options: StoreOptions()
            ).model
            #expect(Set(entities.keys) == Set(model.entities.map(\.name.text)))
            for (name, facts) in entities {
                let entity = try model.requireEntity(EntityName(name))
                #expect(entity.isAbstract == facts["abstract"] as? Bool)
                #expect(entity.declaration.superentityName == facts["super"] as? String)
                let properties = try #require(facts["properties"] as? [String: [String: Any]])
                for (property, facts) in properties { try compare(entity, property: property, with: facts) }
                let known = Set(entity.attributes.map(\.name)).union(entity.relationships.map(\.name.name))
                #expect(known.isSubset(of: properties.keys))
            }
        }

        private func compare(_ entity: ManagedObjectModel.Entity, property name: String, with facts: [String: Any])
            throws
        {
            switch facts["kind"] as? String {
            case "Relationship":
                let relationship = try #require(entity.relationship(name)).declaration
                #expect(relationship.destinationEntityName == facts["destination"] as? String)
                #expect(relationship.inverseName == facts["inverse"] as? String)
                #expect(relationship.isOptional == facts["optional"] as? Bool ?? false)
                #expect(relationship.isOrdered == facts["ordered"] as? Bool ?? false)
                #expect(relationship.minCount == facts["min"] as? Int)
                let maximum = try #require(facts["max"] as? Int)
                #expect(relationship.maxCount == (maximum > 0 ? maximum : nil))
                #expect(
                    "\(relationship.deleteRule)".lowercased()
                        == (facts["delete"] as? String)?.lowercased().filter { $0 != " " })
            case "Attribute", "DerivedAttribute", "Derived":
                let attribute = try #require(entity.attribute(name))
                let type = try #require(facts["type"] as? String)
                #expect(
                    attribute.type.name == type.lowercased().filter { $0 != " " } || attribute.type == .binaryData
                        || attribute.type == .uri)
                #expect(attribute.isOptional == facts["optional"] as? Bool ?? false)
                #expect(attribute.isTransient == facts["transient"] as? Bool ?? false)
                #expect(attribute.versionHashModifier == facts["versionHashModifier"] as? String)
                #expect(attribute.valueTransformerName == facts["valueTransformer"] as? String)
            default: break
            }
        }
    }

    /// A store with a model cache, and a model file with the same hashes.
    struct ExactPair: Sendable, CustomTestStringConvertible {
        let store: String
        let model: String
        /// Every model file that fits the store.
        let all: [String]
        var testDescription: String {
            store.split(separator: "/").suffix(1).joined() + " = " + model.split(separator: "/").suffix(1).joined()
        }
    }

    extension Corpus {
        /// The names of decoded model caches by the paths of their stores.
        static let modelCaches: [String: String] = {
            guard let data = FileManager.default.contents(atPath: path + "/_derived/modelcache/INDEX.json"),
                let index = try? JSONSerialization.jsonObject(with: data) as? [String: String]
            else { return [:] }
            return index
        }()

        static let exactPairs: [ExactPair] = stores.filter { modelCaches[$0.path] != nil }
            .flatMap { store in
                store.exactModels.map { ExactPair(store: store.path, model: $0, all: store.exactModels) }
            }
    }
#endif
