import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration
import Testing

@Suite("Migration by a mapping model, in one pass")
struct MigrationMappingTests {
    /// Returns a store of stations and their readings; every third reading is a forecast.
    private static func source() throws -> any PersistentStore {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Reading",
                attributes: [
                    AttributeDescription("fahrenheit", type: .double), AttributeDescription("text", type: .string),
                    AttributeDescription("isForecast", type: .boolean),
                ],
                relationships: [
                    .toOne("station", to: "Station", inverse: "readings"),
                    .toMany("related", to: "Reading", inverse: "related"),
                ]),
            EntityDescription(
                "Station", attributes: [AttributeDescription("name", type: .string)],
                relationships: [.toMany("readings", to: "Reading", inverse: "station", isOrdered: true)]),
        ])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        var changes = ChangeSet(model: model)
        for key in 1...9 {
            try changes.insert(
                ObjectID("Reading", key: Int64(key)),
                values: [
                    "fahrenheit": .double(32 + Double(key) * 9), "text": .string("\(key * 10)"),
                    "isForecast": .bool(key % 3 == 0),
                    "station": .objectID(ObjectID("Station", key: Int64(key % 2 + 1))),
                    "station#order": .int(Int64(10 - key)),
                ])
        }
        for key in 1...2 {
            try changes.insert(ObjectID("Station", key: Int64(key)), values: ["name": .string("S\(key)")])
        }
        for key in 1...8 {
            try changes.add(Link(Int64(key), Int64(key + 1)), to: RelationshipName("Reading", name: "related"))
        }
        _ = try store.commit(changes)
        return store
    }

    private func migrate(
        _ entities: [EntityDescription], mappings: [EntityMapping]
    ) throws -> (store: any PersistentStore, report: MigrationReport) {
        let model = try ManagedObjectModel(entities: entities)
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        let report = try MigrationManager(registry: .standard).migrate(
            from: .store(try Self.source()), to: .store(store), model: model,
            options: MigrationOptions(mapping: MappingModel(mappings), allowsLoss: true))
        #expect(report.path == .onePass)
        #expect(try checkStore(store) == [])
        return (store, report)
    }

    @Test("a mapping model computes values by expressions, constants and casts")
    func evaluates() throws {
        let celsius = try FetchRequest.Expression(format: "($source.fahrenheit - 32.0) / 1.8")
        let (store, report) = try migrate(
            [
                EntityDescription(
                    "Measurement",
                    attributes: [
                        AttributeDescription("celsius", type: .float), AttributeDescription("number", type: .integer16),
                        AttributeDescription("unit", type: .string), AttributeDescription("station", type: .string),
                        AttributeDescription("kind", type: .string, isOptional: false, defaultValue: "measured"),
                    ])
            ],
            mappings: [
                EntityMapping(
                    "All", type: .transform, from: "Reading", to: "Measurement",
                    attributes: [
                        PropertyMapping("celsius", expression: celsius),
                        PropertyMapping("number", expression: .cast(.source("text"), .number)),
                        PropertyMapping("unit", expression: .constant("C")),
                        PropertyMapping("station", expression: .source("station.name")),
                    ])
            ])
        let objects = try store.snapshot().objects(of: "Measurement")
        for (index, object) in objects.enumerated() {
            let number = index + 1
            #expect(object.values["celsius"] == .double(Double(number) * 5))
            #expect(object.values["number"] == .int(Int64(number) * 10))
            #expect(object.values["station"] == .string("S\(number % 2 + 1)"))
        }
        #expect(objects.count == 9)
        #expect(objects.allSatisfy { $0.values["unit"] == "C" && $0.values["kind"] == "measured" })
        #expect(report.losses.count == 3, "\(report.losses)")
    }

    @Test("a source predicate selects objects, and references to unselected objects are removed")
    func filters() throws {
        let reading = EntityDescription(
            "Reading", attributes: [AttributeDescription("text", type: .string)],
            relationships: [
                .toOne("station", to: "Station", inverse: "readings"),
                .toMany("related", to: "Reading", inverse: "related"),
                .toOne("best", to: "Station"),
            ])
        let station = EntityDescription(
            "Station", relationships: [.toMany("readings", to: "Reading", inverse: "station", isOrdered: true)])
        let (store, report) = try migrate(
            [reading, station],
            mappings: [
                try EntityMapping(
                    "Readings", type: .transform, from: "Reading", to: "Reading",
                    attributes: [PropertyMapping("text", expression: .source("text"))]
                ).with {
                    $0.sourcePredicate = try FetchRequest.Predicate(format: "isForecast == NO")
                    $0.relationshipMappings = [
                        PropertyMapping("station", expression: .relatedInstances(ofSourceRelationship: "station")),
                        PropertyMapping(
                            "related",
                            expression: .destinationInstances(ofEntityMapping: "Readings", from: .source("related"))),
                        PropertyMapping(
                            "best",
                            expression: .destinationInstances(ofEntityMapping: "Stations", from: .source("station"))),
                    ]
                },
                try EntityMapping(
                    "Stations", type: .transform, from: "Station", to: "Station"
                ).with { $0.sourcePredicate = try FetchRequest.Predicate(format: "name == 'S1'") },
            ])
        let snapshot = try store.snapshot()
        let objects = try snapshot.objects(of: "Reading")
        #expect(objects.map(\.id.key) == [1, 2, 4, 5, 7, 8])
        // Readings with even keys were of the first station.
        #expect(objects.map { $0.values["station"] != nil } == [false, true, true, false, false, true])
        #expect(objects.map { $0.values["station"] == $0.values["best"] } == Array(repeating: true, count: 6))
        #expect(
            try snapshot.targets(of: RelationshipName("Station", name: "readings"), from: ObjectID("Station", key: 1))
                == [
                    8, 4, 2,
                ])
        let related = try snapshot.allLinks(of: RelationshipName("Reading", name: "related"))
        #expect(related == [Link(1, 2), Link(4, 5), Link(7, 8)])
        #expect(report.mappings.map(\.read) == [9, 2])
        #expect(report.mappings.map(\.made) == [6, 1])
    }

    @Test("one hierarchy splits in two, and every object keeps its key")
    func splits() throws {
        let (store, report) = try migrate(
            [
                EntityDescription(
                    "Forecast", relationships: [.toMany("next", to: "Measurement", inverse: "forecasts")]),
                EntityDescription(
                    "Measurement",
                    relationships: [.toMany("forecasts", to: "Forecast", inverse: "next", isOrdered: true)]),
            ],
            mappings: [
                try EntityMapping(
                    "F", type: .transform, from: "Reading", to: "Forecast"
                ).with {
                    $0.sourcePredicate = try FetchRequest.Predicate(format: "isForecast == YES")
                    $0.relationshipMappings = [
                        PropertyMapping("next", expression: .relatedInstances(ofSourceRelationship: "related"))
                    ]
                },
                try EntityMapping(
                    "M", type: .transform, from: "Reading", to: "Measurement"
                ).with { $0.sourcePredicate = try FetchRequest.Predicate(format: "isForecast == NO") },
            ])
        let snapshot = try store.snapshot()
        #expect(try snapshot.objects(of: "Forecast").map(\.id.key) == [3, 6, 9])
        #expect(try snapshot.objects(of: "Measurement").map(\.id.key) == [1, 2, 4, 5, 7, 8])
        // Neighbors were related, whichever was the source of the link.
        #expect(
            try snapshot.targets(of: RelationshipName("Forecast", name: "next"), from: ObjectID("Forecast", key: 3))
                == [2, 4])
        #expect(
            try snapshot.targets(
                of: RelationshipName("Measurement", name: "forecasts"), from: ObjectID("Measurement", key: 8))
                == [9])
        #expect(try snapshot.lastKey(of: "Forecast") == 9)
        #expect(report.links == 5)
    }

    @Test("a to-one relationship becomes to-many, and its inverse keeps its order")
    func widens() throws {
        let (store, report) = try migrate(
            [
                EntityDescription(
                    "Reading", relationships: [.toMany("stations", to: "Station", inverse: "readings", isOrdered: true)]
                ),
                EntityDescription(
                    "Station", relationships: [.toMany("readings", to: "Reading", inverse: "stations", isOrdered: true)]
                ),
            ],
            mappings: [
                EntityMapping(
                    "R", type: .transform, from: "Reading", to: "Reading"
                ).with {
                    $0.relationshipMappings = [
                        PropertyMapping("stations", expression: .relatedInstances(ofSourceRelationship: "station"))
                    ]
                },
                EntityMapping("S", type: .transform, from: "Station", to: "Station"),
            ])
        let snapshot = try store.snapshot()
        // The order is from the one-to-many relationship.
        #expect(
            try snapshot.targets(of: RelationshipName("Station", name: "readings"), from: ObjectID("Station", key: 1))
                == [
                    8, 6, 4, 2,
                ])
        #expect(
            try snapshot.targets(of: RelationshipName("Reading", name: "stations"), from: ObjectID("Reading", key: 3))
                == [2])
        #expect(report.links == 9)
    }

    @Test("a migration fails at a mandatory property without a value, and names the object", arguments: [true, false])
    func requiresValues(isKnownBefore: Bool) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Reading", attributes: [AttributeDescription("note", type: .string, isOptional: false)])
        ])
        let expression: FetchRequest.Expression? =
            isKnownBefore
            ? nil : try FetchRequest.Expression(format: "TERNARY($source.text == '50', nil, $source.text)")
        let mapping = MappingModel([
            EntityMapping(
                "R", type: .transform, from: "Reading", to: "Reading",
                attributes: [PropertyMapping("note", expression: expression)]
            )
        ])
        let directory = try TemporaryDirectory()
        let source = try Self.source()
        let target = ConversionEndpoint.location(StoreLocation(type: "sqlite", path: directory.file("new")))
        let manager = MigrationManager(registry: .standard)
        let error = #expect(throws: StoreError.self) {
            try manager.migrate(
                from: .store(source), to: target, model: model,
                options: MigrationOptions(mapping: mapping, allowsLoss: true))
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message.contains("'Reading.note'") ?? false)
        #expect(error?.message.contains(isKnownBefore ? "Reading/p1" : "Reading/p5") ?? false)
        #expect(try directory.names() == [])
        let plan = try manager.planMigration(
            from: .store(source), to: target, model: model,
            options: MigrationOptions(mapping: mapping, allowsLoss: true))
        #expect(plan.refusals.contains { $0.contains(isKnownBefore ? "'Reading.note'" : "Reading/p5") })
    }

    @Test("a computed value that does not fit its type ends the migration")
    func refusesValuesThatDoNotFit() throws {
        let error = #expect(throws: StoreError.self) {
            try migrate(
                [EntityDescription("Reading", attributes: [AttributeDescription("half", type: .integer16)])],
                mappings: [
                    EntityMapping(
                        "R", type: .transform, from: "Reading", to: "Reading",
                        attributes: [
                            PropertyMapping(
                                "half", expression: try FetchRequest.Expression(format: "$source.fahrenheit / 2.0"))
                        ])
                ])
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message.contains("'Reading.half' of Reading/p1") ?? false)
    }

    @Test("objects that break a new uniqueness constraint end the migration")
    func refusesDuplicates() throws {
        let error = #expect(throws: StoreError.self) {
            try migrate(
                [
                    EntityDescription(
                        "Reading", attributes: [AttributeDescription("flag", type: .boolean)],
                        uniquenessConstraints: [["flag"]])
                ],
                mappings: [
                    EntityMapping(
                        "R", type: .transform, from: "Reading", to: "Reading",
                        attributes: [PropertyMapping("flag", expression: .source("isForecast"))])
                ])
        }
        #expect(error?.code == .constraintViolation)
    }

    @Test("a kept relationship with fewer objects than the new model requires is refused", arguments: ["one", "many"])
    func requiresObjects(which: String) throws {
        let isOne = which == "one"
        let old = try ManagedObjectModel(entities: [
            EntityDescription("Note", relationships: [.toOne("folder", to: "Folder", inverse: "notes")]),
            EntityDescription("Folder", relationships: [.toMany("notes", to: "Note", inverse: "folder")]),
        ])
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", relationships: [.toOne("folder", to: "Folder", inverse: "notes", isOptional: !isOne)]),
            EntityDescription(
                "Folder",
                relationships: [
                    RelationshipDescription(
                        "notes", destination: "Note", inverse: "folder", minCount: isOne ? 0 : 1, maxCount: nil
                    ).with { $0.isOptional = isOne }
                ]),
        ])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: old)
        var changes = ChangeSet(model: old)
        try changes.insert(ObjectID("Folder", key: 1), values: [:])
        try changes.insert(ObjectID("Folder", key: 2), values: [:])
        try changes.insert(ObjectID("Note", key: 1), values: ["folder": .objectID(ObjectID("Folder", key: 1))])
        if isOne { try changes.insert(ObjectID("Note", key: 2), values: [:]) }
        _ = try store.commit(changes)
        let error = #expect(throws: StoreError.self) {
            try MigrationManager(registry: .standard).migrate(
                from: .store(store),
                to: .store(try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)),
                model: model, options: MigrationOptions(allowsLoss: true))
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message.contains(isOne ? "Note/p2" : "Folder/p2") ?? false)
    }

    @Test("an object ID in an attribute follows its object, or becomes null if the object is dropped")
    func namesObjects() throws {
        let old = try ManagedObjectModel(entities: [
            EntityDescription("Mark", attributes: [AttributeDescription("of", type: .objectID)]),
            EntityDescription("Page", attributes: [AttributeDescription("number", type: .integer16)]),
        ])
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Mark", attributes: [AttributeDescription("of", type: .objectID)]),
            EntityDescription("Sheet"),
        ])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: old)
        var changes = ChangeSet(model: old)
        for key in 1...3 {
            try changes.insert(ObjectID("Page", key: Int64(key)), values: ["number": .int(Int64(key))])
            try changes.insert(
                ObjectID("Mark", key: Int64(key)), values: ["of": .objectID(ObjectID("Page", key: Int64(key)))])
        }
        _ = try store.commit(changes)
        let target = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        _ = try MigrationManager(registry: .standard).migrate(
            from: .store(store), to: .store(target), model: model,
            options: MigrationOptions(
                mapping: MappingModel([
                    EntityMapping(
                        "M", type: .transform, from: "Mark", to: "Mark",
                        attributes: [PropertyMapping("of", expression: .source("of"))]),
                    EntityMapping("P", type: .transform, from: "Page", to: "Sheet").with {
                        $0.sourcePredicate = .greater("number", than: 1)
                    },
                ]), allowsLoss: true))
        let named = try target.snapshot().objects(of: "Mark").map { $0.values["of"] }
        #expect(named == [nil, .objectID(ObjectID("Sheet", key: 2)), .objectID(ObjectID("Sheet", key: 3))])
    }

    @Test("an object ID in an attribute becomes null, and is counted, if its object splits")
    func namesObjectsThatSplit() throws {
        let old = try ManagedObjectModel(entities: [
            EntityDescription("Mark", attributes: [AttributeDescription("of", type: .objectID)]),
            EntityDescription("Page", attributes: [AttributeDescription("number", type: .integer16)]),
            EntityDescription("Tab", attributes: [AttributeDescription("number", type: .integer16)]),
        ])
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Mark", attributes: [AttributeDescription("of", type: .objectID)]),
            EntityDescription("Page"), EntityDescription("Copy"), EntityDescription("Left"), EntityDescription("Right"),
        ])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: old)
        var changes = ChangeSet(model: old)
        let marked = [
            ObjectID("Page", key: 1), ObjectID("Tab", key: 1), ObjectID("Tab", key: 2), ObjectID("Tab", key: 3),
        ]
        for (index, id) in marked.enumerated() {
            try changes.insert(id, values: ["number": .int(id.key)])
            try changes.insert(ObjectID("Mark", key: Int64(index + 1)), values: ["of": .objectID(id)])
        }
        _ = try store.commit(changes)
        let target = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        let options = MigrationOptions(
            mapping: MappingModel([
                EntityMapping(
                    "M", type: .transform, from: "Mark", to: "Mark",
                    attributes: [PropertyMapping("of", expression: .source("of"))]),
                EntityMapping("P", type: .transform, from: "Page", to: "Page"),
                EntityMapping("C", type: .transform, from: "Page", to: "Copy"),
                EntityMapping("L", type: .transform, from: "Tab", to: "Left").with {
                    $0.sourcePredicate = .equal("number", to: 1)
                },
                EntityMapping("R", type: .transform, from: "Tab", to: "Right").with {
                    $0.sourcePredicate = .equal("number", to: 2)
                },
            ]), allowsLoss: true)
        let manager = MigrationManager(registry: .standard)
        let plan = try manager.planMigration(from: .store(store), to: .store(target), model: model, options: options)
        #expect(
            plan.losses.contains { $0.hasPrefix("Mark.of: IDs of objects of 'Page' become null") }, "\(plan.losses)")
        let report = try manager.migrate(from: .store(store), to: .store(target), model: model, options: options)
        let named = try target.snapshot().objects(of: "Mark").map { $0.values["of"] }
        #expect(named == [nil, .objectID(ObjectID("Left", key: 1)), .objectID(ObjectID("Right", key: 2)), nil])
        #expect(report.losses.contains { $0.hasPrefix("Mark: IDs that became null in 'of': 2;") }, "\(report.losses)")
    }

    @Test(
        "a copied relationship whose destination entity is renamed is a loss, or refused if mandatory",
        arguments: [true, false])
    func copiesWithoutDestinations(isOptional: Bool) throws {
        let a = EntityDescription(
            "A", attributes: [AttributeDescription("name", type: .string)],
            relationships: [.toOne("b", to: "B", isOptional: isOptional)])
        let old = try ManagedObjectModel(entities: [
            a, EntityDescription("B", attributes: [AttributeDescription("name", type: .string)]),
        ])
        let model = try ManagedObjectModel(entities: [
            a, EntityDescription("B").with { $0.renamingIdentifier = "new" },
            EntityDescription(
                "C", attributes: [AttributeDescription("name", type: .string)]
            ).with { $0.renamingIdentifier = "B" },
        ])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: old)
        var changes = ChangeSet(model: old)
        try changes.insert(ObjectID("B", key: 1), values: [:])
        try changes.insert(ObjectID("A", key: 1), values: ["b": .objectID(ObjectID("B", key: 1))])
        _ = try store.commit(changes)
        let target = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        let manager = MigrationManager(registry: .standard)
        let plan = try manager.planMigration(
            from: .store(store), to: .store(target), model: model, options: MigrationOptions(allowsLoss: true))
        #expect(
            plan.losses.contains { $0.hasPrefix("A.b: References to objects of 'B' are dropped") }, "\(plan.losses)")
        #expect(plan.refusals.count == (isOptional ? 0 : 1), "\(plan.refusals)")
        if isOptional {
            let report = try manager.migrate(
                from: .store(store), to: .store(target), model: model, options: MigrationOptions(allowsLoss: true))
            #expect(report.losses == plan.losses)
        } else {
            let error = #expect(throws: StoreError.self) {
                try manager.migrate(
                    from: .store(store), to: .store(target), model: model, options: MigrationOptions(allowsLoss: true))
            }
            #expect(error.map { plan.refusals == [$0.message] } == true)
        }
    }

    @Test("a plan refuses a missing policy and invalid expressions as the migration does")
    func planRefuses() throws {
        let source = try Self.source()
        func refusals(
            _ text: AttributeDescription, value: String, relationship: (RelationshipDescription, String)? = nil,
            policy: String? = nil
        ) throws -> [String] {
            let model = try ManagedObjectModel(entities: [
                EntityDescription("Reading", attributes: [text], relationships: relationship.map { [$0.0] } ?? []),
                EntityDescription("Station"),
            ])
            let mapping = MappingModel([
                try EntityMapping(
                    "R", type: .transform, from: "Reading", to: "Reading",
                    attributes: [PropertyMapping(text.name, expression: try FetchRequest.Expression(format: value))]
                ).with {
                    $0.relationshipMappings =
                        try relationship.map {
                            [PropertyMapping($0.0.name, expression: try FetchRequest.Expression(format: $0.1))]
                        } ?? []
                    $0.policyName = policy
                },
                EntityMapping("S", type: .transform, from: "Station", to: "Station"),
            ])
            let target = ConversionEndpoint.store(
                try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model))
            let manager = MigrationManager(registry: .standard)
            let options = MigrationOptions(mapping: mapping, allowsLoss: true)
            let plan = try manager.planMigration(from: .store(source), to: target, model: model, options: options)
            let error = #expect(throws: StoreError.self) {
                try manager.migrate(from: .store(source), to: target, model: model, options: options)
            }
            #expect(error.map { plan.refusals.contains($0.message) } == true, "\(plan.refusals) for \(error as Any)")
            return plan.refusals
        }
        let text = AttributeDescription("text", type: .string)
        let station = RelationshipDescription.toOne("station", to: "Station")
        let made =
            "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'S', $source.station)"
        #expect(try refusals(text, value: "$source.text", policy: "Unknown").first?.contains("'Unknown'") == true)
        #expect(
            try refusals(
                text, value: "$source.text", relationship: (station, "TERNARY($source.text == '1', \(made), NULL)")
            )
            .first?.contains("'station'") == true)
        #expect(try refusals(text, value: "$destination.text").first?.contains("$destination") == true)
    }
}
