import Foundation
import RoostCore
import TestSamples
import Testing

@Suite("Model validation")
struct ModelValidatorTests {
    struct Flaw: CustomTestStringConvertible, Sendable {
        let message: String
        let entities: [EntityDescription]
        var configurations: [String: [String]] = [:]
        var templates: [FetchRequestTemplate] = []
        var testDescription: String { message }

        init(_ message: String, _ entities: EntityDescription...) {
            self.message = message
            self.entities = entities
        }

        init(_ message: String, attribute: AttributeDescription) {
            self.init(message, EntityDescription("A", attributes: [attribute]))
        }

        init(_ message: String, relationship: RelationshipDescription, _ others: RelationshipDescription...) {
            self.init(
                message, EntityDescription("A", relationships: [relationship]),
                EntityDescription("B", relationships: others))
        }

        init(_ message: String, index: FetchIndexDescription) { self.init(message, Self.entity(indexes: [index])) }

        init(_ message: String, constraint: [String]) { self.init(message, Self.entity(constraints: [constraint])) }

        /// Returns an entity with one property of each kind.
        static func entity(
            constraints: [[String]] = [], indexes: [FetchIndexDescription] = []
        ) -> EntityDescription {
            EntityDescription(
                "A",
                attributes: [
                    .string("text"), .double("number"), .string("passing").transient(),
                    .composite("place", elements: [.double("x"), .double("y")]),
                ],
                relationships: [.toOne("one", to: "A"), .toMany("many", to: "A")],
                uniquenessConstraints: constraints
            ).with {
                $0.fetchedProperties = [FetchedPropertyDescription("found", entity: "A")]
                $0.fetchIndexes = indexes
            }
        }
    }

    static let flaws: [Flaw] = names + inheritance + attributes + composites + derivations + relationships + keys

    static let names: [Flaw] = [
        Flaw("A: Another entity has this name too.", EntityDescription("A"), EntityDescription("A")),
        Flaw(
            "A.x: Another property of the entity has this name too.",
            EntityDescription("A", attributes: [.string("x"), .date("x")])),
        Flaw(
            "A.x: Another property of the entity has this name too.",
            EntityDescription("A", attributes: [.string("x")], relationships: [.toOne("x", to: "A")])),
        Flaw(
            "B.x: The entity inherits a property of this name from 'A'.",
            EntityDescription("A", attributes: [.string("x")]),
            EntityDescription("B", superentity: "A", attributes: [.string("x")])),
        Flaw("The entity's name is empty.", EntityDescription("")),
        Flaw("The entity's name is longer than 255 bytes.", EntityDescription(String(repeating: "é", count: 128))),
        Flaw("The property's name contains a control character.", attribute: .string("a\u{0}b")),
        Flaw("A.a.b: The property's name contains '.'.", attribute: .string("a.b")),
        Flaw("A.a#b: The property's name contains '#'.", attribute: .string("a#b")),
        Flaw("A/B: The entity's name contains '/'.", EntityDescription("A/B")),
        Flaw("The property's name is not in Unicode's composed form (NFC).", attribute: .string("e\u{301}")),
        Flaw("A.hash: The name is reserved", attribute: .string("hash")),
        Flaw("A.objectID: The name is reserved", relationship: .toOne("objectID", to: "B")),
        Flaw(
            "A.managedObjectContext: The name is reserved",
            EntityDescription("A").with {
                $0.fetchedProperties = [FetchedPropertyDescription("managedObjectContext", entity: "A")]
            }
        ),
    ]

    static let inheritance: [Flaw] = [
        Flaw(
            "B: The model has no entity 'Aa' to inherit from; did you mean 'A'?", EntityDescription("A"),
            EntityDescription("B", superentity: "Aa")),
        Flaw("A: The entity inherits from itself: A → A.", EntityDescription("A", superentity: "A")),
        Flaw(
            "B: The entity inherits from itself: B → A → B.", EntityDescription("A", superentity: "B"),
            EntityDescription("B", superentity: "A"), EntityDescription("C", superentity: "B")),
    ]

