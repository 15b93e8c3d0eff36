import RoostCore
import Testing

@Suite("Version hashes")
struct VersionHashTests {
    /// A setting, and whether the version hash includes it.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let isHashed: Bool
        let change: @Sendable (inout EntityDescription) -> Void

        init(_ name: String, isHashed: Bool, change: @escaping @Sendable (inout EntityDescription) -> Void) {
            testDescription = name
            self.isHashed = isHashed
            self.change = change
        }
    }

    static let rows: [Row] = attributeRows + relationshipRows + entityRows

    static let attributeRows: [Row] = [
        Row("attribute name", isHashed: true) { $0.attributes[0].name = "other" },
        Row("attribute type", isHashed: true) { $0.attributes[0].type = .uri },
        Row("attribute isOptional", isHashed: true) { $0.attributes[0].isOptional.toggle() },
        Row("attribute isTransient", isHashed: true) { $0.attributes[0].isTransient.toggle() },
        Row("attribute versionHashModifier", isHashed: true) { $0.attributes[0].versionHashModifier = "2" },
        Row("attribute empty versionHashModifier", isHashed: true) { $0.attributes[0].versionHashModifier = "" },
        Row("attribute allowsExternalBinaryDataStorage", isHashed: true) {
            $0.attributes[0].allowsExternalBinaryDataStorage = true
        },
        Row("attribute preservesValueInHistoryOnDeletion", isHashed: true) {
            $0.attributes[0].preservesValueInHistoryOnDeletion = true
        },
        Row("transient attribute", isHashed: false) { $0.attributes.append(.string("more").transient()) },
        Row("type of a transient attribute", isHashed: false) { $0.attributes[2].type = .date },
        Row("isOptional of a transient attribute", isHashed: false) { $0.attributes[2].isOptional.toggle() },
        Row("versionHashModifier of a transient attribute", isHashed: false) {
            $0.attributes[2].versionHashModifier = "2"
        },
        Row("name of a transient attribute", isHashed: false) { $0.attributes[2].name = "other" },
        Row("a transient attribute that is stored now", isHashed: true) { $0.attributes[2].isTransient = false },
        Row("derivation expression", isHashed: true) { $0.attributes[0].derivationExpression = "now()" },
        Row("another attribute", isHashed: true) { $0.attributes.append(.string("more")) },
        Row("composite element", isHashed: true) { $0.attributes[1].elements.append(.string("more")) },
        Row("composite element type", isHashed: true) { $0.attributes[1].elements[0].type = .float },
        Row("composite element renaming", isHashed: false) { $0.attributes[1].elements[0].renamingIdentifier = "z" },
        Row("order of composite elements", isHashed: false) { $0.attributes[1].elements.reverse() },
        Row("order of attributes", isHashed: false) { $0.attributes.reverse() },
        Row("default value", isHashed: false) { $0.attributes[0].defaultValue = "x" },
        Row("attributeValueClassName", isHashed: false) { $0.attributes[0].attributeValueClassName = "X" },
        Row("valueTransformerName", isHashed: false) { $0.attributes[0].valueTransformerName = "X" },
        Row("validation", isHashed: false) { $0.attributes[0].validation.maximumLength = 5 },
        Row("attribute userInfo", isHashed: false) { $0.attributes[0].userInfo = ["a": "b"] },
        Row("attribute renamingIdentifier", isHashed: false) { $0.attributes[0].renamingIdentifier = "old" },
        Row("attribute isIndexedBySpotlight", isHashed: false) { $0.attributes[0].isIndexedBySpotlight = true },
        Row("allowsCloudEncryption", isHashed: false) { $0.attributes[0].allowsCloudEncryption = true },
    ]

    static let relationshipRows: [Row] = [
        Row("relationship name", isHashed: true) { $0.relationships[0].name = "other" },
        Row("relationship isOptional", isHashed: true) { $0.relationships[0].isOptional.toggle() },
        Row("relationship isTransient", isHashed: true) { $0.relationships[0].isTransient.toggle() },
        Row("relationship isOrdered", isHashed: true) { $0.relationships[0].isOrdered.toggle() },
        Row("relationship minCount", isHashed: true) { $0.relationships[0].minCount = 1 },
        Row("relationship maxCount", isHashed: true) { $0.relationships[0].maxCount = 5 },
        Row("relationship versionHashModifier", isHashed: true) { $0.relationships[0].versionHashModifier = "2" },
        Row("relationship destination", isHashed: true) { $0.relationships[0].destinationEntityName = "Main" },
        Row("another relationship", isHashed: true) { $0.relationships.append(.toOne("more", to: "Other")) },
        Row("transient relationship", isHashed: false) {
            $0.relationships.append(RelationshipDescription.toOne("more", to: "Other").transient)
        },
        Row("destination of a transient relationship", isHashed: false) {
            $0.relationships[1].destinationEntityName = "Main"
        },
        Row("maxCount of a transient relationship", isHashed: false) { $0.relationships[1].maxCount = 7 },
        Row("a transient relationship that is stored now", isHashed: true) { $0.relationships[1].isTransient = false },
        Row("relationship deleteRule", isHashed: false) { $0.relationships[0].deleteRule = .cascade },
        Row("relationship userInfo", isHashed: false) { $0.relationships[0].userInfo = ["a": "b"] },
        Row("relationship renamingIdentifier", isHashed: false) { $0.relationships[0].renamingIdentifier = "old" },
        Row("relationship isIndexedBySpotlight", isHashed: false) { $0.relationships[0].isIndexedBySpotlight = true },
    ]

    static let entityRows: [Row] = [
        Row("isAbstract", isHashed: true) { $0.isAbstract.toggle() },
        Row("entity versionHashModifier", isHashed: true) { $0.versionHashModifier = "2" },
        Row("uniqueness constraints", isHashed: true) { $0.uniquenessConstraints = [["text"]] },
        Row("superentity", isHashed: true) { $0.superentityName = "Other" },
        Row("managedObjectClassName", isHashed: false) { $0.managedObjectClassName = "X" },
        Row("entity userInfo", isHashed: false) { $0.userInfo = ["a": "b"] },
        Row("entity renamingIdentifier", isHashed: false) { $0.renamingIdentifier = "old" },
        Row("fetched properties", isHashed: false) {
            $0.fetchedProperties = [FetchedPropertyDescription("found", entity: "Other")]
        },
        Row("fetch indexes", isHashed: false) { $0.fetchIndexes = [FetchIndexDescription("i", on: "text")] },
        Row("coreSpotlightDisplayNameExpression", isHashed: false) { $0.coreSpotlightDisplayNameExpression = "text" },
    ]

    static func entity() -> EntityDescription {
        EntityDescription(
            "Main",
            attributes: [
                .string("text"), .composite("place", elements: [.double("x"), .double("y")]),
                .string("shown").transient(),
            ],
            relationships: [
                .toMany("others", to: "Other"), RelationshipDescription.toMany("seen", to: "Other").transient,
            ])
    }

    static func model(_ entity: EntityDescription) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [entity, EntityDescription("Other")])
    }

    @Test("a setting changes the version hash exactly if the hash includes it", arguments: rows)
    func dependsOnStoredData(_ row: Row) throws {
        var changed = Self.entity()
        row.change(&changed)
        let (old, new) = (try Self.model(Self.entity()), try Self.model(changed))
        #expect((old.entity("Main")?.versionHash != new.entity("Main")?.versionHash) == row.isHashed)
        #expect(old.entity("Other")?.versionHash == new.entity("Other")?.versionHash)
        // The comparison of models must agree with the hashes.
        #expect(new.difference(from: old).contains(where: \.changesVersionHash) == row.isHashed)
        #expect((old == new) == new.difference(from: old).isEmpty)
        #expect(row.testDescription.hasPrefix("order of") == (old == new))
    }

    @Test("the name of an inverse changes the version hash")
    func inverse() throws {
        func model(_ inverse: String?) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("A", relationships: [.toOne("b", to: "B", inverse: inverse)]),
                EntityDescription("B", relationships: [.toOne("a", to: "A", inverse: inverse.map { _ in "b" })]),
            ])
        }
        #expect(try model("a").entity("A")?.versionHash != model(nil).entity("A")?.versionHash)
    }

    @Test("a transient inverse does not enter the version hash, and a stored one does")
    func transientInverse() throws {
        func model(_ inverse: String?, isTransient: Bool = true) throws -> ManagedObjectModel {
            var back = inverse.map { RelationshipDescription.toOne($0, to: "A", inverse: "b") }
            back?.isTransient = isTransient
            return try ManagedObjectModel(entities: [
                EntityDescription("A", relationships: [.toMany("b", to: "B", inverse: inverse)]),
                EntityDescription("B", relationships: back.map { [$0] } ?? []),
            ])
        }
        let plain = try model(nil)
        for other in [try model("a"), try model("other")] {
            #expect(other.hasVersionHashes(of: plain) && plain.hasVersionHashes(of: other))
            #expect(other.entities.map(\.layout.fields) == plain.entities.map(\.layout.fields))
            #expect(other.difference(from: plain).filter(\.changesVersionHash).isEmpty)
            // The first recipe counts the transient inverse as a change.
            #expect(other.versionHashes(by: .v1) != plain.versionHashes(by: .v1))
        }
        let stored = try model("a", isTransient: false)
        #expect(stored.entity("A")?.versionHash != plain.entity("A")?.versionHash)
        #expect(stored.entity("B")?.versionHash != plain.entity("B")?.versionHash)
        // The declaration of `A.b` stays the same, but its storage changes.
        let differences = stored.difference(from: try model("a"))
        #expect(differences.filter(\.changesVersionHash).map(\.property) == ["b", "a"])
        #expect(differences.first?.details == ["stored inverse: none → a"])
    }

    @Test("a changed entity changes its version hash and its subentities', not its superentities'")
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

    @Test("moving a letter between adjacent hashed texts changes the version hash")
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

    /// These hashes must never change, because programs and mapping documents contain them.
    @Test(
        "a version hash has the value of the worked example in MODEL-FORMAT.md",
        arguments: [
            (VersionHash.Recipe.v1, 179, "8b04d3f7f66824b3c78906b268c6b868"),
            (VersionHash.Recipe.v2, 177, "7312b0cefd23b7e516b279678b339152"),
        ])
    func workedExample(recipe: VersionHash.Recipe, count: Int, text expected: String) throws {
        let text = { (text: String) in [UInt8(text.utf8.count), 0, 0, 0, 0, 0, 0, 0] + Array(text.utf8) }
        let number = { (number: Int) in withUnsafeBytes(of: Int64(number).littleEndian) { Array($0) } }
        let notTransient: [UInt8] = recipe == .v1 ? [0] : []
        var bytes = text("roost entity \(recipe.rawValue)") + text("Track") + [0] + [0] + [0]
        bytes += number(1) + text("title") + number(700) + [0] + notTransient + [0] + [0] + [0] + [0] + number(0)
        bytes += number(1) + text("album") + [1] + notTransient + [0] + number(0) + number(1) + [0] + text("Album")
        bytes += [1] + text("tracks")
        bytes += number(1) + number(1) + text("title")
        let model = try Self.tracks()
        let wide = RecordHash.wide(bytes)
        let hash = try #require(model.versionHashes(by: recipe)["Track"])
        #expect(hash == VersionHash(high: wide.high, low: wide.low))
        #expect(bytes.count == count)
        #expect(hash.description == expected)
        #expect(VersionHash(hash.description) == hash)
        #expect((model.entity("Track")?.versionHash == hash) == (recipe == .current))
    }

    private static func tracks(_ transient: AttributeDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Track", attributes: [.string("title", isOptional: false)] + transient,
                relationships: [.toOne("album", to: "Album", inverse: "tracks")], uniquenessConstraints: [["title"]]),
            EntityDescription("Album", relationships: [.toMany("tracks", to: "Track", inverse: "album")]),
        ])
    }

    @Test("a transient attribute changes version hashes of the first recipe only")
    func transientAttributes() throws {
        let (plain, shown) = (
            try Self.tracks(), try Self.tracks(.boolean("isDownloading", isOptional: false).transient())
        )
        #expect(shown.versionHashes(by: .v1)["Track"] != plain.versionHashes(by: .v1)["Track"])
        #expect(shown.versionHashes(by: .v1)["Album"] == plain.versionHashes(by: .v1)["Album"])
        #expect(shown.versionHashes(by: .v2) == plain.versionHashes(by: .v2))
        #expect(shown.hasVersionHashes(of: plain))
        #expect(plain.versionHashes(by: .v1)["Track"]?.description == "8b04d3f7f66824b3c78906b268c6b868")
        #expect(shown.entities.map(\.layout.fields) == plain.entities.map(\.layout.fields))
    }

    @Test("metadata names the recipe of its version hashes")
    func metadata() throws {
        let model = try Self.tracks(.date("seen").transient())
        let metadata = StoreMetadata(type: "memory", formatVersion: 1, storeUUID: StoreUUID(), model: model)
        #expect(metadata.versionHashRecipe == .v2)
        #expect(metadata.versionHashes == model.versionHashes(by: .v2))
        #expect(try Self.tracks().isCompatible(with: metadata))
    }
}

extension RelationshipDescription {
    fileprivate var transient: Self {
        var result = self
        result.isTransient = true
        return result
    }
}
