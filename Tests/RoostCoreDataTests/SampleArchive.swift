/// Returns a compiled model like Core Data's, with most features of properties.
///
/// The entities are Animal, its subentity Cat, and Owner.
func sampleArchive() -> [UInt8] {
    var sample = SampleArchive()
    return sample.bytes()
}

private struct SampleArchive {
    private var archive: ArchiveWriter
    /// The reserved UIDs of entities and relationships, whose objects refer to each other.
    private let animal: TestPlist
    private let cat: TestPlist
    private let owner: TestPlist
    private let ownerOf: TestPlist
    private let pets: TestPlist
    private let selfExpression: TestPlist
    private let null = TestPlist.uid(0)

    init() {
        var archive = ArchiveWriter()
        (animal, cat, owner) = (archive.reserve(), archive.reserve(), archive.reserve())
        (ownerOf, pets) = (archive.reserve(), archive.reserve())
        selfExpression = archive.object("NSSelfExpression", fields: [("NSExpressionType", .int(1))])
        self.archive = archive
    }

    mutating func bytes() -> [UInt8] {
        let weight = decimal()
        let count = countOfPets()
        let inherited = animalProperties(weight: weight)
        let index = indexByName()
        writeAnimal(inherited, index: index)
        writeCat(inherited, index: index)
        writeOwner(count: count)
        let root = model()
        return archive.archive(root)
    }

    // MARK: Expressions and predicates

    private mutating func path(_ name: String) -> TestPlist {
        let specifier = archive.object(
            "NSKeyPathSpecifierExpression",
            fields: [("NSKeyPath", archive.string(name)), ("NSExpressionType", .int(10))])
        return archive.object(
            "NSKeyPathExpression",
            fields: [
                ("NSOperand", selfExpression), ("NSSelectorName", archive.string("valueForKey:")),
                ("NSArguments", archive.list([specifier])),
            ])
    }

    private mutating func constant(_ value: TestPlist) -> TestPlist {
        archive.object("NSConstantValueExpression", fields: [("NSConstantValue", archive.add(value))])
    }

    private mutating func comparison(_ left: TestPlist, type: Int64, to right: TestPlist) -> TestPlist {
        let operation = archive.object(
            "NSComparisonPredicateOperator",
            fields: [("NSOperatorType", .int(type)), ("NSModifier", .int(0)), ("NSOptions", .int(0))])
        return archive.object(
            "NSComparisonPredicate",
            fields: [("NSLeftExpression", left), ("NSRightExpression", right), ("NSPredicateOperator", operation)])
    }

    private mutating func attribute(
        _ name: String, type: Int64, fields: [(String, TestPlist)] = []
    ) -> (String, TestPlist) {
        (
            name,
            archive.object(
                "NSAttributeDescription",
                fields: [
                    ("NSPropertyName", archive.string(name)), ("NSAttributeType", .int(type)),
                    ("NSRenamingIdentifier", archive.string(name)),
                ] + fields)
        )
    }

    // MARK: Properties

    /// Writes the number -12.34.
    private mutating func decimal() -> TestPlist {
        archive.object(
            "NSDecimalNumberPlaceholder",
            fields: [
                ("NS.mantissa", .data([0xD2, 0x04] + [UInt8](repeating: 0, count: 14))), ("NS.mantissa.bo", .int(1)),
                ("NS.exponent", .int(-2)), ("NS.length", .int(1)), ("NS.negative", .bool(true)),
                ("NS.compact", .bool(true)),
            ])
    }

    private mutating func countOfPets() -> TestPlist {
        archive.object(
            "NSFunctionExpression",
            fields: [
                ("NSSelectorName", archive.string("count:")), ("NSArguments", archive.list([path("pets")])),
                (
                    "NSOperand",
                    archive.object(
                        "NSConstantValueExpression",
                        fields: [("NSConstantValueClassName", archive.string("_NSPredicateUtilities"))])
                ),
            ])
    }

    /// Writes the properties of Animal, which the archive lists again for Cat.
    private mutating func animalProperties(weight: TestPlist) -> [(String, TestPlist)] {
        [
            attribute(
                "name", type: 700,
                fields: [
                    (
                        "NSDefaultValue",
                        archive.object("NSMutableString", fields: [("NS.string", archive.string("näme"))])
                    ),
                    (
                        "NSValidationPredicates",
                        archive.list([
                            comparison(path("length"), type: 3, to: constant(.int(2))),
                            comparison(selfExpression, type: 6, to: constant(.string("[a-z]+"))),
                        ])
                    ),
                    ("NSUserInfo", archive.dictionary([("note", archive.string("n"))])),
                ]),
            attribute(
                "born", type: 900,
                fields: [
                    ("NSDefaultValue", archive.object("NSDate", fields: [("NS.time", .real(12.5))])),
                    ("NSIsOptional", .bool(true)),
                ]),
            attribute("weight", type: 400, fields: [("NSDefaultValue", weight)]),
            attribute(
                "photo", type: 1000,
                fields: [
                    ("NSFlagsKey", .int(4)), ("NSIsOptional", .bool(true)),
                    ("NSVersionHashModifier", archive.string("2")),
                ]),
            attribute(
                "count", type: 100,
                fields: [
                    ("NSDefaultValue", archive.add(.int(3))),
                    (
                        "NSValidationPredicates",
                        archive.list([comparison(selfExpression, type: 1, to: constant(.int(9)))])
                    ),
                ]),
            (
                "owner",
                archive.object(
                    "NSRelationshipDescription",
                    fields: [
                        ("NSPropertyName", archive.string("owner")),
                        ("_NSDestinationEntityName", archive.string("Owner")),
                        ("NSDestinationEntity", owner),
                        ("_NSInverseRelationshipName", archive.string("pets")), ("NSInverseRelationship", pets),
                        ("NSMaxCount", .int(1)),
                        ("NSMinCount", .int(0)), ("NSDeleteRule", .int(1)), ("NSIsOptional", .bool(true)),
                        ("NSRenamingIdentifier", archive.string("keeper")),
                    ], at: ownerOf)
            ),
        ]
    }