    static let attributes: [Flaw] = [
        Flaw("A.x: An attribute that is stored needs a type", attribute: AttributeDescription("x", type: .undefined)),
        Flaw(
            "A.x: The default value is a string; the type is boolean.",
            attribute: AttributeDescription("x", type: .boolean, defaultValue: "yes")),
        Flaw(
            "is an integer; the type is double.", attribute: AttributeDescription("x", type: .double, defaultValue: 1)),
        Flaw(
            "is out of the range of 16 bits.",
            attribute: AttributeDescription("x", type: .integer16, defaultValue: 32_768)),
        Flaw(
            "is out of the range of 32 bits.",
            attribute: AttributeDescription("x", type: .integer32, defaultValue: -2_147_483_649)),
        Flaw("is out of the range of a float.", attribute: AttributeDescription("x", type: .float, defaultValue: 1e39)),
        Flaw(
            "has more than 38 digits",
            attribute: .decimal("x", default: Decimal(string: "340282366920938463463374607431768211455") ?? 0)),
        Flaw(
            "The default value must be null for the type objectID.",
            attribute: AttributeDescription("x", type: .objectID, defaultValue: 1)),
        Flaw(
            "The default value must be null for the type undefined.",
            attribute: AttributeDescription("x", type: .undefined, defaultValue: 1).with { $0.isTransient = true }),
        Flaw(
            "A.x: The minimum is a floating-point number; the type is integer64.",
            attribute: AttributeDescription("x", type: .integer64).with {
                $0.validation = AttributeValidation(minimum: 1.5)
            }),
        Flaw(
            "A.x: A maximum has no meaning for the type string.",
            attribute: AttributeDescription("x", type: .string).with { $0.validation = AttributeValidation(maximum: 3) }
        ),
        Flaw(
            "A.x: A minimum length has no meaning for the type date.",
            attribute: AttributeDescription("x", type: .date).with {
                $0.validation = AttributeValidation(minimumLength: 3)
            }),
        Flaw("A.x: The maximum length is negative.", attribute: .string("x", maximumLength: -1)),
        Flaw(
            "A.x: A regular expression has no meaning for the type uuid.",
            attribute: AttributeDescription("x", type: .uuid).with {
                $0.validation = AttributeValidation(regularExpression: "a")
            }),
    ]

    static let composites: [Flaw] = [
        Flaw("A.x: A composite needs at least one element.", attribute: .composite("x", elements: [])),
        Flaw(
            "A.x: Only an attribute of type composite has elements.",
            attribute: AttributeDescription("x", type: .string, elements: [.string("y")])),
        Flaw(
            "A.x.y: An element of a composite cannot be of type objectID.",
            attribute: .composite("x", elements: [AttributeDescription("y", type: .objectID)])),
        Flaw(
            "A.x.y.z: An element of a composite cannot be of type undefined.",
            attribute: .composite(
                "x", elements: [.composite("y", elements: [AttributeDescription("z", type: .undefined)])])),
        Flaw(
            "A.x.y: Another element of the composite has this name too.",
            attribute: .composite("x", elements: [.string("y"), .date("y")])),
        Flaw(
            "A.x.y: An element of a composite cannot be transient.",
            attribute: .composite("x", elements: [.string("y").transient()])),
        Flaw(
            "A.x.y: An element of a composite cannot be derived.",
            attribute: .composite("x", elements: [.derived("y", type: .date, from: "now()")])),
        Flaw(
            "A.x.y: An element of a composite cannot allow external storage.",
            attribute: .composite(
                "x",
                elements: [
                    AttributeDescription("y", type: .binaryData).with { $0.allowsExternalBinaryDataStorage = true }
                ])),
        Flaw("A.x.a/b: The element's name contains '/'.", attribute: .composite("x", elements: [.string("a/b")])),
        Flaw(
            "The default value names 'z', which is not an element of the composite.",
            attribute: AttributeDescription(
                "x", type: .composite, defaultValue: .composite(["z": 1]), elements: [.string("y")])),
        Flaw(
            "The default value of the element 'y' is an integer; the type is string.",
            attribute: AttributeDescription(
                "x", type: .composite, defaultValue: .composite(["y": 1]), elements: [.string("y")])),
        Flaw(
            "Composites nest at most 16 deep.",
            attribute: (0..<40).reduce(.string("y")) { element, _ in .composite("x", elements: [element]) }),
    ]

    static let derivations: [Flaw] =
        [
            "", "many.@sum.number", "many.@count.x", "lower:(text)", "canonical(text)", "canonical:(text", "@count",
            "a..b", "many.@median", "text + text", "many.@count.@sum",
        ].map { expression in
            Flaw(
                "A.d: The derivation expression must have one of these forms",
                attribute: .derived("d", type: .double, from: expression))
        }
        + [
            ("tex", "refers to 'tex', which does not exist; did you mean 'text'?"),
            ("one.nmber", "refers to 'nmber', which does not exist; did you mean 'number'?"),
            ("text.number", "refers to 'number', which does not exist"),
            ("many.number", "leads through a to-many relationship"),
            ("one.@count", "An aggregate needs exactly one to-many relationship"),
            ("number.@sum", "An aggregate needs exactly one to-many relationship"),
            ("found.@count", "refers to a fetched property"),
        ].map { expression, message in
            var entity = Flaw.entity()
            entity.attributes.append(.derived("d", type: .double, from: expression))
            return Flaw(message, entity)
        }

