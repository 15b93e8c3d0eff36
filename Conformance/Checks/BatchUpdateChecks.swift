internal import Foundation
internal import RoostCore
import RoostStores

extension ConformanceCheck {
    static let batchUpdates: [ConformanceCheck] = [
        ConformanceCheck(
            "batch.update.constants",
            "A batch update sets properties of the objects that match its predicate, with or without subentities, and gives each a new version."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            let first = try store.change { changes in
                for key in Int64(1)...6 {
                    try changes.insert(
                        ObjectID(key % 2 == 0 ? "Image" : "File", key: key),
                        values: [
                            "title": .string("t\(key)"), "size": .int(key), "content": .data(Data([UInt8(key)])),
                            "place": .composite(["street": "s", "number": .int(key)]),
                        ])
                }
            }
            let result = try store.run(
                BatchUpdateRequest(
                    "File", where: .greater("size", than: 2),
                    set: [
                        "title": .constant("new and longer"), "size": .constant(.null), "flag": .constant(true),
                        "rating": .constant(.decimal(Decimal(5) / 4)), "score": .constant(2),
                        "place.street": .constant("lane"), "rank": .constant(.double(-3)),
                    ], result: .objectIDs))
            try expectLater(result.generation, than: first.generation, on: bench, what: "the generation")
            try expectEqual(result.count, 4, "the count")
            try expectEqual(result.objectIDs?.map(\.key), [3, 4, 5, 6], "the IDs")
            try expectEqual(result.relatedObjectIDs, [], "the related objects")
            let reopened = try bench.reopen(store)
            let objects = try reopened.view { try $0.objects(of: "File") }
            try expectEqual(objects.map(\.version), [1, 1, 2, 2, 2, 2], "the versions")
            for (index, object) in objects.enumerated() {
                let key = Int64(index + 1)
                var values: [String: Value] = [
                    "title": .string("t\(key)"), "size": .int(key), "content": .data(Data([UInt8(key)])),
                    "place": .composite(["street": "s", "number": .int(key)]),
                ]
                if key > 2 {
                    values["size"] = nil
                    values["title"] = "new and longer"
                    values["lettering"] = "NEW AND LONGER"
                    values["place"] = .composite(["street": "lane", "number": .int(key)])
                    values.merge(["flag": true, "rating": .decimal(Decimal(5) / 4), "score": 2.0, "rank": -3]) { $1 }
                }
                try expectEqual(object.values, values, "the values of \(object.id)")
            }
            let alone = try reopened.run(
                BatchUpdateRequest(
                    "File", includesSubentities: false, set: ["place": .constant(.null)], result: .objectIDs))
            try expectEqual(alone.objectIDs?.map(\.key), [1, 3, 5], "the IDs without subentities")
            try reopened.view { snapshot in
                try expectEqual(
                    try snapshot.objects(of: "File").map { $0.values["place"] == nil },
                    [true, false, true, false, true, false], "the cleared places")
            }
            let nothing = try reopened.run(
                BatchUpdateRequest("Image", where: .constant(false), set: ["width": .constant(1)], result: .count))
            try expectEqual(nothing.count, 0, "the count where nothing meets the predicate")
            try expectEqual(nothing.generation, alone.generation, "the generation after an update of nothing")
        },
        ConformanceCheck(
            "batch.update.expressions",
            "A batch update evaluates expressions with the values that each object had before the update, and converts results to the property's type."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                try changes.insert(ObjectID("Folder", key: 1), values: ["name": "here"])
                for key in Int64(1)...3000 {
                    try changes.insert(
                        ObjectID("File", key: key),
                        values: [
                            "title": .string("t\(key)"), "size": .int(key), "rank": .int(key % 7),
                            "folder": key % 2 == 0 ? .objectID(ObjectID("Folder", key: 1)) : .null,
                        ])
                }
            }
            typealias Expression = FetchRequest.Expression
            func key(_ names: String...) -> Expression { .keyPath(names) }
            let result = try store.run(
                BatchUpdateRequest(
                    "File",
                    set: [
                        "size": key("rank"), "rank": key("size"),
                        "score": .function(.divide, [key("size"), .constant(2)]),
                        "rating": .function(.add, [key("size"), .constant(.decimal(Decimal(1) / 10))]),
                        "flag": .conditional(.equal("rank", to: 0), .constant(true), .constant(.null)),
                        "title": .conditional(
                            .isNull("folder"), .function(.uppercase, [key("title")]), key("folder", "name")),
                    ], result: .count))
            try expectEqual(result.count, 3000, "the count")
            try store.view { snapshot in
                for object in try snapshot.objects(of: "File") {
                    let number = object.id.key
                    var values: [String: Value] = [
                        "size": .int(number % 7), "rank": .int(number), "score": .double(Double(number) / 2),
                        "rating": .decimal(Decimal(number) + Decimal(1) / 10),
                        "title": number % 2 == 0 ? "here" : .string("T\(number)"),
                        "lettering": number % 2 == 0 ? "HERE" : .string("T\(number)"),
                    ]
                    if number % 7 == 0 { values["flag"] = true }
                    values["folder"] = number % 2 == 0 ? .objectID(ObjectID("Folder", key: 1)) : nil
                    try expectEqual(object.values, values, "the values of \(object.id)")
                    try expectEqual(object.version, 2, "the version of \(object.id)")
                }
            }
            // A conversion must be exact: half of an odd number is not an integer.
            let before = try store.contents()
            let error = try expectError(.invalidValue, in: "a result that the property cannot hold") {
                _ = try store.run(
                    BatchUpdateRequest(
                        "File", where: .greater("rank", than: 10),
                        set: ["size": .function(.divide, [key("rank"), .constant(2)])]))
            }
            try expect(
                error.message.contains("File.size") && error.message.contains("File/p11"),
                "the message names property and object", otherwise: error.message)
            try expectEqual(try store.contents(), before, "the contents after the error")
            _ = try store.run(
                BatchUpdateRequest(
                    "File", where: .equal("flag", to: true),
                    set: ["size": .function(.floor, [.function(.divide, [key("rank"), .constant(2)])])]))
            try store.view { snapshot in
                for object in try snapshot.objects(FetchRequest("File", where: .equal("flag", to: true))) {
                    try expectEqual(object.values["size"], .int(object.id.key / 2), "the size of \(object.id)")
                }
            }
        },
        ConformanceCheck(
            "batch.update.relationships",
            "A batch update sets to-one relationships and their inverses. Objects that join an ordered relationship come last in it. All other objects keep their positions."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            func folder(_ key: Int64) -> Value { .objectID(ObjectID("Folder", key: key)) }
            func pair(_ person: Int64, changes: inout ChangeSet) throws {
                try changes.insert(
                    ObjectID("Person", key: person), values: ["passport": .objectID(ObjectID("Passport", key: person))])
                try changes.insert(
                    ObjectID("Passport", key: person), values: ["holder": .objectID(ObjectID("Person", key: person))])
            }
            try store.change { changes in
                for key in Int64(1)...2 { try changes.insert(ObjectID("Folder", key: key), values: ["name": "f"]) }
                for key in Int64(1)...6 {
                    try changes.insert(
                        ObjectID(key == 4 ? "Image" : "File", key: key),
                        values: [
                            "title": "t", "folder": folder(key % 2 + 1), "folder#order": .int(100 - key),
                        ])
                }
                for person in Int64(1)...3 { try pair(person, changes: &changes) }
                try changes.insert(ObjectID("Person", key: 4), values: [:])
                try changes.insert(ObjectID("Folder", key: 3), values: ["name": "shortcut"])
            }
            let files = RelationshipName("Folder", name: "files")
            // Files 2, 4 and 6 are in the first folder; the second folder has 5, 3 and 1, in this
            // order.
            _ = try store.run(
                BatchUpdateRequest(
                    "File", where: .less("folder#order", than: 98), set: ["folder": .constant(folder(2))]))
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: files, from: ObjectID("Folder", key: 1)), [2], "the first folder")
                try expectEqual(
                    try snapshot.targets(of: files, from: ObjectID("Folder", key: 2)), [5, 3, 1, 4, 6],
                    "the second folder")
                try expectEqual(
                    try snapshot.object(ObjectID("File", key: 5))?.values["folder#order"], .int(95),
                    "the position of a file that stays")
            }
            _ = try store.run(
                BatchUpdateRequest("Image", set: ["folder": .constant(.null), "width": .constant(5)]))
            // The ID names superentity `File`, and object 4 is an `Image`.
            _ = try store.run(
                BatchUpdateRequest(
                    "Folder", where: .equal("name", to: "shortcut"),
                    set: ["shortcut": .constant(.objectID(ObjectID("File", key: 4)))]))
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: files, from: ObjectID("Folder", key: 2)), [5, 3, 1, 6],
                    "the second folder without the image"
                )
                try expectEqual(
                    try snapshot.object(ObjectID("Image", key: 4))?.values,
                    ["title": "t", "width": 5, "lettering": "T"], "the image")
                try expectEqual(
                    try snapshot.object(ObjectID("Folder", key: 3))?.values["shortcut"],
                    .objectID(ObjectID("Image", key: 4)),
                    "the shortcut")
            }
            // Person 1 gets the passport of person 2. Afterwards, person 2 has no passport, and the
            // former passport of person 1 has no holder.
            let result = try store.run(
                BatchUpdateRequest(
                    "Person", where: .compare("passport", using: .equal, with: .objectID(ObjectID("Passport", key: 1))),
                    set: ["passport": .constant(.objectID(ObjectID("Passport", key: 2)))], result: .objectIDs))
            try expectEqual(result.objectIDs, [ObjectID("Person", key: 1)], "the updated objects")
            try expectEqual(
                Set(result.relatedObjectIDs ?? []),
                [ObjectID("Person", key: 2), ObjectID("Passport", key: 1), ObjectID("Passport", key: 2)],
                "the related objects")
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.objects(of: "Person").map { $0.values["passport"] },
                    [.objectID(ObjectID("Passport", key: 2)), nil, .objectID(ObjectID("Passport", key: 3)), nil],
                    "the passports")
                try expectEqual(
                    try snapshot.objects(of: "Passport").map { $0.values["holder"] },
                    [nil, .objectID(ObjectID("Person", key: 1)), .objectID(ObjectID("Person", key: 3))], "the holders")
            }
            try expectError(.invalidRequest, in: "giving one passport to two persons") {
                _ = try store.run(
                    BatchUpdateRequest(
                        "Person", where: .isNotNull("passport"),
                        set: ["passport": .constant(.objectID(ObjectID("Passport", key: 3)))]))
            }
            _ = try store.run(BatchUpdateRequest("Passport", set: ["holder": .constant(.null)]))
            try expectEqual(
                try store.view { try $0.count(FetchRequest("Person", where: .isNotNull("passport"))) }, 0,
                "the persons with a passport, once no passport has a holder")
            try expectError(.invalidRequest, in: "one passport for all persons") {
                _ = try store.run(
                    BatchUpdateRequest("Person", set: ["passport": .constant(.objectID(ObjectID("Passport", key: 1)))]))
            }
            // A relationship that is its own inverse.
            func person(_ key: Int64) -> Value { .objectID(ObjectID("Person", key: key)) }
            func marry(_ pairs: [Int64: Int64]) throws {
                let target = pairs.reduce(FetchRequest.Expression.constant(.null)) { rest, pair in
                    .conditional(
                        .comparison(
                            .init(left: .evaluatedObject, operator: .equal, right: .constant(person(pair.key)))),
                        .constant(person(pair.value)), rest)
                }
                let isMeant = FetchRequest.Expression.aggregate(pairs.keys.map { .constant(person($0)) })
                _ = try store.run(
                    BatchUpdateRequest(
                        "Person", where: .comparison(.init(left: .evaluatedObject, operator: .isIn, right: isMeant)),
                        set: ["spouse": target]))
            }
            func spouses() throws -> [Value?] {
                try store.view { try $0.objects(of: "Person").map { $0.values["spouse"] } }
            }
            try marry([1: 2])
            try expectEqual(try spouses(), [person(2), person(1), nil, nil], "the spouses")
            try marry([2: 3, 1: 4])
            try expectEqual(try spouses(), [person(4), person(3), person(2), person(1)], "the spouses after a change")
            try marry([1: 3])
            try expectEqual(try spouses(), [person(3), nil, person(1), nil], "the spouses after another change")
            try expectError(.invalidRequest, in: "spouses that contradict each other") { try marry([1: 3, 3: 2]) }
            try expectEqual(try spouses(), [person(3), nil, person(1), nil], "the spouses after a contradiction")
            _ = try store.run(BatchDeleteRequest(objectIDs: [ObjectID("Person", key: 1)]))
            try expectEqual(try spouses(), [nil, nil, nil], "the spouses of the remaining persons")
            try expectEqual(try checkStore(store).map(\.message), [], "the findings afterwards")
        },
        ConformanceCheck(
            "batch.update.refused",
            "If an update is invalid for one object, the batch update fails with an error that names object and property, and writes nothing."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                try changes.insert(ObjectID("Person", key: 1), values: ["name": "Ann"])
                for key in Int64(1)...2000 {
                    try changes.insert(
                        ObjectID("File", key: key),
                        values: ["title": "t", "rank": .int(key), "size": key == 1990 ? .null : 4])
                }
                try changes.insert(ObjectID("Folder", key: 1), values: ["name": "f"])
            }
            let before = try store.contents()
            let generation = try store.view { try $0.recordedTally() }
            let rank = FetchRequest.Expression.keyPath(["rank"])
            // If the error depends on an object, with the key that the message must name.
            let faults: [(String, StoreError.Code, Int64?, FetchRequest.Expression)] = [
                ("titel", .unknownProperty, nil, .constant("x")), ("cache", .unknownProperty, nil, .constant("x")),
                ("lettering", .invalidRequest, nil, .constant("x")), ("tags", .invalidRequest, nil, .constant(.null)),
                ("title", .validationFailed, 1, .constant(.null)), ("title", .invalidValue, 1, .constant(5)),
                ("made", .invalidValue, 1, .constant(.string(plantedSecret))),
                ("ident", .invalidValue, 1, .constant(.string(plantedSecret))),
                ("rank", .invalidValue, 1639, .function(.multiply, [rank, .constant(20)])),
                (
                    "title", .validationFailed, 1990,
                    .conditional(.equal("rank", to: 1990), .constant(.null), .constant("x"))
                ),
                ("place.street", .validationFailed, 1, .constant("x")),
                ("place.colour", .unknownProperty, nil, .constant("x")),
                ("folder", .objectNotFound, 1, .constant(.objectID(ObjectID("Folder", key: 9)))),
                ("folder", .invalidValue, 1, .constant(.objectID(ObjectID("Person", key: 1)))),
                ("folder", .invalidValue, 1, .constant(1)), ("size", .unknownProperty, nil, .keyPath(["sice"])),
                ("size", .invalidRequest, nil, .keyPath(["folder", "children", "name"])),
            ]
            for (property, code, key, expression) in faults {
                let error = try expectError(code, in: "setting '\(property)' to \(expression)") {
                    _ = try store.run(
                        BatchUpdateRequest("File", set: [property: expression]))
                }
                if code != .unknownProperty {
                    let name = property.split(separator: ".")[0]
                    try expect(
                        error.message.contains(name), "the message names '\(property)'", otherwise: error.message)
                }
                if let key {
                    let id = ObjectID("File", key: key)
                    try expect(error.message.contains("of \(id)"), "the message names \(id)", otherwise: error.message)
                }
                try expectEqual(try store.contents(), before, "the contents after setting '\(property)'")
            }
            try expectError(.invalidRequest, in: "an update that sets nothing") {
                _ = try store.run(BatchUpdateRequest("File", set: [:]))
            }
            try expectError(.unknownEntity, in: "an unknown entity") {
                _ = try store.run(BatchUpdateRequest("Fool", set: ["title": .constant("x")]))
            }
            try expectError(.unknownProperty, in: "a subentity's property") {
                _ = try store.run(BatchUpdateRequest("File", set: ["width": .constant(1)]))
            }
            try expectEqual(try store.view { try $0.recordedTally() }, generation, "the recorded tally afterwards")
        },
        ConformanceCheck(
            "batch.update.constraints",
            "A batch update may exchange unique values between objects. If two objects would get the same value, the update fails with `constraintViolation`, and the error names both objects.",
            needs: [.uniquenessConstraints]
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                for (key, name) in [(1, "Ann"), (2, "Bob"), (3, "Eve")] as [(Int64, String)] {
                    try changes.insert(ObjectID("Person", key: key), values: ["name": .string(name)])
                }
            }
            let before = try store.contents()
            let error = try expectError(.constraintViolation, in: "one name for two") {
                _ = try store.run(
                    BatchUpdateRequest("Person", where: .notEqual("name", to: "Bob"), set: ["name": .constant("Bob")]))
            }
            try expectEqual(
                Set(error.violations.flatMap { [$0.rejected, $0.existing] }),
                [ObjectID("Person", key: 1), ObjectID("Person", key: 2), ObjectID("Person", key: 3)],
                "the objects that are named")
            try expectEqual(try store.contents(), before, "the contents")
            let isAnn = FetchRequest.Predicate.equal("name", to: "Ann")
            _ = try store.run(
                BatchUpdateRequest(
                    "Person", where: .notEqual("name", to: "Eve"),
                    set: ["name": .conditional(isAnn, .constant("Bob"), .constant("Ann"))]))
            try expectEqual(
                try store.view { try $0.objects(of: "Person") }.map { $0.values["name"] }, ["Bob", "Ann", "Eve"],
                "the names after two were exchanged")
        },
    ]
}
