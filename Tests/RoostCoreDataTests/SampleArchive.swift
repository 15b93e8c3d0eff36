/// A compiled model in the manner of Core Data: Animal with subentity Cat, Owner, and everything a
/// property can have.
func sampleArchive() -> [UInt8] {
    var a = ArchiveWriter()
    let null = TestPlist.uid(0)
    let (animal, cat, owner) = (a.reserve(), a.reserve(), a.reserve())
    let (ownerOf, pets) = (a.reserve(), a.reserve())
    let selfExpression = a.object("NSSelfExpression", [("NSExpressionType", .int(1))])
    func path(_ name: String) -> TestPlist {
        let specifier = a.object(
            "NSKeyPathSpecifierExpression", [("NSKeyPath", a.string(name)), ("NSExpressionType", .int(10))])
        return a.object(
            "NSKeyPathExpression",
            [
                ("NSOperand", selfExpression), ("NSSelectorName", a.string("valueForKey:")),
                ("NSArguments", a.list([specifier])),
            ])
    }
    func constant(_ value: TestPlist) -> TestPlist {
        a.object("NSConstantValueExpression", [("NSConstantValue", a.add(value))])
    }
    func comparison(_ left: TestPlist, _ type: Int64, _ right: TestPlist) -> TestPlist {
        let operation = a.object(
            "NSComparisonPredicateOperator",
            [("NSOperatorType", .int(type)), ("NSModifier", .int(0)), ("NSOptions", .int(0))])
        return a.object(
            "NSComparisonPredicate",
            [("NSLeftExpression", left), ("NSRightExpression", right), ("NSPredicateOperator", operation)])
    }
    func attribute(_ name: String, _ type: Int64, _ more: [(String, TestPlist)] = []) -> (String, TestPlist) {
        (
            name,
            a.object(
                "NSAttributeDescription",
                [
                    ("NSPropertyName", a.string(name)), ("NSAttributeType", .int(type)),
                    ("NSRenamingIdentifier", a.string(name)),
                ] + more)
        )
    }
    let decimal = a.object(
        "NSDecimalNumberPlaceholder",
        [
            ("NS.mantissa", .data([0xD2, 0x04] + [UInt8](repeating: 0, count: 14))), ("NS.mantissa.bo", .int(1)),
            ("NS.exponent", .int(-2)), ("NS.length", .int(1)), ("NS.negative", .bool(true)),
            ("NS.compact", .bool(true)),
        ])
    let count = a.object(
        "NSFunctionExpression",
        [
            ("NSSelectorName", a.string("count:")), ("NSArguments", a.list([path("pets")])),
            (
                "NSOperand",
                a.object("NSConstantValueExpression", [("NSConstantValueClassName", a.string("_NSPredicateUtilities"))])
            ),
        ])
    let inherited: [(String, TestPlist)] = [
        attribute(
            "name", 700,
            [
                ("NSDefaultValue", a.object("NSMutableString", [("NS.string", a.string("näme"))])),
                (
                    "NSValidationPredicates",
                    a.list([
                        comparison(path("length"), 3, constant(.int(2))),
                        comparison(selfExpression, 6, constant(.string("[a-z]+"))),
                    ])
                ),
                ("NSUserInfo", a.dictionary([("note", a.string("n"))])),
            ]),
        attribute(
            "born", 900,
            [("NSDefaultValue", a.object("NSDate", [("NS.time", .real(12.5))])), ("NSIsOptional", .bool(true))]),
        attribute("weight", 400, [("NSDefaultValue", decimal)]),
        attribute(
            "photo", 1000,
            [("NSFlagsKey", .int(4)), ("NSIsOptional", .bool(true)), ("NSVersionHashModifier", a.string("2"))]),
        attribute(
            "count", 100,
            [
                ("NSDefaultValue", a.add(.int(3))),
                ("NSValidationPredicates", a.list([comparison(selfExpression, 1, constant(.int(9)))])),
            ]),
        (
            "owner",
            a.object(
                "NSRelationshipDescription",
                [
                    ("NSPropertyName", a.string("owner")), ("_NSDestinationEntityName", a.string("Owner")),
                    ("NSDestinationEntity", owner),
                    ("_NSInverseRelationshipName", a.string("pets")), ("NSInverseRelationship", pets),
                    ("NSMaxCount", .int(1)),
                    ("NSMinCount", .int(0)), ("NSDeleteRule", .int(1)), ("NSIsOptional", .bool(true)),
                    ("NSRenamingIdentifier", a.string("keeper")),
                ], at: ownerOf)
        ),
    ]
    let index = a.object(
        "NSFetchIndexDescription",
        [
            ("NSIndexName", a.string("byName")), ("NSEntity", animal),
            ("NSPartialIndexPredicate", comparison(path("count"), 2, constant(.int(0)))),
            (
                "NSIndexElements",
                a.list([
                    a.object(
                        "NSFetchIndexElementDescription",
                        [
                            ("NSPropertyName", a.string("name")), ("NSFetchIndexElementType", .int(0)),
                            ("NSAscending", .bool(false)),
                        ])
                ])
            ),
        ])
    let animalProperties = a.dictionary(inherited)
    _ = a.object(
        "NSEntityDescription",
        [
            ("NSEntityName", a.string("Animal")), ("NSProperties", animalProperties), ("NSSuperentity", null),
            ("NSIsAbstract", .bool(true)),
            ("NSClassNameForEntity", a.string("NSManagedObject")), ("NSSubentities", a.dictionary([("Cat", cat)])),
            ("NSUniqueTuples", a.list([a.list([a.string("name")])])), ("NSFetchIndexDescriptions", a.list([index])),
            ("NSCompoundIndexes", a.list([a.list([a.string("name")])])), ("NSRenamingIdentifier", a.string("Beast")),
        ], at: animal)
    let catProperties = a.dictionary(
        inherited + [
            attribute("lives", 800, [("NSDefaultValue", a.add(.bool(true))), ("NSIsTransient", .bool(false))])
        ])
    _ = a.object(
        "NSEntityDescription",
        [
            ("NSEntityName", a.string("Cat")), ("NSProperties", catProperties), ("NSSuperentity", animal),
            ("NSClassNameForEntity", a.string("Cat")), ("NSFetchIndexDescriptions", a.list([index])),
        ], at: cat)
    let total = a.object(
        "NSDerivedAttributeDescription",
        [
            ("NSPropertyName", a.string("total")), ("NSAttributeType", .int(300)), ("NSIsOptional", .bool(true)),
            ("NSDerivationExpression", count),
        ])
    let petsObject = a.object(
        "NSRelationshipDescription",
        [
            ("NSPropertyName", a.string("pets")), ("_NSDestinationEntityName", a.string("Animal")),
            ("NSDestinationEntity", animal),
            ("_NSInverseRelationshipName", a.string("owner")), ("NSInverseRelationship", ownerOf),
            ("NSMaxCount", .int(-1)),
            ("NSMinCount", .int(0)), ("NSDeleteRule", .int(3)), ("NSIsOptional", .bool(true)),
            ("NSIsOrdered", .bool(true)),
        ], at: pets)
    _ = a.object(
        "NSEntityDescription",
        [
            ("NSEntityName", a.string("Owner")),
            ("NSProperties", a.dictionary([("total", total), ("pets", petsObject)])), ("NSSuperentity", null),
            ("NSUserInfo", a.dictionary([("key", a.string("value"))])), ("NSVersionHashModifier", a.string("x")),
        ], at: owner)
    let entities = a.knownKeys([("Animal", animal), ("Cat", cat), ("Gone", nil), ("Owner", owner)])
    let root = a.object(
        "NSManagedObjectModel",
        [
            ("NSEntities", entities), ("NSFetchRequestTemplates", null),
            ("NSVersionIdentifiers", a.list([a.string("v1"), a.string("")], "NSSet")),
            ("NSConfigurations", a.dictionary([("Some", a.list([owner], "NSSet"))])),
        ])
    return a.archive(root)
}
