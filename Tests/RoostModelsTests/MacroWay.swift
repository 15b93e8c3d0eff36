#if Macros
    import Foundation
    import RoostModels

    /// The model of `Fixtures/Library.roostmodel.json` as classes with `@Model`.
    enum MacroWay {
        @Unique("small", "large")
        @Model final class Thing: ManagedObject {
            var small: Int16 = 1970
            var medium: Int32
            var large: Int64
            var precise: Double
            var rough: Float
            var flag = true
            var moment: Date = Date(timeIntervalSinceReferenceDate: 0)
            @Index var text: String = "none"
            var bytes: Data
            var ident: UUID
            var amount: Decimal = 1.5
            @Attribute(type: .uri) var link: String
            var maybeSmall: Int16? = -3
            var maybeMedium: Int32?
            var maybeLarge: Int64?
            var maybePrecise: Double?
            var maybeRough: Float?
            var maybeFlag: Bool?
            var maybeMoment: Foundation.Date?
            @Unique @Attribute(regularExpression: "[A-Z]+[0-9]*") var code: Swift.String? = nil
            var maybeBytes: Data?
            var maybeIdent: UUID?
            var maybeAmount: Decimal?
            @Attribute(type: .uri) var maybeLink: String?
            var cover: Cover?
            @Attribute(type: .transformable) var packed: Data?
            @Attribute(elements: [.double("x"), .string("y")]) var place: [String: Value]?
            var reference: ObjectID?
            @Transient var hidden: String?
            @Attribute(derivation: "others.@count") var otherCount: Int64?
            var one: Thing?
            @Relationship(inverse: "one", deleteRule: .cascade) var others: ToMany<Thing>
            @Relationship(maxCount: 3) var ordered: OrderedToMany<Thing> = []
            @Relationship(deleteRule: .noAction, isOptional: true) var owner: Employee?
        }

        @Index("born", "name", name: "byBirth")
        @Model(isAbstract: true, renamingIdentifier: "Human") class Person: ManagedObject {
            @Attribute(renamingIdentifier: "label", minimumLength: 1, maximumLength: 40)
            @Unique final var name: String
            final var born: Date?
            @Relationship(inverse: "friends") final var friends: ToMany<Person>
        }

        @Model class Employee: Person {
            @Attribute(minimum: 16, maximum: 99) final var age: Int32
        }

        @Model final class Boss: Employee {
            var deputy: Employee?
            var isKind: Bool?
        }
    }

    extension MacroWay: ModelWay {
        static let types: [any ManagedObjectClass.Type] = [Boss.self, Employee.self, Person.self, Thing.self]
        static var model: ManagedObjectModel { get throws { try ManagedObjectModel(types: types) } }
        static let paths: [any AnyKeyPath & Sendable] = [\Thing.small, \Thing.one, \Thing.ordered, \Thing.cover]
        static let bossPaths: [any AnyKeyPath & Sendable] = [
            \Boss.name, \Boss.friends, \Boss.age, \Boss.deputy, \Boss.isKind, \Boss.hasChanges,
        ]
        static let employeePaths: [any AnyKeyPath & Sendable] = [\Employee.born, \Employee.age, \Employee.objectID]
        static func wealthy() throws -> Fetch<Thing> {
            try Fetch(
                #Predicate { $0.large > 100 && $0.one?.text == "first" && $0.maybeSmall == nil },
                sortedBy: [SortKey(\.medium, order: .reverse)])
        }
        static func kindBosses() throws -> Fetch<Boss> {
            try Fetch(#Predicate { $0.isKind == true && $0.age > 30 && $0.name != "x" }, sortedBy: [SortKey(\.name)])
        }
    }

    extension MacroWay.Thing: ThingClass {}
    extension MacroWay.Boss: BossClass {}
#endif
