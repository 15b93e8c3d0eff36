import RoostCore
import Testing

@Suite("Version hashes")
struct VersionHashTests {
    /// One setting, and whether it decides about stored data (reference §1.8).
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let isHashed: Bool
        let change: @Sendable (inout EntityDescription) -> Void

        init(_ name: String, _ isHashed: Bool, _ change: @escaping @Sendable (inout EntityDescription) -> Void) {
            testDescription = name
            self.isHashed = isHashed
            self.change = change
        }
    }

    static let rows: [Row] = attributeRows + relationshipRows + entityRows

    static let attributeRows: [Row] = [
        Row("attribute name", true) { $0.attributes[0].name = "other" },
        Row("attribute type", true) { $0.attributes[0].type = .uri },
        Row("attribute isOptional", true) { $0.attributes[0].isOptional.toggle() },
        Row("attribute isTransient", true) { $0.attributes[0].isTransient.toggle() },
        Row("attribute versionHashModifier", true) { $0.attributes[0].versionHashModifier = "2" },
        Row("attribute empty versionHashModifier", true) { $0.attributes[0].versionHashModifier = "" },
        Row("attribute allowsExternalBinaryDataStorage", true) {
            $0.attributes[0].allowsExternalBinaryDataStorage = true
        },
        Row("attribute preservesValueInHistoryOnDeletion", true) {
            $0.attributes[0].preservesValueInHistoryOnDeletion = true
        },
        Row("derivation expression", true) { $0.attributes[0].derivationExpression = "now()" },
        Row("another attribute", true) { $0.attributes.append(.string("more")) },
        Row("composite element", true) { $0.attributes[1].elements.append(.string("more")) },
        Row("composite element type", true) { $0.attributes[1].elements[0].type = .float },
        Row("composite element renaming", false) { $0.attributes[1].elements[0].renamingIdentifier = "z" },
        Row("order of composite elements", false) { $0.attributes[1].elements.reverse() },
        Row("order of attributes", false) { $0.attributes.reverse() },
        Row("default value", false) { $0.attributes[0].defaultValue = "x" },
        Row("attributeValueClassName", false) { $0.attributes[0].attributeValueClassName = "X" },
        Row("valueTransformerName", false) { $0.attributes[0].valueTransformerName = "X" },
        Row("validation", false) { $0.attributes[0].validation.maximumLength = 5 },
        Row("attribute userInfo", false) { $0.attributes[0].userInfo = ["a": "b"] },
        Row("attribute renamingIdentifier", false) { $0.attributes[0].renamingIdentifier = "old" },
        Row("attribute isIndexedBySpotlight", false) { $0.attributes[0].isIndexedBySpotlight = true },
        Row("allowsCloudEncryption", false) { $0.attributes[0].allowsCloudEncryption = true },
    ]

    static let relationshipRows: [Row] = [
        Row("relationship name", true) { $0.relationships[0].name = "other" },
        Row("relationship isOptional", true) { $0.relationships[0].isOptional.toggle() },
        Row("relationship isTransient", true) { $0.relationships[0].isTransient.toggle() },
        Row("relationship isOrdered", true) { $0.relationships[0].isOrdered.toggle() },
        Row("relationship minCount", true) { $0.relationships[0].minCount = 1 },
        Row("relationship maxCount", true) { $0.relationships[0].maxCount = 5 },
        Row("relationship versionHashModifier", true) { $0.relationships[0].versionHashModifier = "2" },
        Row("relationship destination", true) { $0.relationships[0].destinationEntityName = "Main" },
        Row("another relationship", true) { $0.relationships.append(.toOne("more", "Other")) },
        Row("relationship deleteRule", false) { $0.relationships[0].deleteRule = .cascade },
        Row("relationship userInfo", false) { $0.relationships[0].userInfo = ["a": "b"] },
        Row("relationship renamingIdentifier", false) { $0.relationships[0].renamingIdentifier = "old" },
        Row("relationship isIndexedBySpotlight", false) { $0.relationships[0].isIndexedBySpotlight = true },
    ]

    static let entityRows: [Row] = [
        Row("isAbstract", true) { $0.isAbstract.toggle() },
        Row("entity versionHashModifier", true) { $0.versionHashModifier = "2" },
        Row("uniqueness constraints", true) { $0.uniquenessConstraints = [["text"]] },
        Row("superentity", true) { $0.superentityName = "Other" },
        Row("managedObjectClassName", false) { $0.managedObjectClassName = "X" },
        Row("entity userInfo", false) { $0.userInfo = ["a": "b"] },
        Row("entity renamingIdentifier", false) { $0.renamingIdentifier = "old" },
        Row("fetched properties", false) {
            $0.fetchedProperties = [FetchedPropertyDescription("found", entity: "Other")]
        },
        Row("fetch indexes", false) { $0.fetchIndexes = [FetchIndexDescription("i", on: "text")] },
        Row("coreSpotlightDisplayNameExpression", false) { $0.coreSpotlightDisplayNameExpression = "text" },
    ]

    static func entity() -> EntityDescription {
        EntityDescription(
            "Main", attributes: [.string("text"), .composite("place", [.double("x"), .double("y")])],
            relationships: [.toMany("others", "Other")])
    }

    static func model(_ entity: EntityDescription) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [entity, EntityDescription("Other")])
    }

    @Test("a setting changes the hash exactly when it decides about stored data", arguments: rows)
    func row(_ row: Row) throws {
        var changed = Self.entity()
        row.change(&changed)
        let (old, new) = (try Self.model(Self.entity()), try Self.model(changed))
        #expect((old.entity("Main")?.versionHash != new.entity("Main")?.versionHash) == row.isHashed)
        #expect(old.entity("Other")?.versionHash == new.entity("Other")?.versionHash)
        // The comparison of models must say the same.
        #expect(new.difference(from: old).contains(where: \.changesVersionHash) == row.isHashed)
        #expect((old == new) == new.difference(from: old).isEmpty)
        #expect(row.testDescription.hasPrefix("order of") == (old == new))
    }

    @Test("the inverse's name changes the hash")
    func inverse() throws {
        func model(_ inverse: String?) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("A", relationships: [.toOne("b", "B", inverse: inverse)]),
                EntityDescription("B", relationships: [.toOne("a", "A", inverse: inverse.map { _ in "b" })]),
            ])
        }
        #expect(try model("a").entity("A")?.versionHash != model(nil).entity("A")?.versionHash)
    }

    @Test("a change of an entity changes what inherits from it, not what it inherits from")
    func inheritance() throws {
        func model(middle: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("A", superentity: "B"), EntityDescription("B", superentity: "C", attributes: middle),
                EntityDescription("C", superentity: "D"), EntityDescription("D"),
            ])
        }
        let (old, new) = (try model(middle: []), try model(middle: [.string("x")]))
        let changed = zip(old.entities, new.entities).filter { $0.versionHash != $1.versionHash }.map(\.0.name.text)
        #expect(changed == ["A", "B"])
        #expect(Set(old.entities.map(\.versionHash)).count == 4)
    }

    @Test("texts cannot run into each other")
    func framing() throws {
        func hash(_ attributes: AttributeDescription...) throws -> VersionHash? {
            try ManagedObjectModel(entities: [EntityDescription("A", attributes: attributes)]).entity("A")?.versionHash
        }
        var first = AttributeDescription.string("a")
        first.versionHashModifier = "bc"
        var second = AttributeDescription.string("ab")
        second.versionHashModifier = "c"
        #expect(try hash(first) != hash(second))
    }

    /// The worked example of MODEL-FORMAT.md; stores hold such hashes, so this one must never change.
    @Test("the recipe is the one that is written down")
    func workedExample() throws {
        let text = { (text: String) in [UInt8(text.utf8.count), 0, 0, 0, 0, 0, 0, 0] + Array(text.utf8) }
        let number = { (number: Int) in withUnsafeBytes(of: Int64(number).littleEndian) { Array($0) } }
        var bytes = text("roost entity 1") + text("Track") + [0] + [0] + [0]
        bytes += number(1) + text("title") + number(700) + [0] + [0] + [0] + [0] + [0] + [0] + number(0)
        bytes += number(1) + text("album") + [1] + [0] + [0] + number(0) + number(1) + [0] + text("Album")
        bytes += [1] + text("tracks")
        bytes += number(1) + number(1) + text("title")
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Track", attributes: [.string("title", isOptional: false)],
                relationships: [.toOne("album", "Album", inverse: "tracks")], uniquenessConstraints: [["title"]]),
            EntityDescription("Album", relationships: [.toMany("tracks", "Track", inverse: "album")]),
        ])
        let expected = RecordHash.wide(bytes)
        let hash = try #require(model.entity("Track")?.versionHash)
        #expect(hash == VersionHash(high: expected.high, low: expected.low))
        #expect(bytes.count == 179)
        #expect(hash.description == "8b04d3f7f66824b3c78906b268c6b868")
        #expect(VersionHash(hash.description) == hash)
    }
}
