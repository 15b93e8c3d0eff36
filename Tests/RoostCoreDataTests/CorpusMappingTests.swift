import Foundation
import RoostAppleModels
import RoostCore
import RoostCoreData
import RoostMigration
import RoostQuery
import Testing

@Suite("Mapping models of the corpus", .enabled(if: Corpus.isPresent, "the corpus is absent; set ROOST_CORPUS"))
struct CorpusMappingTests {
    /// The number of orphans in each file.
    ///
    /// An orphan is an entity mapping to which the mapping model has no link.
    private static let orphans = [
        "Modelv1v4.xcmappingmodel": 16, "Model2_to_Model3.xcmappingmodel": 1, "Model2_to_Model3_User.xcmappingmodel": 3,
        "UnCloudNotesMappingModel_v3_to_v4.xcmappingmodel": 1,
    ]

    @Test("a mapping model of the corpus imports as other tools read it", arguments: MappingFacts.all)
    func imports(facts: MappingFacts) throws {
        let imported = try CoreDataMappingReader.read(at: facts.fullPath)
        #expect(imported.sourceModelPath == facts.source)
        #expect(imported.destinationModelPath == facts.destination)
        let mappings = imported.mapping.entityMappings
        let orphans = Self.orphans[facts.name] ?? 0
        #expect(mappings.count == facts.mappings.count - orphans)
        #expect(imported.warnings.filter { $0.message.contains("does not link to it") }.count == orphans)
        #expect(Set(mappings.map(\.name)).count == mappings.count)
        for warning in imported.warnings { print("WARNING \(facts.name): \(warning)") }
        var lastNumber = 0
        for mapping in mappings {
            // Entity mappings between the same entities differ in their properties.
            let candidates = facts.mappings.filter {
                $0.source == mapping.sourceEntity?.description
                    && $0.destination == mapping.destinationEntity?.description
                    && Set($0.attributes.keys) == Set(mapping.attributeMappings.map(\.name))
                    && Set($0.relationships.keys) == Set(mapping.relationshipMappings.map(\.name))
            }
            let fact = try #require(candidates.max { $0.number < $1.number }, "\(mapping.name)")
            #expect(fact.number >= lastNumber)
            lastNumber = fact.number
            #expect(mapping.policyName == fact.policy)
            #expect(try mapping.sourcePredicate == fact.filter.map { try FetchRequest.Predicate(format: $0) })
            #expect(mapping.userInfo == fact.userInfo)
            #expect(
                mapping.type
                    == (fact.source == nil
                        ? .add : fact.destination == nil ? .remove : fact.policy == nil ? .transform : .custom))
            for attribute in mapping.attributeMappings {
                try compare(attribute, with: fact.attributes[attribute.name] ?? nil, for: fact)
            }
            for relationship in mapping.relationshipMappings {
                try compare(relationship, with: fact.relationships[relationship.name] ?? [:], of: mappings, for: fact)
            }
        }
    }

    private func compare(_ mapping: PropertyMapping, with written: String?, for fact: MappingFacts.Mapping) throws {
        switch written {
        case nil: #expect(mapping.valueExpression == nil || mapping.valueExpression == .source(mapping.name))
        case "True": #expect(mapping.valueExpression == .constant(.bool(true)))
        case let text?: #expect(try mapping.valueExpression?.format() == text)
        }
        if fact.source == nil { #expect(mapping.valueExpression == nil) }
    }

    private func compare(
        _ mapping: PropertyMapping, with facts: [String: String], of mappings: [EntityMapping],
        for fact: MappingFacts.Mapping
    ) throws {
        if let written = facts["expr"] {
            #expect(try mapping.valueExpression?.format() == written.replacing("'", with: "\""))
            return
        }
        guard let expression = mapping.valueExpression else {
            // With a source entity, a relationship mapping has an expression if it names a source mapping or a key
            // path.
            #expect(fact.source == nil || (facts["sourceMapping"] == nil && facts["keyPath"] == nil))
            return
        }
        guard case .registered(let function, let arguments) = expression, arguments.count == 3 else {
            Issue.record("\(mapping.name): \(expression)")
            return
        }
        #expect(arguments[0] == .variable("manager"))
        if let made = facts["sourceMapping"] { #expect(arguments[1] == .constant(.string(made))) }
        if let path = facts["keyPath"], path != "$source" {
            #expect(
                try arguments[2].format() == path.replacing("@distinctUnionOfSets", with: "@distinctUnionOfObjects"))
        }
        if facts["sourceMapping"] == nil, facts["keyPath"] == nil { #expect(arguments[2] == .source(mapping.name)) }
        if function == MappingFunction.destinationInstances.rawValue, case .constant(.string(let name)) = arguments[1] {
            #expect(mappings.contains { $0.name == name })
        }
    }

    /// The embedded models have another format than the model files.
    @Test(
        "a mapping model imports the same with its embedded models as with the model files", arguments: MappingFacts.all
    )
    func copiesOfModels(facts: MappingFacts) throws {
        let source = try #require(facts.model(facts.source))
        let destination = try #require(facts.model(facts.destination))
        let models = (
            try CoreDataModelReader.read(at: source).model, try CoreDataModelReader.read(at: destination).model
        )
        let alone = try CoreDataMappingReader.read(at: facts.fullPath)
        let withModels = try CoreDataMappingReader.read(at: facts.fullPath, source: models.0, destination: models.1)
        #expect(withModels.mapping.problems(from: models.0, to: models.1).map(\.description) == [])
        var (mapping, other) = (withModels.mapping, alone.mapping)
        try #require(mapping.entityMappings.count == other.entityMappings.count)
        for index in mapping.entityMappings.indices {
            let hasSource = mapping.entityMappings[index].sourceEntity != nil
            #expect((mapping.entityMappings[index].sourceVersionHash != nil) == hasSource)
            // Without the model files, the reader cannot detect that a mapping changes nothing.
            if mapping.entityMappings[index].type == .copy {
                mapping.entityMappings[index].type = .transform
                (other.entityMappings[index].attributeMappings, other.entityMappings[index].relationshipMappings) = (
                    [], []
                )
            }
            mapping.entityMappings[index].sourceVersionHash = nil
            mapping.entityMappings[index].destinationVersionHash = nil
        }
        #expect(mapping == other)
    }

    private func refusal(of bytes: [UInt8]) -> StoreError? {
        do throws(StoreError) {
            _ = try CoreDataMappingReader.read(xml: bytes, file: "damaged")
            return nil
        } catch {
            return error
        }
    }

    @Test("a truncated or changed mapping model of the corpus is read or refused")
    func damage() throws {
        let facts = try #require(MappingFacts.all.first { $0.name.contains("V1.FromV2") })
        let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: facts.fullPath + "/xcmapping.xml")))
        var (read, refused) = (0, 0)
        func attempt(_ bytes: [UInt8]) {
            guard let error = refusal(of: bytes) else {
                read += 1
                return
            }
            refused += 1
            #expect([.invalidMappingModel, .limitExceeded].contains(error.code), "\(error)")
        }
        for index in stride(from: 0, to: whole.count, by: 331) {
            var bytes = whole
            bytes[index] ^= 0x11
            attempt(bytes)
            attempt(Array(whole[..<index]))
        }
        #expect(read > 0)
        #expect(refused > whole.count / 331)
    }
}

