import Foundation
import RoostCore
import Testing

@testable import RoostAppleModels
@testable import RoostCoreData

@Suite("Compiled models")
struct ModelCacheTests {
    @Test("a compressed compiled model is read with all its entities and properties")
    func readsEverything() throws {
        let read = try ModelCacheReader.read(compressed: deflateStored(sampleArchive()), file: "s")
        #expect(read.warnings.isEmpty)
        let model = read.model
        let animal = try model.requireEntity("Animal").declaration
        #expect(animal.isAbstract && animal.renamingIdentifier == "Beast" && animal.managedObjectClassName == nil)
        #expect(animal.uniquenessConstraints == [["name"]])
        #expect(
            animal.fetchIndexes == [
                FetchIndexDescription(
                    "byName", elements: [.init("name", isAscending: false)], partialIndexPredicateFormat: "count > 0")
            ])
        let attributes = Dictionary(uniqueKeysWithValues: animal.attributes.map { ($0.name, $0) })
        #expect(attributes["name"]?.defaultValue == .string("näme") && attributes["name"]?.userInfo == ["note": "n"])
        #expect(attributes["name"]?.validation == AttributeValidation(minimumLength: 2, regularExpression: "[a-z]+"))
        #expect(attributes["born"]?.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 12.5)))
        #expect(attributes["weight"]?.defaultValue == .decimal(try #require(Decimal(string: "-12.34"))))
        #expect(
            attributes["photo"]?.allowsExternalBinaryDataStorage == true
                && attributes["photo"]?.versionHashModifier == "2")
        #expect(attributes["count"]?.defaultValue == .int(3) && attributes["count"]?.validation.maximum == .int(9))
        let owner = try #require(animal.relationships.first)
        #expect(owner.maxCount == 1 && owner.renamingIdentifier == "keeper" && owner.inverseName == "pets")
        // Inherited properties and indexes, which the archive repeats, belong only to the superentity.
        let cat = try model.requireEntity("Cat").declaration
        #expect(cat.attributes.map(\.name) == ["lives"] && cat.relationships.isEmpty && cat.fetchIndexes.isEmpty)
        #expect(cat.attributes.first?.defaultValue == .bool(true) && cat.superentityName == "Animal")
        let keeper = try model.requireEntity("Owner").declaration
        #expect(keeper.attributes.first?.derivationExpression == "pets.@count" && keeper.userInfo == ["key": "value"])
        #expect(
            keeper.relationships.first?.isOrdered == true && keeper.relationships.first?.maxCount == nil
                && keeper.relationships.first?.deleteRule == .deny)
        #expect(model.configurations == ["Some": ["Owner"]] && model.versionIdentifiers == ["v1"])
    }

    @Test("an uncompressed .mom file is read")
    func compiledFile() throws {
        let directory = try TemporaryDirectory()
        try Data(sampleArchive()).write(to: URL(fileURLWithPath: directory.file("M.mom")))
        #expect(try CoreDataModelReader.read(at: directory.file("M.mom")).model.entities.count == 3)
    }

    /// Reads a compiled model of an entity with an expression for its display name in Spotlight.
    private func modelWithDisplayName(
        _ make: (inout ArchiveWriter) -> TestPlist
    ) throws -> (expression: String?, warnings: [String]) {
        var writer = ArchiveWriter()
        let entity = writer.object(
            "NSEntityDescription",
            fields: [
                ("NSEntityName", writer.string("Note")), ("NSCoreSpotlightDisplayNameExpression", make(&writer)),
            ])
        let root = writer.object(
            "NSManagedObjectModel", fields: [("NSEntities", writer.dictionary([("Note", entity)]))])
        let read = try ModelCacheReader.read(archive: writer.archive(root), file: "s")
        let declaration = try read.model.requireEntity("Note").declaration
        return (declaration.coreSpotlightDisplayNameExpression, read.warnings.map(\.message))
    }

    @Test("the expression for an entity's display name in Spotlight is read as text")
    func displayName() throws {
        let read = try modelWithDisplayName { writer in
            let specifier = writer.object(
                "NSKeyPathSpecifierExpression", fields: [("NSKeyPath", writer.string("title"))])
            return writer.object(
                "NSKeyPathExpression",
                fields: [
                    ("NSOperand", writer.object("NSSelfExpression", fields: [])),
                    ("NSArguments", writer.list([specifier])),
                ])
        }
        #expect(read.expression == "title")
        #expect(read.warnings == [])
    }

    @Test("a display name expression for Spotlight gives a warning if the expression has no text form")
    func displayNameWithoutText() throws {
        let read = try modelWithDisplayName { $0.object("NSBlockExpression", fields: []) }
        #expect(read.expression == nil)
        #expect(read.warnings.count == 1)
        #expect(read.warnings.first?.contains("its display name in Spotlight has no text form") == true)
    }

    @Test(
        "a predicate of a compiled model keeps all options of its comparison",
        arguments: [(0, "=="), (1, "==[c]"), (3, "==[cd]"), (8, "==[l]"), (15, "==[cdnl]")] as [(Int64, String)])
    func comparisonOptions(options: Int64, symbol: String) throws {
        var writer = ArchiveWriter()
        let object = writer.object("NSSelfExpression", fields: [])
        let operation = writer.object(
            "NSEqualityPredicateOperator", fields: [("NSOperatorType", .int(4)), ("NSOptions", .int(options))])
        let comparison = writer.object(
            "NSComparisonPredicate",
            fields: [("NSLeftExpression", object), ("NSRightExpression", object), ("NSPredicateOperator", operation)])
        let archive = try KeyedArchive(writer.archive(comparison), file: "m")
        #expect(try PredicateText.predicate(archive.rootObject()) == "SELF \(symbol) SELF")
    }

    @Test(
        "a comparison of a compiled model keeps its modifier, and has no text form if the modifier is unknown",
        arguments: [(0, "SELF == SELF"), (1, "ALL SELF == SELF"), (2, "ANY SELF == SELF"), (3, nil), (-1, nil)]
            as [(Int64, String?)])
    func comparisonModifier(modifier: Int64, text: String?) throws {
        var writer = ArchiveWriter()
        let object = writer.object("NSSelfExpression", fields: [])
        let operation = writer.object(
            "NSEqualityPredicateOperator", fields: [("NSOperatorType", .int(4)), ("NSModifier", .int(modifier))])
        let comparison = writer.object(
            "NSComparisonPredicate",
            fields: [("NSLeftExpression", object), ("NSRightExpression", object), ("NSPredicateOperator", operation)])
        let archive = try KeyedArchive(writer.archive(comparison), file: "m")
        #expect(try PredicateText.predicate(archive.rootObject()) == text)
    }

    @Test("decompression beyond its limit fails")
    func bomb() throws {
        // The compressed stream expands to about 159 times its size.
        let packed = try #require(Self.zeros)
        let error = try failure { try Inflate.raw(packed, limit: 1 << 20, what: "the bomb") }
        #expect(error.code == .limitExceeded)
    }

    /// Eight million zero bytes as a DEFLATE stream with fixed codes: a literal 0, then matches of
    /// length 258 at distance 1.
    static let zeros: [UInt8]? = {
        var bytes: [UInt8] = []
        var (buffer, count): (UInt64, Int) = (0, 0)
        func put(_ value: UInt64, bitCount bits: Int) {
            buffer |= value << UInt64(count)
            count += bits
            while count >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: buffer))
                buffer >>= 8
                count -= 8
            }
        }
        put(1, bitCount: 1)
        put(1, bitCount: 2)
        // Codes are written most significant bit first: literal 0 is 00110000, length 258 is
        // 11000101, distance 1 is 00000.
        put(0b0000_1100, bitCount: 8)
        for _ in 0..<32_000 { put(0b1010_0011, bitCount: 8); put(0, bitCount: 5) }
        put(0, bitCount: 7)
        put(0, bitCount: 8)
        return bytes
    }()

    @Test("a damaged compiled model is read or gives an error, and never crashes")
    func damaged() throws {
        let bytes = sampleArchive()
        var generator = Generator(state: 7)
        for round in 0..<1000 {
            var changed = bytes
            for _ in 0...(round % 3) {
                changed[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
            }
            if round % 10 == 0 { changed = Array(changed.prefix(Int(generator.next() % UInt64(bytes.count)))) }
            do {
                _ = try ModelCacheReader.read(archive: changed, file: "s")
            } catch let error {
                #expect([.corrupted, .invalidModel, .limitExceeded].contains(error.code), "\(error)")
            }
        }
    }

    @Test("a property list that unfolds to 10^20 values is refused")
    func repeating() throws {
        // Twenty arrays, each holding the next one ten times: 10^20 values if unfolded.
        var objects: [[UInt8]] = (0..<20).map { level in [0xAA] + [UInt8](repeating: UInt8(level + 1), count: 10) }
        objects.append([0x09])
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt8(bytes.count)
        bytes +=
            offsets + [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 21] + [UInt8](repeating: 0, count: 15) + [table]
        let error = try failure { try PropertyListValue.read(bytes, file: "f") }
        #expect(error.code == .limitExceeded || error.code == .corrupted)
    }
}

/// Random numbers (SplitMix64).
struct Generator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
