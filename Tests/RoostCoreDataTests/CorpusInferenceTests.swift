import Foundation
import RoostAppleModels
import RoostCore
import RoostCoreData
import RoostMigration
import Testing

/// Two consecutive versions of a model of the corpus.
struct VersionPair: Sendable, CustomTestStringConvertible {
    let bundle: String
    let old: String
    let new: String

    var testDescription: String { "\(old) → \(new)" }

    func models() throws -> (old: ManagedObjectModel, new: ManagedObjectModel) {
        let path = Corpus.path + "/" + bundle
        return (
            try CoreDataModelReader.read(at: path, version: old).model,
            try CoreDataModelReader.read(at: path, version: new).model
        )
    }
}

/// The versions of each bundle in their order, and the changes that other tools found.
///
/// The source is `_derived/version_chains.json`.
enum VersionChains {
    struct Chain: Sendable, CustomTestStringConvertible {
        let bundle: String
        let pairs: [VersionPair]
        let changes: [String: Int]

        var testDescription: String { bundle.split(separator: "/").last.map(String.init) ?? bundle }
    }

    static let all: [Chain] = {
        guard let chains = json("version_chains.json") else { return [] }
        return chains.sorted { $0.key < $1.key }.compactMap { bundle, facts in
            guard let facts = facts as? [String: Any], let versions = facts["versions"] as? [String],
                let changes = facts["changes"] as? [String: Int]
            else { return nil }
            let pairs = zip(versions, versions.dropFirst()).map { VersionPair(bundle: bundle, old: $0, new: $1) }
            return Chain(bundle: bundle, pairs: pairs, changes: changes)
        }
    }()

    /// The pairs for which no mapping model was shipped.
    static let unmapped: [VersionPair] = {
        var mapped: Set<[String]> = []
        for (path, facts) in json("mapping_models.json") ?? [:] {
            guard let facts = facts as? [String: Any], let source = facts["source"] as? String,
                let destination = facts["destination"] as? String, let owner = path.split(separator: "/").first
            else { continue }
            mapped.insert([String(owner), last(source), last(destination)])
        }
        return all.flatMap(\.pairs).filter { pair in
            !mapped.contains([String(pair.bundle.prefix { $0 != "/" }), pair.old, pair.new])
        }
    }()

    private static func last(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private static func json(_ name: String) -> [String: Any]? {
        guard Corpus.isPresent, let data = FileManager.default.contents(atPath: "\(Corpus.path)/_derived/\(name)")
        else { return nil }
        return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    }
}

@Suite("Inferred mappings of the corpus", .enabled(if: Corpus.isPresent, "the corpus is absent; set ROOST_CORPUS"))
struct CorpusInferenceTests {
    @Test(
        "a pair of corpus versions without a mapping model gets a valid inferred mapping",
        arguments: VersionChains.unmapped)
    func inferred(pair: VersionPair) throws {
        let (old, new) = try pair.models()
        #expect(MappingModel.inferenceProblems(from: old, to: new).map(\.description) == [])
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(mapping.problems(from: old, to: new).map(\.description) == [])
        #expect(try MappingModel(document: mapping.document()) == mapping)
        // Mappings create every destination entity, and read or remove every source entity.
        #expect(Set(mapping.entityMappings.compactMap(\.destinationEntity)) == Set(new.entities.map(\.name)))
        #expect(Set(mapping.entityMappings.compactMap(\.sourceEntity)) == Set(old.entities.map(\.name)))
        // Only one renaming identifier of the corpus has no match in the previous version.
        let lost = mapping.remarks(from: old, to: new).filter { $0.message.contains("Renaming identifier") }
        #expect(lost.allSatisfy { $0.entity == "User" && $0.property == "type" }, "\(lost)")
    }

    @Test("the corpus has more than 60 pairs of versions without a mapping model")
    func hasUnmappedPairs() {
        #expect(VersionChains.unmapped.count > 60)
        #expect(VersionChains.all.flatMap(\.pairs).count > VersionChains.unmapped.count)
    }