    static let relationships: [Flaw] = [
        Flaw("A.r: The model has no entity 'Bb'; did you mean 'B'?", relationship: .toOne("r", to: "Bb")),
        Flaw(
            "A.r: The inverse 'B.tracsk' does not exist; did you mean 'tracks'?",
            relationship: .toOne("r", to: "B", inverse: "tracsk"), .toMany("tracks", to: "A")),
        Flaw(
            "A.r: The inverse 'B.s' must name this relationship as its inverse, but has no inverse",
            relationship: .toOne("r", to: "B", inverse: "s"), .toMany("s", to: "A")),
        Flaw(
            "A.r: The inverse 'B.s' must name this relationship as its inverse, but names 'q'",
            relationship: .toOne("r", to: "B", inverse: "s"), .toMany("s", to: "A", inverse: "q")),
        Flaw(
            "A.r: The inverse 'B.s' refers to 'B', which does not have this relationship.",
            relationship: .toOne("r", to: "B", inverse: "s"), .toMany("s", to: "B", inverse: "r"),
            .toOne("r", to: "B", inverse: "s")),
        Flaw(
            "A.r: The inverse 'B.x' is not a relationship.",
            EntityDescription("A", relationships: [.toOne("r", to: "B", inverse: "x")]),
            EntityDescription("B", attributes: [.string("x")])),
        Flaw(
            "A.r: A relationship to one object has no order",
            relationship: RelationshipDescription("r", destination: "B", inverse: nil, maxCount: 1).with {
                $0.isOrdered = true
            }),
        Flaw(
            "A.r: The minimum count is greater than the maximum count.",
            relationship: RelationshipDescription("r", destination: "B", inverse: nil, minCount: 3, maxCount: 2)),
        Flaw(
            "A.r: The minimum count is negative.",
            relationship: RelationshipDescription("r", destination: "B", inverse: nil, minCount: -1, maxCount: nil)),
        Flaw(
            "A.r: The maximum count is below 1",
            relationship: RelationshipDescription("r", destination: "B", inverse: nil, maxCount: 0)),
        Flaw(
            "A.f: The model has no entity 'Zebra'.",
            EntityDescription("A").with { $0.fetchedProperties = [FetchedPropertyDescription("f", entity: "Zebra")] }),
    ]

    static let keys: [Flaw] = [
        Flaw("A: Uniqueness constraint 1 names no attribute.", constraint: []),
        Flaw("A: Uniqueness constraint 1: the entity has no property 'txt'; did you mean 'text'?", constraint: ["txt"]),
        Flaw("A: Uniqueness constraint 1 names a property twice.", constraint: ["text", "text"]),
        Flaw("A: Uniqueness constraint 1: 'passing' is transient.", constraint: ["text", "passing"]),
        Flaw("A: Uniqueness constraint 1: 'many' is a to-many relationship.", constraint: ["many"]),
        Flaw("A: Uniqueness constraint 1: 'found' is a fetched property.", constraint: ["found"]),
        Flaw("A: Uniqueness constraint 1: 'place' is a composite; name its elements.", constraint: ["place"]),
        Flaw("A: Uniqueness constraint 1: the composite 'place' has no element 'place.z'.", constraint: ["place.z"]),
        Flaw(
            "A: Uniqueness constraint 2 lists the same properties as an earlier constraint.",
            Flaw.entity(constraints: [["text"], ["text"]])),
        Flaw("A: Fetch index 'i' has no elements.", index: FetchIndexDescription("i")),
        Flaw("A: Fetch index 'i': the entity has no property 'x'", index: FetchIndexDescription("i", on: "x")),
        Flaw("A: Fetch index 'i': 'passing' is transient.", index: FetchIndexDescription("i", on: "passing")),
        Flaw(
            "A: Fetch index 'i': 'one.text' leads through a relationship.",
            index: FetchIndexDescription("i", on: "one.text")),
        Flaw("A: Fetch index 'i' names a property twice.", index: FetchIndexDescription("i", on: "text", "text")),
        Flaw(
            "A: Fetch index 'i' mixes binary and rTree elements.",
            index: FetchIndexDescription("i", elements: [.init("number", collation: .rTree), .init("text")])),
        Flaw(
            "A: Fetch index 'i': 'text' is not a number; an rTree holds numbers only.",
            index: FetchIndexDescription("i", elements: [.init("text", collation: .rTree)])),
        Flaw("A: Fetch index '': its name is empty.", index: FetchIndexDescription("", on: "text")),
        Flaw(
            "A: Two fetch indexes have the name 'i'.",
            Flaw.entity(indexes: [FetchIndexDescription("i", on: "text"), FetchIndexDescription("i", on: "number")])),
    ]