    private mutating func indexByName() -> TestPlist {
        archive.object(
            "NSFetchIndexDescription",
            fields: [
                ("NSIndexName", archive.string("byName")), ("NSEntity", animal),
                ("NSPartialIndexPredicate", comparison(path("count"), type: 2, to: constant(.int(0)))),
                (
                    "NSIndexElements",
                    archive.list([
                        archive.object(
                            "NSFetchIndexElementDescription",
                            fields: [
                                ("NSPropertyName", archive.string("name")), ("NSFetchIndexElementType", .int(0)),
                                ("NSAscending", .bool(false)),
                            ])
                    ])
                ),
            ])
    }

    // MARK: Entities

    private mutating func writeAnimal(_ inherited: [(String, TestPlist)], index: TestPlist) {
        let properties = archive.dictionary(inherited)
        _ = archive.object(
            "NSEntityDescription",
            fields: [
                ("NSEntityName", archive.string("Animal")), ("NSProperties", properties), ("NSSuperentity", null),
                ("NSIsAbstract", .bool(true)),
                ("NSClassNameForEntity", archive.string("NSManagedObject")),
                ("NSSubentities", archive.dictionary([("Cat", cat)])),
                ("NSUniqueTuples", archive.list([archive.list([archive.string("name")])])),
                ("NSFetchIndexDescriptions", archive.list([index])),
                ("NSCompoundIndexes", archive.list([archive.list([archive.string("name")])])),
                ("NSRenamingIdentifier", archive.string("Beast")),
            ], at: animal)
    }

    private mutating func writeCat(_ inherited: [(String, TestPlist)], index: TestPlist) {
        let properties = archive.dictionary(
            inherited + [
                attribute(
                    "lives", type: 800,
                    fields: [("NSDefaultValue", archive.add(.bool(true))), ("NSIsTransient", .bool(false))])
            ])
        _ = archive.object(
            "NSEntityDescription",
            fields: [
                ("NSEntityName", archive.string("Cat")), ("NSProperties", properties), ("NSSuperentity", animal),
                ("NSClassNameForEntity", archive.string("Cat")), ("NSFetchIndexDescriptions", archive.list([index])),
            ], at: cat)
    }

    private mutating func writeOwner(count: TestPlist) {
        let total = archive.object(
            "NSDerivedAttributeDescription",
            fields: [
                ("NSPropertyName", archive.string("total")), ("NSAttributeType", .int(300)),
                ("NSIsOptional", .bool(true)),
                ("NSDerivationExpression", count),
            ])
        let petsObject = archive.object(
            "NSRelationshipDescription",
            fields: [
                ("NSPropertyName", archive.string("pets")), ("_NSDestinationEntityName", archive.string("Animal")),
                ("NSDestinationEntity", animal),
                ("_NSInverseRelationshipName", archive.string("owner")), ("NSInverseRelationship", ownerOf),
                ("NSMaxCount", .int(-1)),
                ("NSMinCount", .int(0)), ("NSDeleteRule", .int(3)), ("NSIsOptional", .bool(true)),
                ("NSIsOrdered", .bool(true)),
            ], at: pets)
        _ = archive.object(
            "NSEntityDescription",
            fields: [
                ("NSEntityName", archive.string("Owner")),
                ("NSProperties", archive.dictionary([("total", total), ("pets", petsObject)])), ("NSSuperentity", null),
                ("NSUserInfo", archive.dictionary([("key", archive.string("value"))])),
                ("NSVersionHashModifier", archive.string("x")),
            ], at: owner)
    }

    private mutating func model() -> TestPlist {
        let entities = archive.knownKeys([("Animal", animal), ("Cat", cat), ("Gone", nil), ("Owner", owner)])
        return archive.object(
            "NSManagedObjectModel",
            fields: [
                ("NSEntities", entities), ("NSFetchRequestTemplates", null),
                ("NSVersionIdentifiers", archive.list([archive.string("v1"), archive.string("")], className: "NSSet")),
                ("NSConfigurations", archive.dictionary([("Some", archive.list([owner], className: "NSSet"))])),
            ])
    }
}
