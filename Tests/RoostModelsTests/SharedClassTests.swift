#if Macros
    import Foundation
    import RoostCore
    import RoostModelCode
    import RoostModels
    import Testing

    @Suite("Model classes")
    struct SharedClassTests {
        private static let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/Library.roostmodel.json")

        private static func document() throws -> ManagedObjectModel {
            try ManagedObjectModel(document: Array(try Data(contentsOf: fixture)))
        }

        private func onEachBackend(_ way: (some ModelWay).Type, _ body: (PersistentContainer) throws -> Void) throws {
            try Backends.run { location in
                let container = try PersistentContainer(location, model: way.model, types: way.types)
                try body(container)
                try container.close()
            }
        }

        @Test("@Model and generated classes have the model of the document", arguments: Way.all)
        func models(_ way: Way) throws {
            let (model, document) = (try way.type.model, try Self.document())
            for (found, expected) in zip(model.entities, document.entities) {
                #expect(found.declaration == expected.declaration)
            }
            #expect(model == document)
        }

        @Test("the committed generated classes match the generator's output")
        func generated() throws {
            let code = ModelCode(try Self.document(), source: "Library.roostmodel.json")
            let file = try #require(try code.files(.singleFile).first)
            let committed = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
                file.name)
            #expect(try String(contentsOf: committed, encoding: .utf8) == file.text)
        }

        @Test("attributes of all types are saved and read back", arguments: Way.all)
        func attributes(_ way: Way) throws {
            func check<W: ModelWay>(_ way: W.Type) throws {
                try onEachBackend(way) { container in
                    let context = container.makeContext()
                    let thing: W.Thing = try context.insert()
                    let ident = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
                    let date = Date(timeIntervalSinceReferenceDate: 1234.5)
                    (thing.small, thing.medium, thing.large) = (.min, .max, .min)
                    (thing.precise, thing.rough, thing.flag) = (0.1, 0.25, false)
                    (thing.moment, thing.text, thing.bytes) = (date, "Ünïcödé", Data([0, 255]))
                    (thing.ident, thing.amount, thing.link) = (ident, Decimal(string: "-12.34") ?? 0, "urn:x")
                    (thing.maybeSmall, thing.maybeMedium, thing.maybeLarge) = (3, 4, 5)
                    (thing.maybePrecise, thing.maybeRough, thing.maybeFlag) = (-0.5, 0.5, false)
                    (thing.maybeMoment, thing.code, thing.maybeBytes) = (date, "AB1", Data())
                    (thing.maybeIdent, thing.maybeAmount, thing.maybeLink) = (ident, 7, "urn:y")
                    (thing.cover, thing.packed) = (Cover(colors: ["blue"]), Data([1]))
                    (thing.place, thing.reference) = (["x": .double(1), "y": .string("b")], thing.objectID)
                    thing.hidden = "seen here"
                    try context.save()
                    #expect(thing.hidden == "seen here")

                    let copy = try container.makeContext().existingObject(thing.id)
                    #expect((copy.small, copy.medium, copy.large) == (.min, .max, .min))
                    #expect((copy.precise, copy.rough, copy.flag) == (0.1, 0.25, false))
                    #expect((copy.moment, copy.text, copy.bytes) == (date, "Ünïcödé", Data([0, 255])))
                    #expect((copy.ident, copy.amount, copy.link) == (ident, Decimal(string: "-12.34") ?? 0, "urn:x"))
                    #expect(copy.maybeSmall == 3 && copy.maybeMedium == 4 && copy.maybeLarge == 5)
                    #expect(copy.maybePrecise == -0.5 && copy.maybeRough == 0.5 && copy.maybeFlag == false)
                    #expect(copy.maybeMoment == date && copy.code == "AB1" && copy.maybeBytes == Data())
                    #expect(copy.maybeIdent == ident && copy.maybeAmount == 7 && copy.maybeLink == "urn:y")
                    #expect(copy.cover == Cover(colors: ["blue"]) && copy.packed == Data([1]))
                    #expect(copy.place == ["x": .double(1), "y": .string("b")] && copy.reference == thing.objectID)
                    #expect(copy.hidden == nil)
                    #expect(copy["small"] == .int(Int64(Int16.min)) && copy["link"] == .uri("urn:x"))
                }
            }
            try check(way.type)
        }

        @Test("new objects have defaults, and optional attributes can be set to null", arguments: Way.all)
        func nulls(_ way: Way) throws {
            func check<W: ModelWay>(_ way: W.Type) throws {
                try onEachBackend(way) { container in
                    let context = container.makeContext()
                    let thing: W.Thing = try context.insert()
                    #expect((thing.small, thing.flag, thing.text) == (1970, true, "none"))
                    #expect((thing.amount, thing.moment) == (1.5, Date(timeIntervalSinceReferenceDate: 0)))
                    #expect((thing.medium, thing.precise, thing.bytes, thing.link) == (0, 0, Data(), ""))
                    #expect(thing.maybeSmall == -3 && thing.maybeMedium == nil && thing.cover == nil)
                    thing.maybeSmall = nil
                    (thing.code, thing.maybeIdent, thing.cover, thing.place) = (
                        "A", thing.ident, Cover(colors: []), [:]
                    )
                    (thing.code, thing.maybeIdent, thing.cover, thing.place) = (nil, nil, nil, nil)
                    // Mandatory attributes without a default still have no value.
                    let error = #expect(throws: StoreError.self) { try context.save() }
                    #expect(
                        error?.failures.map(\.property).compactMap { $0 }.sorted() == [
                            "bytes", "ident", "large", "link", "medium", "precise", "rough",
                        ])
                    (thing.bytes, thing.ident, thing.large, thing.link) = (Data(), UUID(), 0, "")
                    (thing.medium, thing.precise, thing.rough) = (0, 0, 0)
                    try context.save()
                    let copy = try container.makeContext().existingObject(thing.id)
                    #expect(copy.maybeSmall == nil && copy.code == nil && copy.maybeIdent == nil)
                    #expect(copy.cover == nil && copy.place == nil && copy.maybeLink == nil)
                }
            }
            try check(way.type)
        }

        private func make<T: ThingClass>(_ text: String, in context: ManagedObjectContext, as type: T.Type) throws -> T
        {
            let thing: T = try context.insert()
            (thing.text, thing.bytes, thing.ident, thing.link) = (text, Data(), UUID(), "")
            (thing.large, thing.medium, thing.precise, thing.rough) = (Int64(thing.objectID.key), 0, 0, 0)
            return thing
        }

        @Test("relationships of model classes update inverses, keep their order and enforce rules", arguments: Way.all)
        func relationships(_ way: Way) throws {
            func check<W: ModelWay>(_ way: W.Type) throws {
                try onEachBackend(way) { container in
                    let context = container.makeContext()
                    let things = try ["a", "b", "c", "d"].map { try make($0, in: context, as: W.Thing.self) }
                    things[1].one = things[0]
                    things[0].others.insert(things[2])
                    #expect(things[0].others.contains(things[1]) && things[2].one == things[0])
                    things[0].ordered = [things[3], things[1], things[0]]
                    things[0].ordered.move(from: 2, to: 0)
                    let boss: W.Boss = try context.insert()
                    (boss.name, boss.age) = ("Ada", 40)
                    things[0].owner = boss as? W.Thing.Owner
                    try context.save()
                    #expect(things[0].otherCount == 2)

                    let other = container.makeContext()
                    let copy = try other.existingObject(things[0].id)
                    #expect(copy.ordered.map(\.text) == ["a", "d", "b"])
                    #expect(copy.others.map(\.text).sorted() == ["b", "c"])
                    #expect((copy.owner as? W.Boss)?.name == "Ada")
                    copy.ordered = []
                    other.delete(copy)
                    try other.save()
                    #expect(try other.count(Fetch<W.Thing>()) == 1)
                    let limited = try make("e", in: other, as: W.Thing.self)
                    for name in ["f", "g", "h", "i"] {
                        limited.ordered.append(try make(name, in: other, as: W.Thing.self))
                    }
                    let error = #expect(throws: StoreError.self) { try other.save() }
                    #expect(error?.failures.map(\.property) == ["ordered"])
                }
            }
            try check(way.type)
        }

        @Test("model subclasses have the properties and the rules of their superclasses", arguments: Way.all)
        func hierarchy(_ way: Way) throws {
            func check<W: ModelWay>(_ way: W.Type) throws {
                try onEachBackend(way) { container in
                    let context = container.makeContext()
                    let (ada, grace): (W.Boss, W.Boss) = (try context.insert(), try context.insert())
                    (ada.name, ada.age, ada.isKind) = ("Ada", 36, true)
                    (grace.name, grace.age, grace.born) = ("Grace", 85, Date(timeIntervalSinceReferenceDate: -9))
                    grace.deputy = ada as? W.Boss.Colleague
                    if let friend = ada as? W.Boss.Base { grace.friends.insert(friend) }
                    try context.save()
                    let other = container.makeContext()
                    let people = try other.fetch(Fetch<W.Boss.Base>(sortedBy: ["name"]))
                    #expect(people.map { $0["name"] } == ["Ada", "Grace"])
                    let copy = try #require(people.last as? W.Boss)
                    #expect((copy.name, copy.age) == ("Grace", 85) && copy.isKind == nil)
                    #expect(copy.born == Date(timeIntervalSinceReferenceDate: -9))
                    #expect(copy.friends.map { $0 as? W.Boss }.first??.name == "Ada")
                    #expect((copy.deputy as? W.Boss)?.isKind == true)
                    #expect(try other.fetch(W.kindBosses()).map(\.name) == ["Ada"])
                    copy.age = 15
                    copy.name = ""
                    let error = #expect(throws: StoreError.self) { try other.save() }
                    #expect(error?.failures.compactMap(\.property).sorted() == ["age", "name"])
                }
            }
            try check(way.type)
        }

        @Test("model classes name the properties of own and inherited key paths", arguments: Way.all)
        func names(_ way: Way) throws {
            func names(in type: any ManagedObjectClass.Type, of paths: [AnyKeyPath]) -> [String?] {
                paths.map { type.propertyName(of: $0) }
            }
            func check<W: ModelWay>(_ way: W.Type) throws {
                #expect(names(in: W.Thing.self, of: W.paths) == ["small", "one", "ordered", "cover"])
                #expect(names(in: W.Boss.self, of: W.bossPaths) == ["name", "friends", "age", "deputy", "isKind", nil])
                #expect(names(in: W.Boss.Colleague.self, of: W.employeePaths) == ["born", "age", nil])
                #expect(names(in: W.Boss.Colleague.self, of: W.paths) == [nil, nil, nil, nil])
                #expect(W.Boss.entityName == "Boss" && W.Boss.Colleague.entityName == "Employee")
                #expect(W.Boss.shape.entity == "Boss")
            }
            try check(way.type)
        }

        @Test("a request with #Predicate and key paths fetches the matching objects", arguments: Way.all)
        func predicates(_ way: Way) throws {
            func check<W: ModelWay>(_ way: W.Type) throws {
                try onEachBackend(way) { container in
                    let context = container.makeContext()
                    let first = try make("first", in: context, as: W.Thing.self)
                    for (number, medium) in [(1, 3), (2, 9), (3, 5)] {
                        let thing = try make("t\(number)", in: context, as: W.Thing.self)
                        (thing.large, thing.medium, thing.one) = (Int64(100 * number), Int32(medium), first)
                        thing.maybeSmall = nil
                    }
                    try context.save()
                    #expect(try context.fetch(W.wealthy()).map(\.text) == ["t2", "t3"])
                }
            }
            try check(way.type)
        }

        @Test("a save that breaks a uniqueness constraint of a model class throws", arguments: Way.all)
        func uniqueness(_ way: Way) throws {
            func check<W: ModelWay>(_ way: W.Type) throws {
                try onEachBackend(way) { container in
                    let context = container.makeContext()
                    let (first, second) = (
                        try make("a", in: context, as: W.Thing.self), try make("b", in: context, as: W.Thing.self)
                    )
                    (first.code, second.code) = ("A1", "A1")
                    #expect(throws: StoreError.self) { try context.save() }
                    second.code = "B1"
                    try context.save()
                    second.large = first.large
                    #expect(throws: StoreError.self) { try context.save() }
                }
            }
            try check(way.type)
        }

        @Test("a container refuses classes that do not fit its model", arguments: Way.all)
        func otherModel(_ way: Way) throws {
            func check<W: ModelWay>(_ way: W.Type) throws {
                var entities = try W.model.entityDescriptions
                let index = try #require(entities.firstIndex { $0.name == "Thing" })
                let small = try #require(entities[index].attributes.firstIndex { $0.name == "small" })
                entities[index].attributes[small].type = .integer32
                let wrong = try ManagedObjectModel(entities: entities)
                let error = #expect(throws: StoreError.self) {
                    try PersistentContainer(.memory, model: wrong, types: W.types)
                }
                #expect(error?.code == .invalidModel)
                #expect(error?.message.contains("'Thing'") == true)
            }
            try check(way.type)
        }
    }
#endif