    @Test("a flaw of a model is reported with its place", arguments: flaws)
    func flaw(_ flaw: Flaw) throws {
        let error = try #require(storeError { _ = try ManagedObjectModel(entities: flaw.entities) })
        #expect(error.code == .invalidModel)
        #expect(error.message.contains(flaw.message), "\(error.message)")
    }

    @Test("configurations and fetch request templates with wrong names are reported")
    func groups() throws {
        let error = try #require(
            storeError {
                _ = try ManagedObjectModel(
                    entities: [EntityDescription("A")], configurations: ["C": ["A", "Aa", "A"], "": []],
                    fetchRequestTemplates: [
                        FetchRequestTemplate("t", entity: "Z"), FetchRequestTemplate("t", entity: "A"),
                    ])
            })
        for part in [
            "Configuration 'C': the model has no entity 'Aa'; did you mean 'A'?",
            "Configuration 'C' lists entity 'A' twice.",
            "Configuration '': its name is empty.", "Fetch request template 't': the model has no entity 'Z'",
            "Two fetch request templates have the name 't'.",
        ] {
            #expect(error.message.contains(part), "\(part) is missing in \(error.message)")
        }
    }

    @Test("all problems of a model are reported at once")
    func allAtOnce() throws {
        let error = try #require(
            storeError {
                _ = try ManagedObjectModel(entities: [
                    EntityDescription(
                        "A", superentity: "X",
                        attributes: [.string("a.b"), AttributeDescription("n", type: .undefined)]),
                    EntityDescription("B", relationships: [.toOne("r", to: "Y")], uniquenessConstraints: [[]]),
                ])
            })
        #expect(error.message.split(separator: "\n").count == 1 + 5)
    }

    @Test("a model with unusual features of real models is valid")
    func realModels() throws {
        let model = try ManagedObjectModel(
            entities: [
                EntityDescription(
                    "Base",
                    attributes: [
                        AttributeDescription("anything", type: .undefined).with { $0.isTransient = true },
                        .integer64("order", isOptional: false),
                        .string("title", default: ""), .string("Title"), .binaryData("image"),
                        .transformable("colors"),
                    ],
                    relationships: [.toMany("parts", to: "Part", inverse: "whole"), .toOne("oneWay", to: "Part")],
                    uniquenessConstraints: [["image"], ["oneWay", "title"]]
                ).with {
                    $0.isAbstract = true
                    $0.fetchIndexes = [
                        FetchIndexDescription("byTitle", on: "title", "oneWay"),
                        FetchIndexDescription("byExpression", elements: [.init("", expression: "lowercase:(title)")]),
                    ]
                },
                EntityDescription("Empty"),
                EntityDescription("Whole", superentity: "Base", uniquenessConstraints: [["order"]]),
                // The inverse is declared by a superentity of the destination.
                EntityDescription(
                    "Part",
                    attributes: [
                        .derived("wholeTitle", type: .string, from: "canonical:(whole.title)"),
                        .derived("siblings", type: .integer64, from: "whole.parts.@count"),
                    ],
                    relationships: [.toOne("whole", to: "Whole", inverse: "parts")]),
            ], configurations: ["Default": ["Part", "Base"]])
        #expect(model.entities.count == 4)
        #expect(try ManagedObjectModel(document: model.document()) == model)
    }

    @Test("a hierarchy may be 1000 entities deep, but not 20,000")
    func depth() throws {
        func chain(_ count: Int) -> [EntityDescription] {
            (0..<count).map { EntityDescription("E\($0)", superentity: $0 == 0 ? nil : "E\($0 - 1)") }
        }
        let model = try ManagedObjectModel(entities: chain(1000))
        #expect(model.entity("E999")?.root == model.entity("E0")?.number)
        let error = try #require(storeError { _ = try ManagedObjectModel(entities: chain(20_000)) })
        #expect(error.message.contains("make the hierarchy flatter"))
    }

    @Test("a model of more than 65,535 entities is refused")
    func entityCount() throws {
        let entities = (0...65_535).map { EntityDescription("E\($0)") }
        let error = try #require(storeError { _ = try ManagedObjectModel(entities: entities) })
        #expect(error.message.contains("at most 65535 entities"))
    }

    @Test("an entity of more than 65,535 properties and elements is refused")
    func propertyCount() throws {
        let elements = (0..<33_000).map { AttributeDescription.boolean("e\($0)") }
        let entity = EntityDescription(
            "A", attributes: [.composite("a", elements: elements), .composite("b", elements: elements)])
        let error = try #require(storeError { _ = try ManagedObjectModel(entities: [entity]) })
        #expect(error.message.contains("more stored properties than a record can have (65535)"))
    }
}
