import Foundation
import Roost
import RoostCore
import Testing

@Suite("Violations of model rules")
struct RuleViolationTests {
    private func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Being",
                attributes: [
                    .init(
                        "name", type: .string, isOptional: false
                    ).with { $0.validation = .init(minimumLength: 2, maximumLength: 4) },
                    .init("code", type: .string).with { $0.validation = .init(regularExpression: "[A-Z]+[0-9]?") },
                ]
            ).with { $0.isAbstract = true },
            person(),
            EntityDescription(
                "House",
                relationships: [
                    .init("people", destination: "Person", inverse: "home", minCount: 1, maxCount: 2).with {
                        $0.isOptional = false
                    }
                ]),
            EntityDescription(
                "Tool",
                relationships: [
                    .init("owners", destination: "Person", inverse: "tools", maxCount: 3),
                    // Mandatory with a minimum of 0, so it may be empty.
                    .init("parts", destination: "Tool", inverse: nil, maxCount: nil).with { $0.isOptional = false },
                ]),
        ])
    }

    /// Returns an entity with a rule of each kind.
    private func person() -> EntityDescription {
        let day = Date(timeIntervalSinceReferenceDate: 1000)
        return EntityDescription(
            "Person", superentity: "Being",
            attributes: [
                .init("i16", type: .integer16).with { $0.validation = limits(.int(-5), to: .int(5)) },
                .init("i32", type: .integer32).with { $0.validation = limits(.int(-5), to: .int(5)) },
                .init("i64", type: .integer64).with { $0.validation = limits(.int(-5), to: .int(5)) },
                .init("dec", type: .decimal).with {
                    $0.validation = limits(.decimal(Decimal(-5)), to: .decimal(Decimal(5)))
                },
                .init("dbl", type: .double).with { $0.validation = limits(.double(-0.5), to: .double(0.5)) },
                // No 32-bit value is equal to the limit, so the nearest one applies.
                .init("flt", type: .float).with { $0.validation = limits(.double(-0.1), to: .double(0.1)) },
                .init("day", type: .date).with { $0.validation = limits(.date(day), to: .date(day)) },
                .init(
                    "place", type: .composite,
                    elements: [
                        .init("street", type: .string, isOptional: false),
                        .init("number", type: .integer32).with { $0.validation = limits(.int(1)) },
                    ]),
                // Transient and derived attributes have no rules in the store.
                .init("passing", type: .string, isOptional: false).with { $0.isTransient = true },
                .init("upper", type: .string, isOptional: false).with {
                    $0.derivationExpression = "uppercase:(name)"
                },
            ],
            relationships: [
                .toOne("home", to: "House", inverse: "people", isOptional: false),
                .init(
                    "friends", destination: "Person", inverse: "friends", minCount: 2, maxCount: 3),
                .init(
                    "tools", destination: "Tool", inverse: "owners", minCount: 1, maxCount: 2
                ).with { $0.isOptional = false },
            ])
    }

    private func limits(_ minimum: Value, to maximum: Value = .null) -> AttributeValidation {
        AttributeValidation(minimum: minimum, maximum: maximum)
    }

    private func create(_ type: String, in folder: Folder) throws -> any PersistentStore {
        try StoreRegistry.standard.type(named: type).create(
            StoreLocation(type: type, path: folder.file("store")), model: try model(), options: StoreOptions())
    }

    /// Values of a person that break no rule of attributes.
    private let good: [String: Value] = [
        "name": "Ann", "home": .objectID(ObjectID("House", key: 1)), "upper": .null,
    ]

    private func insert(_ key: Int64, values: [String: Value], into changes: inout ChangeSet) throws {
        try changes.insert(ObjectID("Person", key: key), values: good.merging(values) { $1 })
    }

    @Test("a store whose data keep every rule has no findings", arguments: writableTypes)
    func findsNothingInSoundStore(type: String) throws {
        let folder = try Folder()
        let store = try create(type, in: folder)
        var changes = ChangeSet(model: store.model)
        try changes.insert(ObjectID("House", key: 1), values: [:])
        try changes.insert(ObjectID("Tool", key: 1), values: [:])
        for key in Int64(1)...2 {
            try insert(
                key,
                values: [
                    // Values are at their limits. Lengths count code points: "é" has two, "🎷" one.
                    "name": key == 1 ? "a🎷" : "e\u{301}xy", "code": "AB7", "i16": -5, "i32": 5, "i64": -5,
                    "dec": .decimal(Decimal(5)), "dbl": 0.5, "flt": .double(Double(Float(0.1))),
                    "day": .date(Date(timeIntervalSinceReferenceDate: 1000)),
                    "place": .composite(["street": "", "number": 1]),
                ], into: &changes)
            try changes.add(Link(key, 1), to: RelationshipName("Person", name: "tools"))
        }
        _ = try store.commit(changes)
        #expect(try checkStore(store) == [])
        try store.close()
    }

    private func insertBrokenObjects(into changes: inout ChangeSet) throws {
        for key in Int64(1)...3 { try changes.insert(ObjectID("House", key: key), values: [:]) }
        for key in Int64(1)...3 { try changes.insert(ObjectID("Tool", key: key), values: [:]) }
        try insert(1, values: ["name": .null, "home": .null], into: &changes)
        try insert(2, values: ["name": "a", "code": "ab"], into: &changes)
        try insert(
            3, values: ["name": "abcde", "code": "", "home": .objectID(ObjectID("House", key: 2))], into: &changes)
        try insert(
            4,
            values: [
                "i16": -6, "i32": -6, "i64": -6, "dec": .decimal(Decimal(string: "-5.01") ?? 0), "dbl": -0.6,
                "flt": -0.2, "day": .date(Date(timeIntervalSinceReferenceDate: 999)),
                "place": .composite(["number": 0]),
            ], into: &changes)
        try insert(
            5,
            values: [
                "i16": 6, "i32": 6, "i64": 6, "dec": .decimal(Decimal.nan), "dbl": .double(.nan), "flt": 0.2,
                "day": .date(Date(timeIntervalSinceReferenceDate: 1001)), "home": .objectID(ObjectID("House", key: 99)),
            ], into: &changes)
        try insert(6, values: [:], into: &changes)
        for key in Int64(2)...6 {
            try changes.add(Link(key, key == 3 ? 2 : 1), to: RelationshipName("Person", name: "tools"))
        }
        for tool in Int64(2)...3 { try changes.add(Link(2, tool), to: RelationshipName("Person", name: "tools")) }
        // Persons 1 and 2 have one friend each; person 3 has itself and three others.
        try changes.add(Link(1, 2), to: RelationshipName("Person", name: "friends"))
        for other in Int64(3)...6 { try changes.add(Link(3, other), to: RelationshipName("Person", name: "friends")) }
        try changes.add(Link(4, 5), to: RelationshipName("Person", name: "friends"))
        try changes.add(Link(5, 6), to: RelationshipName("Person", name: "friends"))
    }

    @Test("each broken rule is a finding with kind, object and property", arguments: writableTypes)
    func findsEachBrokenRule(type: String) throws {
        let folder = try Folder()
        let store = try create(type, in: folder)
        var changes = ChangeSet(model: store.model)
        try insertBrokenObjects(into: &changes)
        _ = try store.commit(changes)
        let findings = try checkStore(store)
        #expect(findings.allSatisfy { $0.severity == .violation && $0.count == 1 })
        let found = findings.map { "\($0.kind) \($0.object.map { "\($0)" } ?? "-") \($0.property ?? "-")" }
        // NaN, in `dec` and `dbl` of person 5, breaks both limits.
        let expected = """
            dangling Person/p5 Person.home
            mandatory House/p3 House.people
            mandatory Person/p1 Person.home
            mandatory Person/p1 Person.name
            mandatory Person/p1 Person.tools
            mandatory Person/p4 Person.place.street
            maximum Person/p5 Person.day
            maximum Person/p5 Person.dbl
            maximum Person/p5 Person.dec
            maximum Person/p5 Person.flt
            maximum Person/p5 Person.i16
            maximum Person/p5 Person.i32
            maximum Person/p5 Person.i64
            maximumCount House/p1 House.people
            maximumCount Person/p2 Person.tools
            maximumCount Person/p3 Person.friends
            maximumCount Tool/p1 Tool.owners
            maximumLength Person/p3 Person.name
            minimum Person/p4 Person.day
            minimum Person/p4 Person.dbl
            minimum Person/p4 Person.dec
            minimum Person/p4 Person.flt
            minimum Person/p4 Person.i16
            minimum Person/p4 Person.i32
            minimum Person/p4 Person.i64
            minimum Person/p4 Person.place.number
            minimum Person/p5 Person.dbl
            minimum Person/p5 Person.dec
            minimumCount Person/p1 Person.friends
            minimumCount Person/p2 Person.friends
            minimumLength Person/p2 Person.name
            pattern Person/p2 Person.code
            pattern Person/p3 Person.code
            """
        #expect(found.sorted().joined(separator: "\n") == expected)
        try store.close()
    }

    @Test("a finding describes the object and the rule, and shows no stored value", arguments: writableTypes)
    func descriptions(type: String) throws {
        let folder = try Folder()
        let store = try create(type, in: folder)
        var changes = ChangeSet(model: store.model)
        try insertBrokenObjects(into: &changes)
        _ = try store.commit(changes)
        let texts = try checkStore(store).map(\.description)
        #expect(texts.contains("violation: Person/p1: 'name' is mandatory and has no value."))
        #expect(texts.contains("violation: House/p1: 'people' has more objects than its maximum count."))
        #expect(!texts.contains { $0.contains("abcde") || $0.contains("5.01") })
        try store.close()
    }

    @Test("a reference to an object of a forbidden entity is a violation")
    func destination() throws {
        let folder = try Folder()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("A").with { $0.isAbstract = true }, EntityDescription("B", superentity: "A"),
            EntityDescription("C", superentity: "A"), EntityDescription("D", relationships: [.toOne("b", to: "B")]),
        ])
        let store = try StoreRegistry.standard.type(named: "memory").create(
            StoreLocation(type: "memory", path: ""), model: model, options: StoreOptions())
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("C", key: 1), values: [:])
        try changes.insert(ObjectID("D", key: 1), values: ["b": .objectID(ObjectID("B", key: 1))])
        _ = try store.commit(changes)
        let findings = try checkStore(store)
        #expect(findings.map(\.kind) == ["destination"] && findings.map(\.property) == ["D.b"])
        #expect(findings.map(\.severity) == [.violation])
        #expect(try folder.names() == [])
    }

    @Test("many violations are counted for each property, with the first ones listed", arguments: writableTypes)
    func countsManyViolations(type: String) throws {
        let folder = try Folder()
        let store = try create(type, in: folder)
        var changes = ChangeSet(model: store.model)
        try changes.insert(ObjectID("Tool", key: 1), values: [:])
        for key in Int64(1)...500 {
            try insert(key, values: ["name": .null, "code": key == 400 ? "x" : .null, "home": .null], into: &changes)
            if key != 123 { try changes.add(Link(key, 1), to: RelationshipName("Person", name: "tools")) }
        }
        _ = try store.commit(changes)
        let findings = try checkStore(store, limit: 20)
        let names = findings.filter { $0.property == "Person.name" }
        #expect(names.count == 21 && names.reduce(0) { $0 + $1.count } == 500)
        #expect(names.prefix(20).map { $0.object?.key } == Array(Int64(1)...20))
        #expect(names.last?.message == "And 480 more of this kind (mandatory, Person.name).")
        // Without listed findings, all are still counted.
        let counts = try checkStore(store, limit: 0).map { [$0.kind, $0.property ?? "", "\($0.count)"] }
        #expect(counts.contains(["mandatory", "Person.name", "500"]))
        #expect(counts.contains(["pattern", "Person.code", "1"]))
        // The many violations of one rule do not hide single violations of other rules.
        #expect(findings.contains { $0.object == ObjectID("Person", key: 400) && $0.kind == "pattern" })
        #expect(findings.contains { $0.object == ObjectID("Person", key: 123) && $0.property == "Person.tools" })
        #expect(findings.contains { $0.object == ObjectID("Tool", key: 1) && $0.kind == "maximumCount" })
        try store.close()
    }

    @Test("an unusable pattern is a warning, and the check continues")
    func patterns() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "A",
                attributes: [
                    .init("broken", type: .string).with { $0.validation = .init(regularExpression: "(") },
                    .init("slow", type: .string).with { $0.validation = .init(regularExpression: "(a+)+b") },
                    .init("other", type: .string, isOptional: false),
                ])
        ])
        let store = try StoreRegistry.standard.type(named: "memory").create(
            StoreLocation(type: "memory", path: ""), model: model, options: StoreOptions())
        var changes = ChangeSet(model: model)
        for key in Int64(1)...30 {
            let text = Value.string(String(repeating: "a", count: 60))
            try changes.insert(ObjectID("A", key: key), values: ["broken": text, "slow": text])
        }
        _ = try store.commit(changes)
        let clock = ContinuousClock()
        let start = clock.now
        let findings = try checkStore(store)
        // After the first timeout, the other 29 values are not compared with the pattern.
        #expect(clock.now - start < .seconds(15))
        let warnings = findings.filter { $0.severity == .warning }
        #expect(warnings.map { $0.property ?? "" }.sorted() == ["A.broken", "A.slow"])
        #expect(warnings.allSatisfy { $0.kind == "pattern" })
        #expect(findings.filter { $0.severity == .violation }.count == 30)
    }
}
