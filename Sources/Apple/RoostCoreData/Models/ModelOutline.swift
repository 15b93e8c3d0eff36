internal import RoostAppleModels
internal import RoostCore

/// The parts of a model that a mapping import needs.
struct ModelOutline {
    struct Entity {
        var superentity: String?
        var attributes: Set<String> = []
        var relationships: Set<String> = []
        /// The known destination entities of relationships, by relationship name.
        var destinations: [String: String] = [:]
    }

    enum Limit {
        static let entities = 10_000
        static let properties = 200_000
        static let inheritance = 100
    }

    private(set) var entities: [String: Entity] = [:]

    init(_ model: ManagedObjectModel) {
        for description in model.entityDescriptions {
            entities[description.name] = Entity(
                superentity: description.superentityName, attributes: Set(description.attributes.map(\.name)),
                relationships: Set(description.relationships.map(\.name)),
                destinations: Dictionary(
                    description.relationships.map { ($0.name, $0.destinationEntityName) }, uniquingKeysWith: { $1 }))
        }
    }

    /// Creates an outline from the copy of a model in a mapping model file.
    init(archive bytes: [UInt8], file: String, budget: DecodingBudget) throws(StoreError) {
        let root = try KeyedArchive(bytes, file: file, budget: budget).rootObject()
        guard try root.className == "XDPMModel", let package = try root.object("_xd_rootPackage") else {
            throw StoreError(.corrupted, "\(file) is not a model of Xcode's editor.")
        }
        var propertyCount = 0
        for (name, node) in try package.dictionary("XDBucketForClassesstorage") {
            guard let object = node.object, try object.className == "XDPMEntity" else { continue }
            var entity = Entity()
            for parent in try object.list("XDBucketForGeneralizationsstorage") {
                entity.superentity = try parent.object?.object("_general")?.string("_name")
            }
            for (property, node) in try object.dictionary("XDBucketForOwnedAttributesstorage") {
                propertyCount += 1
                guard let description = node.object else { continue }
                switch try description.className {
                case "XDPMAttribute": entity.attributes.insert(property)
                case "XDPMRelationship":
                    entity.relationships.insert(property)
                    entity.destinations[property] = try Self.destination(of: description)
                default: continue
                }
            }
            entities[name] = entity
            guard entities.count <= Limit.entities, propertyCount <= Limit.properties else {
                throw StoreError(.limitExceeded, "\(file) has too many entities or properties.")
            }
        }
    }

    /// Returns a relationship's destination entity, which the editor stores in a stereotype.
    private static func destination(of relationship: ArchivedObject) throws(StoreError) -> String? {
        for (name, node) in try relationship.dictionary("XDBucketForStereotypesstorage")
        where name == "XD_PR_Stereotype" {
            guard let stereotype = node.object else { continue }
            for (tag, node) in try stereotype.dictionary("XDBucketForOwnedAttributesstorage")
            where tag == "XD_PRK_destination" {
                return try node.object?.object("_default")?.string("_name")
            }
        }
        return nil
    }

    // MARK: Queries

    /// Returns whether an entity has or inherits an attribute, or nil for an unknown entity.
    func hasAttribute(_ name: String, of entity: String) -> Bool? {
        guard entities[entity] != nil else { return nil }
        return lineage(of: entity).contains { entities[$0]?.attributes.contains(name) == true }
    }

    /// Returns whether an entity has or inherits a relationship, or nil for an unknown entity.
    func hasRelationship(_ name: String, of entity: String) -> Bool? {
        guard entities[entity] != nil else { return nil }
        return lineage(of: entity).contains { entities[$0]?.relationships.contains(name) == true }
    }

    /// Returns the destination entity of a relationship, or nil if it is unknown.
    func destination(of relationship: String, of entity: String) -> String? {
        lineage(of: entity).lazy.compactMap { entities[$0]?.destinations[relationship] }.first
    }

    func isSubentity(_ entity: String, of other: String) -> Bool { lineage(of: entity).dropFirst().contains(other) }

    /// Returns the entity and its ancestors, nearest first.
    ///
    /// Stops at a cycle and after ``Limit/inheritance`` entities.
    private func lineage(of entity: String) -> [String] {
        var line: [String] = []
        var next: String? = entity
        while let name = next, line.count < Limit.inheritance, !line.contains(name) {
            line.append(name)
            next = entities[name]?.superentity
        }
        return line
    }
}
