internal import RoostCore

extension ConformanceCheck {
    static let inheritance: [ConformanceCheck] = [
        ConformanceCheck(
            "inheritance.scan",
            "A scan of an entity gives its objects and those of its subentities, by key, and no others."
        ) { bench in
            let store = try animals(on: bench)
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Being").map(\.id), beings, "all beings")
                try expectEqual(
                    try snapshot.objects(of: "Animal").map(\.id), beings.filter { $0.entity != "Robot" }, "all animals")
                try expectEqual(
                    try snapshot.objects(of: "Dog").map(\.id), beings.filter { $0.entity == "Dog" }, "all dogs")
                try expectEqual(
                    try snapshot.objects(of: "Robot").map(\.id), beings.filter { $0.entity == "Robot" }, "all robots")
            }
        },
        ConformanceCheck("inheritance.scan-after", "A scan of a subentity continues after any key of its hierarchy.") {
            bench in
            let store = try animals(on: bench)
            try store.view { snapshot in
                for key in Int64(0)...13 {
                    let after = ObjectID("Robot", key: max(key, 1))
                    try expectEqual(
                        try snapshot.objects(of: "Animal", after: after).map(\.id),
                        beings.filter { $0.entity != "Robot" && $0.key > after.key },
                        "the animals after key \(after.key)")
                }
            }
        },
        ConformanceCheck(
            "inheritance.fetch", "A fetch includes or excludes objects of subentities, as its request says."
        ) {
            bench in
            let store = try animals(on: bench)
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.keys(FetchRequest("Animal")), beings.filter { $0.entity != "Robot" }.map(\.key),
                    "animals with subentities")
                try expectEqual(
                    try snapshot.keys(FetchRequest("Animal").with { $0.includesSubentities = false }),
                    beings.filter { $0.entity == "Animal" }.map(\.key),
                    "animals without subentities")
                try expectEqual(
                    try snapshot.keys(FetchRequest("Being").with { $0.includesSubentities = false }), [],
                    "objects of the abstract entity itself")
                try expectEqual(try snapshot.count(FetchRequest("Being")), beings.count, "the count of beings")
                try expectEqual(
                    try snapshot.keys(
                        FetchRequest(
                            "Being", where: .greater("age", than: 3), sortedBy: [.init("age", ascending: false)])),
                    beings.map(\.key).filter { $0 > 3 }.reversed(), "beings by an inherited attribute")
            }
        },
        ConformanceCheck(
            "inheritance.abstract", "An abstract entity has no objects of its own, and records of it cannot be made."
        ) { bench in
            let store = try bench.create()
            try expectError(.invalidRequest, in: "an object of an abstract entity") {
                try store.change { try $0.insert(ObjectID("Being", key: 1), values: [:]) }
            }
        },
        ConformanceCheck(
            "inheritance.sibling-fields", "Properties of the same name in sibling entities are different properties."
        ) { bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Dog", key: 1), values: ["trait": "loyal", "name": "Rex", "legs": 4])
                try changes.insert(ObjectID("Robot", key: 2), values: ["trait": 9, "name": "R2"])
            }
            try bench.reopen(store).view { snapshot in
                try expectEqual(
                    try snapshot.objects(of: "Being").map(\.values),
                    [["trait": "loyal", "name": "Rex", "legs": 4], ["trait": 9, "name": "R2"]],
                    "the values")
                try expectEqual(
                    try snapshot.keys(FetchRequest("Dog", where: .equal("trait", to: "loyal"))), [1], "dogs by trait")
                try expectEqual(
                    try snapshot.keys(FetchRequest("Robot", where: .equal("trait", to: 9))), [2], "robots by trait")
                try expectError(.unknownProperty, in: "a fetch of beings by a property of some subentities") {
                    _ = try snapshot.keys(FetchRequest("Being", where: .equal("trait", to: 9)))
                }
            }
        },
        ConformanceCheck(
            "inheritance.tally", "The tally counts an object only for its own entity.", needs: [.digest]
        ) { bench in
            let store = try animals(on: bench)
            let tally = try store.recordedTally()
            for entity in bench.model.entities where entity.name != "Tag" {
                try expectEqual(
                    tally.entities[entity.number].count, beings.filter { $0.entity == entity.name }.count,
                    "the count of \(entity.name)")
            }
        },
    ]

    private static let beings: [ObjectID] = [
        ObjectID("Dog", key: 1), ObjectID("Robot", key: 2), ObjectID("Animal", key: 3), ObjectID("Dog", key: 4),
        ObjectID("Robot", key: 5),
        ObjectID("Robot", key: 6),
        ObjectID("Animal", key: 8), ObjectID("Dog", key: 12),
    ]

    private static func animals(on bench: Workbench) throws -> any PersistentStore {
        let store = try bench.create()
        try store.change { changes in
            for id in beings.shuffledForChecks { try changes.insert(id, values: ["age": .int(id.key)]) }
            try changes.insert(ObjectID("Tag", key: 7), values: [:])
        }
        return store
    }
}