/// One entry of `_derived/mapping_models.json`.
struct MappingFacts: Sendable, CustomTestStringConvertible {
    struct Mapping: Sendable {
        let number: Int
        let source: String?
        let destination: String?
        let policy: String?
        let filter: String?
        let attributes: [String: String?]
        let relationships: [String: [String: String]]
        let userInfo: [String: String]
    }

    let path: String
    let source: String?
    let destination: String?
    let mappings: [Mapping]

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }
    var fullPath: String { Corpus.path + "/" + path }
    var testDescription: String { name }

    static let all: [MappingFacts] = {
        guard Corpus.isPresent,
            let data = FileManager.default.contents(atPath: Corpus.path + "/_derived/mapping_models.json"),
            let list = try? JSONSerialization.jsonObject(with: data) as? [String: [String: Any]]
        else { return [] }
        return list.map { MappingFacts($0, json: $1) }.sorted { $0.path < $1.path }
    }()

    private init(_ path: String, json: [String: Any]) {
        self.path = path
        source = json["source"] as? String
        destination = json["destination"] as? String
        mappings = (json["entityMappings"] as? [[String: Any]] ?? []).map { entry in
            func text(_ key: String) -> String? { (entry[key] as? String).flatMap { $0.isEmpty ? nil : $0 } }
            return Mapping(
                number: text("number").flatMap { Int($0) } ?? 0, source: text("source"),
                destination: text("destination"),
                policy: text("policy"), filter: text("filter"),
                attributes: (entry["attributes"] as? [String: Any] ?? [:]).mapValues { $0 as? String },
                relationships: (entry["relationships"] as? [String: [String: Any]] ?? [:]).mapValues { facts in
                    facts.compactMapValues { $0 as? String }
                }, userInfo: entry["userInfo"] as? [String: String] ?? [:])
        }
    }

    /// Returns the path of a model file with the last two components of `projectPath`, or nil.
    ///
    /// If several match, returns the path that shares the longest prefix with the mapping model.
    func model(_ projectPath: String?) -> String? {
        guard let parts = projectPath?.split(separator: "/").suffix(2),
            let repository = path.split(separator: "/").first
        else { return nil }
        let end = parts.joined(separator: "/")
        let found = Corpus.models.filter { $0.hasSuffix("/" + end) && $0.hasPrefix(repository + "/") }
        return found.max { path.commonPrefix(with: $0).count < path.commonPrefix(with: $1).count }.map {
            Corpus.path + "/" + $0
        }
    }
}