    @Test(
        "inferred mappings add, remove and rename as many entities as other tools found", arguments: VersionChains.all)
    func oracle(chain: VersionChains.Chain) throws {
        var types: [EntityMapping.MappingType: Int] = [:]
        var renamed = 0
        for pair in chain.pairs {
            let (old, new) = try pair.models()
            guard MappingModel.inferenceProblems(from: old, to: new).isEmpty else {
                // Inference may fail only for pairs that have a mapping model.
                #expect(!VersionChains.unmapped.contains { $0.bundle == pair.bundle && $0.old == pair.old })
                return
            }
            for mapping in try MappingModel.inferred(from: old, to: new).entityMappings {
                types[mapping.type, default: 0] += 1
                if mapping.type == .transform, mapping.sourceEntity != mapping.destinationEntity { renamed += 1 }
            }
        }
        #expect(types[.add] ?? 0 == chain.changes["entity added"] ?? 0)
        #expect(types[.remove] ?? 0 == chain.changes["entity removed"] ?? 0)
        #expect(renamed == chain.changes["entity renamed (elementID)"] ?? 0)
    }

    @Test("a bundle of the corpus lists its versions in the order of their creation", arguments: VersionChains.all)
    func listsVersionsInOrder(chain: VersionChains.Chain) throws {
        let made = chain.pairs.prefix(1).map(\.old) + chain.pairs.map(\.new)
        let found = try CoreDataModelReader.versions(at: Corpus.path + "/" + chain.bundle)
        #expect(found.map { $0 + ".xcdatamodel" } == made)
    }

    @Test("attributes whose integer types grow are inferred from Trailer 30 to 31")
    func trailer() throws {
        let pair = try #require(VersionChains.unmapped.first { $0.old == "Trailer 30.xcdatamodel" })
        let (old, new) = try pair.models()
        let mapping = try MappingModel.inferred(from: old, to: new)
        var widened: [String] = []
        for entityMapping in mapping.entityMappings where entityMapping.type == .transform {
            let origin = try #require(entityMapping.sourceEntity.flatMap(old.entity))
            let entity = try #require(entityMapping.destinationEntity.flatMap(new.entity))
            for attribute in entity.declaration.attributes {
                guard let before = origin.attribute(attribute.name), before.type != attribute.type else { continue }
                #expect(
                    entityMapping.attributeMappings.contains(
                        PropertyMapping(attribute.name, expression: .source(attribute.name))))
                widened.append("\(entity.name).\(attribute.name) \(before.type)->\(attribute.type)")
            }
        }
        #expect(widened.count == 22)
        #expect(widened.contains("Issue.condition integer16->integer64"))
        #expect(widened.contains("PRLabel.color integer32->integer64"))
    }

    @Test("a mandatory attribute that moves to subentities keeps its values from Moody 3 to 4")
    func moody() throws {
        let pair = try #require(
            VersionChains.all.flatMap(\.pairs).first { $0.old == "Moody 3.xcdatamodel" && $0.bundle.contains("objcio") }
        )
        let (old, new) = try pair.models()
        let mapping = try MappingModel.inferred(from: old, to: new)
        // The old entity only inherits this mandatory attribute; the new one declares it.
        #expect(old.entity("Continent")?.declaration.attributes.contains { $0.name == "updatedAt" } == false)
        #expect(new.entity("Continent")?.declaration.attributes.contains { $0.name == "updatedAt" } == true)
        for name in ["Continent", "Country"] {
            let entity = try #require(mapping.entityMapping(named: "IEM_Transform_\(name)"))
            #expect(entity.attributeMappings.contains(PropertyMapping("updatedAt", expression: .source("updatedAt"))))
        }
        #expect(!mapping.remarks(from: old, to: new).contains { $0.kind == .demand })
    }
}
