internal import Foundation
internal import RoostCore

extension ConformanceCheck {
    /// Batch requests that insert.
    static let batchInserts: [ConformanceCheck] = [
        ConformanceCheck(
            "batch.insert.rows",
            "A batch insert makes an object of each row, with the model's defaults for what a row does not name."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            let file = try store.change { try $0.insert(ObjectID("Folder", 1), values: ["name": "here"]) }
            let date = Date(timeIntervalSinceReferenceDate: -0.125)
            let result = try store.execute(
                BatchInsertRequest(
                    "Image",
                    rows: [
                        ["title": "plain"],
                        ["title": "null", "size": .null, "rating": 7, "score": 3, "flag": 1, "rank": .double(-32768)],
                        [
                            "title": "full", "width": 9, "made": .date(date), "page": "roost:x",
                            "place": .composite(["number": 4]), "place.street": "Lane", "content": .data(Data([0, 1])),
                        ],
                    ], result: .objectIDs))
            try expectEqual(result.generation, file.generation + 1, "the generation")
            try expectEqual(result.count, 3, "the count")
            try expectEqual(result.relatedObjectIDs, [], "the related objects")
            let objects = try bench.reopen(store).view { try $0.objects(of: "File") }
            try expectEqual(objects.map(\.id), try require(result.objectIDs, "IDs"), "the IDs")
            try expectEqual(objects.map(\.version), [1, 1, 1], "the versions")
            try expectEqual(
                objects.map(\.values),
                [
                    ["title": "plain", "size": 1],
                    [
                        "title": "null", "rating": .decimal(7), "score": .double(3), "flag": true, "rank": .int(-32768),
                    ],
                    [
                        "title": "full", "size": 1, "width": 9, "made": .date(date), "page": .uri("roost:x"),
                        "place": .composite(["number": 4, "street": "Lane"]), "content": .data(Data([0, 1])),
                    ],
                ], "the values")
        },
        ConformanceCheck(
            "batch.insert.handler",
            "A handler fills one row after the other; the row of the call that ends it is not inserted, and an error inserts none."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            func insert(
                _ count: Int64, failing: Bool = false
            ) throws(StoreError) -> BatchResult {
                var number: Int64 = 0
                return try store.execute(
                    BatchInsertRequest("Passport", result: .count) { (row) throws(StoreError) in
                        number += 1
                        guard row.isEmpty else { throw StoreError(.internalInconsistency, "The row is not empty.") }
                        row["number"] = .int(number)
                        if failing, number > count { throw StoreError(.cancelled, "There is no more.") }
                        return number > count
                    })
            }
            let result = try insert(700)
            try expectEqual(result.count, 700, "the count")
            try expectEqual(result.objectIDs, nil, "no IDs, which were not asked for")
            try expectEqual(
                try store.view { try $0.objects(of: "Passport") }.map { $0.values["number"] },
                (1...700).map { .int($0) }, "the numbers")
            let before = try store.contents()
            try expectError(.cancelled, in: "a handler that fails") { _ = try insert(300, failing: true) }
            try expectEqual(try store.contents(), before, "the contents after a handler that failed")
            try expectEqual(try insert(0).count, 0, "the count of no rows")
            try expectEqual(try store.contents(), before, "the contents after no rows")
        },
        ConformanceCheck(
            "batch.insert.large",
            "A batch insert of more than fits into a change set is one commit all the same, or none."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            let first = try store.change { try $0.insert(ObjectID("Folder", 1), values: ["name": "here"]) }
            let content = Value.data(Data(repeating: 7, count: 100_000))
            let count = 400
            func rows(failingAt bad: Int? = nil) -> [BatchInsertRequest.Row] {
                (1...count).map { number in
                    [
                        "title": number == bad ? .null : .string("\(number)"), "content": content,
                        "folder": .objectID(ObjectID("Folder", 1)),
                    ]
                }
            }
            let before = try store.contents()
            try expectError(.invalidValue, in: "a row that is wrong, after many that are not") {
                _ = try store.execute(BatchInsertRequest("File", rows: rows(failingAt: count)))
            }
            try expectEqual(try store.contents(), before, "the contents after a row that was refused")
            let result = try store.execute(BatchInsertRequest("File", rows: rows(), result: .objectIDs))
            try expectEqual(result.generation, first.generation + 1, "the generation")
            let reopened = try bench.reopen(store)
            try reopened.view { snapshot in
                let objects = try snapshot.objects(of: "File")
                try expectEqual(objects.map(\.id), try require(result.objectIDs, "IDs"), "the IDs")
                try expectEqual(objects.map { $0.values["title"] }, (1...count).map { .string("\($0)") }, "the titles")
                try expectEqual(
                    try snapshot.targets(of: RelationshipName("Folder", "files"), from: ObjectID("Folder", 1)),
                    objects.map(\.id.key), "the order in the folder")
            }
            let next = try reopened.reserveKeys(1, for: "File").lowerBound
            try expect(
                next > (result.objectIDs?.last?.key ?? .max), "the next key is a new one", otherwise: "it is \(next)")
        },
        ConformanceCheck(
            "batch.insert.relationships",
            "Objects that join an ordered relationship come last in it; of a pair of to-one relationships both sides change."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                for key in Int64(1)...2 { try changes.insert(ObjectID("Folder", key), values: ["name": "f"]) }
                for (key, place) in [(1, 50), (2, -3), (3, 7)] as [(Int64, Int64)] {
                    try changes.insert(
                        ObjectID("File", key),
                        values: [
                            "title": "old", "folder": .objectID(ObjectID("Folder", 1)), "folder#order": .int(place),
                        ])
                }
                for key in Int64(1)...3 {
                    try changes.insert(
                        ObjectID("Person", key),
                        values: key == 1 ? ["passport": .objectID(ObjectID("Passport", 1))] : [:])
                }
                try changes.insert(ObjectID("Passport", 1), values: ["holder": .objectID(ObjectID("Person", 1))])
            }
            let folder = Value.objectID(ObjectID("Folder", 1))
            let files =
                try store.execute(
                    BatchInsertRequest(
                        "Image",
                        rows: [
                            ["title": "a", "folder": folder], ["title": "b", "folder": folder],
                            ["title": "c", "folder": .objectID(ObjectID("Folder", 2))],
                            ["title": "d", "folder": folder, "folder#order": 0],
                        ], result: .objectIDs)
                ).objectIDs ?? []
            try store.view { snapshot in
                let keys = files.map(\.key)
                try expectEqual(keys.count, 4, "the number of IDs")
                try expectEqual(
                    try snapshot.targets(of: RelationshipName("Folder", "files"), from: ObjectID("Folder", 1)),
                    [2, keys[3], 3, 1, keys[0], keys[1]], "the order in the first folder")
            }
            let result = try store.execute(
                BatchInsertRequest(
                    "Passport",
                    rows: [
                        ["number": 7, "holder": .objectID(ObjectID("Person", 1))],
                        ["number": 8, "holder": .objectID(ObjectID("Person", 2))],
                    ], result: .objectIDs))
            let passports = try require(result.objectIDs, "IDs")
            try expectEqual(
                Set(result.relatedObjectIDs ?? []),
                [ObjectID("Person", 1), ObjectID("Person", 2), ObjectID("Passport", 1)], "the related objects")
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.objects(of: "Person").map { $0.values["passport"] },
                    [.objectID(passports[0]), .objectID(passports[1]), nil], "the passports of the persons")
                try expectEqual(
                    try snapshot.object(ObjectID("Passport", 1))?.values["holder"], nil,
                    "the holder of the old passport")
            }
            try expectError(.invalidRequest, in: "two passports of one person") {
                _ = try store.execute(
                    BatchInsertRequest(
                        "Passport", rows: Array(repeating: ["holder": .objectID(ObjectID("Person", 3))], count: 2)))
            }
        },
        ConformanceCheck(
            "batch.insert.refused",
            "A batch insert that one row makes impossible fails with the error that names the property, and writes nothing."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                try changes.insert(ObjectID("Folder", 1), values: ["name": "f"])
                try changes.insert(ObjectID("Label", 2), values: [:])
            }
            let before = try store.contents()
            let generation = try store.view { try $0.recordedTally() }
            let faults: [(String, StoreError.Code, BatchInsertRequest.Row)] = [
                ("titel", .unknownProperty, ["titel": "x"]), ("cache", .unknownProperty, ["cache": "x"]),
                ("lettering", .invalidRequest, ["lettering": "x"]), ("tags", .invalidRequest, ["tags": .null]),
                ("title", .invalidValue, ["title": .null]), ("title", .invalidValue, ["title": 5]),
                ("rank", .invalidValue, ["rank": 32768]), ("rank", .invalidValue, ["rank": .double(0.5)]),
                ("size", .invalidValue, ["size": .double(.nan)]), ("flag", .invalidValue, ["flag": 2]),
                ("made", .invalidValue, ["made": .string(plantedSecret)]), ("ident", .invalidValue, ["ident": "x"]),
                ("number", .invalidValue, ["place": .composite(["street": "x"])]),
                ("number", .invalidValue, ["place.street": "x"]),
                ("colour", .unknownProperty, ["place": .composite(["colour": "x"])]),
                ("folder", .objectNotFound, ["folder": .objectID(ObjectID("Folder", 9))]),
                ("folder", .invalidValue, ["folder": .objectID(ObjectID("Label", 2))]),
                ("folder", .invalidValue, ["folder": 1]),
            ]
            for (property, code, row) in faults {
                let row = ["title": "t"].merging(row) { $1 }
                let error = try expectError(code, in: "a row with \(row.keys.sorted())") {
                    _ = try store.execute(
                        BatchInsertRequest("File", rows: [["title": "fine"], row, ["title": "fine"]]))
                }
                try expect(
                    error.message.contains(property), "the message names '\(property)'", otherwise: error.message)
                try expectEqual(try store.contents(), before, "the contents after a row with \(row.keys.sorted())")
            }
            try expectError(.invalidRequest, in: "an abstract entity") {
                _ = try store.execute(BatchInsertRequest("Shape", rows: [[:]]))
            }
            try expectError(.unknownEntity, in: "an unknown entity") {
                _ = try store.execute(BatchInsertRequest("Fool", rows: [[:]]))
            }
            try expectEqual(try store.view { try $0.recordedTally() }, generation, "the recorded tally afterwards")
        },
        ConformanceCheck(
            "batch.insert.constraints",
            "A batch insert that claims taken values fails with `constraintViolation`, naming both sides, and writes nothing.",
            needs: [.uniquenessConstraints]
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { try $0.insert(ObjectID("Person", 1), values: ["name": "Ann"]) }
            let before = try store.contents()
            let error = try expectError(.constraintViolation, in: "a name that is taken") {
                _ = try store.execute(
                    BatchInsertRequest("Person", rows: [["name": "Bob"], ["name": "Ann"], ["name": .null], [:]]))
            }
            try expectEqual(error.violations.map(\.existing), [ObjectID("Person", 1)], "the object that has the name")
            try expectEqual(try store.contents(), before, "the contents")
            try expectError(.constraintViolation, in: "a name that two rows have") {
                _ = try store.execute(BatchInsertRequest("Person", rows: [["name": "Bob"], ["name": "Bob"]]))
            }
            try expectEqual(try store.contents(), before, "the contents")
        },
    ]

    /// Batch requests that update.
    static let batchUpdates: [ConformanceCheck] = [
        ConformanceCheck(
            "batch.update.constants",
            "A batch update sets properties of the objects that meet its predicate, subentities included or not, and gives each a new version."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            let first = try store.change { changes in
                for key in Int64(1)...6 {
                    try changes.insert(
                        ObjectID(key % 2 == 0 ? "Image" : "File", key),
                        values: [
                            "title": .string("t\(key)"), "size": .int(key), "content": .data(Data([UInt8(key)])),
                            "place": .composite(["street": "s", "number": .int(key)]),
                        ])
                }
            }
            let result = try store.execute(
                BatchUpdateRequest(
                    "File", where: .greater("size", 2),
                    set: [
                        "title": .constant("new and longer"), "size": .constant(.null), "flag": .constant(true),
                        "rating": .constant(.decimal(Decimal(5) / 4)), "score": .constant(2),
                        "place.street": .constant("lane"), "rank": .constant(.double(-3)),
                    ], result: .objectIDs))
            try expectEqual(result.generation, first.generation + 1, "the generation")
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
                    values["place"] = .composite(["street": "lane", "number": .int(key)])
                    values.merge(["flag": true, "rating": .decimal(Decimal(5) / 4), "score": 2.0, "rank": -3]) { $1 }
                }
                try expectEqual(object.values, values, "the values of \(object.id)")
            }
            let alone = try reopened.execute(
                BatchUpdateRequest(
                    "File", includesSubentities: false, set: ["place": .constant(.null)], result: .objectIDs))
            try expectEqual(alone.objectIDs?.map(\.key), [1, 3, 5], "the IDs without subentities")
            try reopened.view { snapshot in
                try expectEqual(
                    try snapshot.objects(of: "File").map { $0.values["place"] == nil },
                    [true, false, true, false, true, false], "which places are gone")
            }
            let nothing = try reopened.execute(
                BatchUpdateRequest("Image", where: .constant(false), set: ["width": .constant(1)], result: .count))
            try expectEqual(nothing.count, 0, "the count where nothing meets the predicate")
            try expectEqual(nothing.generation, alone.generation, "the generation then")
        },
        ConformanceCheck(
            "batch.update.expressions",
            "A batch update sets properties to what expressions give for each object as it was before, in the property's own type."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                try changes.insert(ObjectID("Folder", 1), values: ["name": "here"])
                for key in Int64(1)...3000 {
                    try changes.insert(
                        ObjectID("File", key),
                        values: [
                            "title": .string("t\(key)"), "size": .int(key), "rank": .int(key % 7),
                            "folder": key % 2 == 0 ? .objectID(ObjectID("Folder", 1)) : .null,
                        ])
                }
            }
            typealias Expression = FetchRequest.Expression
            func key(_ names: String...) -> Expression { .keyPath(names) }
            let result = try store.execute(
                BatchUpdateRequest(
                    "File",
                    set: [
                        // They exchange their values.
                        "size": key("rank"), "rank": key("size"),
                        "score": .function(.divide, [key("size"), .constant(2)]),
                        "rating": .function(.add, [key("size"), .constant(.decimal(Decimal(1) / 10))]),
                        "flag": .conditional(.equal("rank", 0), .constant(true), .constant(.null)),
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
                    ]
                    if number % 7 == 0 { values["flag"] = true }
                    values["folder"] = number % 2 == 0 ? .objectID(ObjectID("Folder", 1)) : nil
                    try expectEqual(object.values, values, "the values of \(object.id)")
                    try expectEqual(object.version, 2, "the version of \(object.id)")
                }
            }
            // Exactly, or not at all: the half of the odd ones is no whole number.
            let before = try store.contents()
            let error = try expectError(.invalidValue, in: "a result that the property cannot hold") {
                _ = try store.execute(
                    BatchUpdateRequest(
                        "File", where: .greater("rank", 10),
                        set: ["size": .function(.divide, [key("rank"), .constant(2)])]))
            }
            try expect(
                error.message.contains("File.size") && error.message.contains("File/p11"),
                "the message names property and object", otherwise: error.message)
            try expectEqual(try store.contents(), before, "the contents after the error")
            _ = try store.execute(
                BatchUpdateRequest(
                    "File", where: .equal("flag", true),
                    set: ["size": .function(.floor, [.function(.divide, [key("rank"), .constant(2)])])]))
            try store.view { snapshot in
                for object in try snapshot.objects(FetchRequest("File", where: .equal("flag", true))) {
                    try expectEqual(object.values["size"], .int(object.id.key / 2), "the size of \(object.id)")
                }
            }
        },
        ConformanceCheck(
            "batch.update.relationships",
            "A batch update sets to-one relationships: who joins an ordered one comes last, who stays keeps its place, and other sides follow."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            func folder(_ key: Int64) -> Value { .objectID(ObjectID("Folder", key)) }
            func pair(_ person: Int64, _ changes: inout ChangeSet) throws {
                try changes.insert(
                    ObjectID("Person", person), values: ["passport": .objectID(ObjectID("Passport", person))])
                try changes.insert(
                    ObjectID("Passport", person), values: ["holder": .objectID(ObjectID("Person", person))])
            }
            try store.change { changes in
                for key in Int64(1)...2 { try changes.insert(ObjectID("Folder", key), values: ["name": "f"]) }
                for key in Int64(1)...6 {
                    try changes.insert(
                        ObjectID(key == 4 ? "Image" : "File", key),
                        values: [
                            "title": "t", "folder": folder(key % 2 + 1), "folder#order": .int(100 - key),
                        ])
                }
                for person in Int64(1)...3 { try pair(person, &changes) }
                try changes.insert(ObjectID("Person", 4), values: [:])
                try changes.insert(ObjectID("Folder", 3), values: ["name": "shortcut"])
            }
            let files = RelationshipName("Folder", "files")
            // 2, 4 and 6 are in the first folder, 1, 3 and 5 in the second: 5, 3, 1.
            _ = try store.execute(
                BatchUpdateRequest("File", where: .less("folder#order", 98), set: ["folder": .constant(folder(2))]))
            try store.view { snapshot in
                try expectEqual(try snapshot.targets(of: files, from: ObjectID("Folder", 1)), [2], "the first folder")
                try expectEqual(
                    try snapshot.targets(of: files, from: ObjectID("Folder", 2)), [5, 3, 1, 4, 6], "the second folder")
                try expectEqual(
                    try snapshot.object(ObjectID("File", 5))?.values["folder#order"], .int(95),
                    "the place of one who stays")
            }
            _ = try store.execute(
                BatchUpdateRequest("Image", set: ["folder": .constant(.null), "width": .constant(5)]))
            // An object may be named by a superentity.
            _ = try store.execute(
                BatchUpdateRequest(
                    "Folder", where: .equal("name", "shortcut"),
                    set: ["shortcut": .constant(.objectID(ObjectID("File", 4)))]))
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.targets(of: files, from: ObjectID("Folder", 2)), [5, 3, 1, 6], "the second folder then"
                )
                try expectEqual(
                    try snapshot.object(ObjectID("Image", 4))?.values, ["title": "t", "width": 5], "the image")
                try expectEqual(
                    try snapshot.object(ObjectID("Folder", 3))?.values["shortcut"], .objectID(ObjectID("Image", 4)),
                    "the shortcut")
            }
            // 1 takes the passport of 2, whose own is nobody's; the one that 1 had is free too.
            let result = try store.execute(
                BatchUpdateRequest(
                    "Person", where: .compare("passport", .equal, .objectID(ObjectID("Passport", 1))),
                    set: ["passport": .constant(.objectID(ObjectID("Passport", 2)))], result: .objectIDs))
            try expectEqual(result.objectIDs, [ObjectID("Person", 1)], "the updated objects")
            try expectEqual(
                Set(result.relatedObjectIDs ?? []),
                [ObjectID("Person", 2), ObjectID("Passport", 1), ObjectID("Passport", 2)], "the related objects")
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.objects(of: "Person").map { $0.values["passport"] },
                    [.objectID(ObjectID("Passport", 2)), nil, .objectID(ObjectID("Passport", 3)), nil], "the passports")
                try expectEqual(
                    try snapshot.objects(of: "Passport").map { $0.values["holder"] },
                    [nil, .objectID(ObjectID("Person", 1)), .objectID(ObjectID("Person", 3))], "the holders")
            }
            try expectError(.invalidRequest, in: "the passport of one for another, who keeps it") {
                _ = try store.execute(
                    BatchUpdateRequest(
                        "Person", where: .isNotNull("passport"),
                        set: ["passport": .constant(.objectID(ObjectID("Passport", 3)))]))
            }
            _ = try store.execute(BatchUpdateRequest("Passport", set: ["holder": .constant(.null)]))
            try expectEqual(
                try store.view { try $0.count(FetchRequest("Person", where: .isNotNull("passport"))) }, 0,
                "the persons with a passport, once no passport has a holder")
            try expectError(.invalidRequest, in: "one passport for everybody") {
                _ = try store.execute(
                    BatchUpdateRequest("Person", set: ["passport": .constant(.objectID(ObjectID("Passport", 1)))]))
            }
            // A relationship that is its own inverse.
            func person(_ key: Int64) -> Value { .objectID(ObjectID("Person", key)) }
            func marry(_ pairs: [Int64: Int64]) throws {
                let target = pairs.reduce(FetchRequest.Expression.constant(.null)) { rest, pair in
                    .conditional(
                        .comparison(.init(.evaluatedObject, .equal, .constant(person(pair.key)))),
                        .constant(person(pair.value)), rest)
                }
                let isMeant = FetchRequest.Expression.aggregate(pairs.keys.map { .constant(person($0)) })
                _ = try store.execute(
                    BatchUpdateRequest(
                        "Person", where: .comparison(.init(.evaluatedObject, .isIn, isMeant)), set: ["spouse": target]))
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
            _ = try store.execute(BatchDeleteRequest(objectIDs: [ObjectID("Person", 1)]))
            try expectEqual(try spouses(), [nil, nil, nil], "the spouses of those who are left")
            try expectEqual(try checkStore(store).map(\.message), [], "the findings afterwards")
        },
        ConformanceCheck(
            "batch.update.refused",
            "A batch update that is impossible for one object fails with the error that names it and the property, and writes nothing."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                try changes.insert(ObjectID("Person", 1), values: ["name": "Ann"])
                for key in Int64(1)...2000 {
                    try changes.insert(
                        ObjectID("File", key),
                        values: ["title": "t", "rank": .int(key), "size": key == 1990 ? .null : 4])
                }
                try changes.insert(ObjectID("Folder", 1), values: ["name": "f"])
            }
            let before = try store.contents()
            let generation = try store.view { try $0.recordedTally() }
            let rank = FetchRequest.Expression.keyPath(["rank"])
            let faults: [(String, StoreError.Code, FetchRequest.Expression)] = [
                ("titel", .unknownProperty, .constant("x")), ("cache", .unknownProperty, .constant("x")),
                ("lettering", .invalidRequest, .constant("x")), ("tags", .invalidRequest, .constant(.null)),
                ("title", .invalidValue, .constant(.null)), ("title", .invalidValue, .constant(5)),
                ("made", .invalidValue, .constant(.string(plantedSecret))),
                ("ident", .invalidValue, .constant(.string(plantedSecret))),
                ("rank", .invalidValue, .function(.multiply, [rank, .constant(20)])),
                ("title", .invalidValue, .conditional(.equal("rank", 1990), .constant(.null), .constant("x"))),
                ("place.street", .invalidValue, .constant("x")), ("place.colour", .unknownProperty, .constant("x")),
                ("folder", .objectNotFound, .constant(.objectID(ObjectID("Folder", 9)))),
                ("folder", .invalidValue, .constant(.objectID(ObjectID("Person", 1)))),
                ("folder", .invalidValue, .constant(1)), ("size", .unknownProperty, .keyPath(["sice"])),
                ("size", .invalidRequest, .keyPath(["folder", "children", "name"])),
            ]
            for (property, code, expression) in faults {
                let error = try expectError(code, in: "setting '\(property)' to \(expression)") {
                    _ = try store.execute(
                        BatchUpdateRequest("File", set: [property: expression]))
                }
                if code != .unknownProperty, code != .objectNotFound {
                    let name = property.split(separator: ".")[0]
                    try expect(
                        error.message.contains(name) || error.message.contains("number"),
                        "the message names '\(property)'", otherwise: error.message)
                }
                try expectEqual(try store.contents(), before, "the contents after setting '\(property)'")
            }
            try expectError(.invalidRequest, in: "an update that sets nothing") {
                _ = try store.execute(BatchUpdateRequest("File", set: [:]))
            }
            try expectError(.unknownEntity, in: "an unknown entity") {
                _ = try store.execute(BatchUpdateRequest("Fool", set: ["title": .constant("x")]))
            }
            // A property of a subentity is none of the entity's.
            try expectError(.unknownProperty, in: "a subentity's property") {
                _ = try store.execute(BatchUpdateRequest("File", set: ["width": .constant(1)]))
            }
            try expectEqual(try store.view { try $0.recordedTally() }, generation, "the recorded tally afterwards")
        },
        ConformanceCheck(
            "batch.update.constraints",
            "A batch update may move unique values from one object to another; one that gives two the same fails with `constraintViolation`, naming both.",
            needs: [.uniquenessConstraints]
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                for (key, name) in [(1, "Ann"), (2, "Bob"), (3, "Eve")] as [(Int64, String)] {
                    try changes.insert(ObjectID("Person", key), values: ["name": .string(name)])
                }
            }
            let before = try store.contents()
            let error = try expectError(.constraintViolation, in: "one name for two") {
                _ = try store.execute(
                    BatchUpdateRequest("Person", where: .notEqual("name", "Bob"), set: ["name": .constant("Bob")]))
            }
            try expectEqual(
                Set(error.violations.flatMap { [$0.rejected, $0.existing] }),
                [ObjectID("Person", 1), ObjectID("Person", 2), ObjectID("Person", 3)], "the objects that are named")
            try expectEqual(try store.contents(), before, "the contents")
            let isAnn = FetchRequest.Predicate.equal("name", "Ann")
            _ = try store.execute(
                BatchUpdateRequest(
                    "Person", where: .notEqual("name", "Eve"),
                    set: ["name": .conditional(isAnn, .constant("Bob"), .constant("Ann"))]))
            try expectEqual(
                try store.view { try $0.objects(of: "Person") }.map { $0.values["name"] }, ["Bob", "Ann", "Eve"],
                "the names after two were exchanged")
        },
    ]

    /// Batch requests that delete.
    static let batchDeletes: [ConformanceCheck] = [
        ConformanceCheck(
            "batch.delete.selection",
            "A batch delete takes what its request would fetch, limit, offset and order included, or the objects it names."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                for key in Int64(1)...10 {
                    try changes.insert(ObjectID("Passport", key), values: ["number": .int(key % 4)])
                }
            }
            let request = FetchRequest(
                "Passport", where: .notEqual("number", 1), sortedBy: [.init("number", ascending: false)], limit: 3,
                offset: 2)
            let expected = try store.view { try $0.keys(request) }
            let result = try store.execute(BatchDeleteRequest(request, result: .objectIDs))
            try expectEqual(result.objectIDs?.map(\.key), expected, "the IDs")
            try expectEqual(result.count, 3, "the count")
            let rest = (Int64(1)...10).filter { !expected.contains($0) }
            try expectEqual(try store.view { try $0.objects(of: "Passport") }.map(\.id.key), rest, "what is left")
            let ids = [rest[2], expected[0], rest[0], rest[2]].map { ObjectID("Passport", $0) }
            let second = try store.execute(BatchDeleteRequest(objectIDs: ids, result: .objectIDs))
            try expectEqual(second.objectIDs, [ids[0], ids[2]], "the IDs of those that existed")
            try expectEqual(second.generation, result.generation + 1, "the generation")
            let nothing = try store.execute(BatchDeleteRequest(objectIDs: ids))
            try expectEqual(nothing.generation, second.generation, "the generation when there is nothing to delete")
            try expectEqual(nothing.count, nil, "no count, which was not asked for")
            try expectEqual(try bench.reopen(store).view { try $0.count(FetchRequest("Passport")) }, 5, "the rest")
        },
        ConformanceCheck(
            "batch.delete.rules",
            "A batch delete follows cascade to the end, round circles and into subentities, and nullify; order and links of the rest stay."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            func folder(_ key: Int64) -> Value { .objectID(ObjectID("Folder", key)) }
            try store.change { changes in
                // 1 → 2 → 3 → 1 is a circle; 4 is apart.
                for (key, parent) in [(1, 3), (2, 1), (3, 2), (4, 0)] as [(Int64, Int64)] {
                    try changes.insert(
                        ObjectID("Folder", key),
                        values: ["name": "f", "parent": parent == 0 ? .null : folder(parent)])
                }
                for key in Int64(1)...8 {
                    try changes.insert(
                        ObjectID(key % 2 == 0 ? "Image" : "File", key),
                        values: [
                            "title": "t", "folder": folder(key % 4 + 1), "folder#order": .int(-key),
                        ])
                }
                for key in Int64(1)...8 {
                    try changes.insert(
                        ObjectID("Thumbnail", key), values: ["image": .objectID(ObjectID("Image", (key + 1) / 2 * 2))])
                }
                try changes.insert(ObjectID("Label", 1), values: [:])
                for key in Int64(1)...4 {
                    try changes.add(Link(key, 1), to: RelationshipName("Folder", "labels"))
                    try changes.add(Link(key, 1), to: RelationshipName("File", "tags"))
                }
            }
            let result = try store.execute(BatchDeleteRequest(objectIDs: [ObjectID("Folder", 2)], result: .objectIDs))
            try expectEqual(result.objectIDs?.first, ObjectID("Folder", 2), "the first of the IDs")
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Folder").map(\.id.key), [4], "the folders")
                try expectEqual(try snapshot.objects(of: "File").map(\.id.key), [3, 7], "the files")
                try expectEqual(try snapshot.objects(of: "Thumbnail").map(\.id.key), [], "the thumbnails")
                try expectEqual(
                    try snapshot.targets(of: RelationshipName("Folder", "files"), from: ObjectID("Folder", 4)), [7, 3],
                    "the order in the folder that stays")
                try expectEqual(
                    try snapshot.allLinks(of: RelationshipName("Folder", "labels")), [Link(4, 1)], "the labels")
                try expectEqual(
                    try snapshot.targets(of: RelationshipName("Label", "tagged"), from: ObjectID("Label", 1)), [3],
                    "what is tagged")
            }
            try expectEqual(result.count, 3 + 6 + 8, "the count")
            // Nullify: the children of a folder are its to delete, its parent is not.
            try store.change { changes in
                try changes.insert(ObjectID("Folder", 10), values: ["name": "child", "parent": folder(4)])
                try changes.insert(
                    ObjectID("Person", 1), values: ["passport": .objectID(ObjectID("Passport", 1))])
                try changes.insert(ObjectID("Passport", 1), values: ["holder": .objectID(ObjectID("Person", 1))])
            }
            _ = try store.execute(BatchDeleteRequest(objectIDs: [ObjectID("Folder", 10)]))
            let passport = try store.execute(
                BatchDeleteRequest(objectIDs: [ObjectID("Passport", 1)], result: .objectIDs))
            try expectEqual(passport.relatedObjectIDs, [ObjectID("Person", 1)], "the related objects")
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Folder").map(\.id.key), [4], "the folders that stay")
                let person = try require(try snapshot.object(ObjectID("Person", 1)), "the person")
                try expectEqual(person.values, [:], "the person's values")
            }
            try expectEqual(try checkStore(store).map(\.message), [], "the findings afterwards")
        },
        ConformanceCheck(
            "batch.delete.deny",
            "A batch delete that a rule denies, or that a mandatory relationship needs, names every pair and deletes nothing; when both sides go it succeeds."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            func person(_ key: Int64) -> Value { .objectID(ObjectID("Person", key)) }
            try store.change { changes in
                for key in Int64(1)...4 { try changes.insert(ObjectID("Person", key), values: [:]) }
                for (key, author) in [(1, 1), (2, 2), (3, 2)] as [(Int64, Int64)] {
                    try changes.insert(ObjectID("Image", key), values: ["title": "t", "author": person(author)])
                }
                try changes.insert(ObjectID("Loan", 1), values: ["borrower": person(3)])
                try changes.insert(ObjectID("Stamp", 1), values: ["file": .objectID(ObjectID("Image", 3))])
            }
            let before = try store.contents()
            let persons = BatchDeleteRequest(FetchRequest("Person"), result: .count)
            let error = try expectError(.deleteDenied, in: "deleting authors of works and borrowers") {
                _ = try store.execute(persons)
            }
            let works = RelationshipName("Person", "works")
            func denial(_ name: RelationshipName, _ deleted: ObjectID, _ stays: ObjectID, _ reason: DeleteDenial.Reason)
                -> DeleteDenial
            { DeleteDenial(relationship: name, deleted: deleted, remaining: stays, reason: reason) }
            try expectEqual(
                Set(error.denials),
                [
                    denial(works, ObjectID("Person", 1), ObjectID("Image", 1), .rule),
                    denial(works, ObjectID("Person", 2), ObjectID("Image", 2), .rule),
                    denial(works, ObjectID("Person", 2), ObjectID("Image", 3), .rule),
                    denial(
                        RelationshipName("Loan", "borrower"), ObjectID("Person", 3), ObjectID("Loan", 1), .mandatory),
                ], "the denials")
            try expectEqual(try store.contents(), before, "the contents")
            let stamped = try expectError(.deleteDenied, in: "deleting a file that a mandatory reference needs") {
                _ = try store.execute(BatchDeleteRequest(FetchRequest("Image")))
            }
            try expectEqual(
                stamped.denials,
                [denial(RelationshipName("Stamp", "file"), ObjectID("Image", 3), ObjectID("Stamp", 1), .mandatory)],
                "the denials of the files")
            try expectEqual(try store.contents(), before, "the contents")
            let all = ["Person", "Image", "Loan", "Stamp"] as [EntityName]
            let ids = try store.view { snapshot in try all.flatMap { try snapshot.objects(of: $0).map(\.id) } }
            try expectEqual(try store.execute(BatchDeleteRequest(objectIDs: ids, result: .count)).count, 9, "the count")
            try expectEqual(try store.view { try $0.computeTally() }.digest.objectCount, 0, "what is left")
        },
        ConformanceCheck(
            "batch.delete.no-action", "With delete rule noAction, to-one references stay and lead nowhere."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                try changes.insert(ObjectID("Person", 1), values: [:])
                try changes.insert(ObjectID("Visit", 1), values: ["guest": .objectID(ObjectID("Person", 1))])
            }
            _ = try store.execute(BatchDeleteRequest(objectIDs: [ObjectID("Person", 1)]))
            try store.view { snapshot in
                let visit = try require(try snapshot.object(ObjectID("Visit", 1)), "the visit")
                try expectEqual(visit.values, ["guest": .objectID(ObjectID("Person", 1))], "the visit's values")
                try expectEqual(visit.version, 1, "the visit's version")
            }
        },
        ConformanceCheck(
            "batch.delete.without-inverse",
            "References by to-one relationships without inverse are cleared, however many objects go."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            let count: Int64 = 2500
            try store.change { changes in
                for key in 1...count {
                    try changes.insert(ObjectID(key % 2 == 0 ? "Image" : "File", key), values: ["title": "t"])
                    try changes.insert(
                        ObjectID("Comment", key),
                        values: ["file": .objectID(ObjectID(key % 2 == 0 ? "Image" : "File", key))])
                }
                try changes.insert(
                    ObjectID("Folder", 1), values: ["name": "n", "shortcut": .objectID(ObjectID("Image", 2))])
            }
            let few = try store.execute(
                BatchDeleteRequest(objectIDs: [2, 5].map { ObjectID("File", $0) }, result: .objectIDs))
            try expectEqual(few.objectIDs, [ObjectID("Image", 2), ObjectID("File", 5)], "the first that go")
            try expectEqual(
                Set(few.relatedObjectIDs ?? []),
                [ObjectID("Comment", 2), ObjectID("Comment", 5), ObjectID("Folder", 1)], "what loses a reference")
            let many = try store.execute(BatchDeleteRequest(FetchRequest("File"), result: .objectIDs))
            try expectEqual(many.count, Int(count) - 2, "the number of the others")
            try expectEqual(many.relatedObjectIDs?.count, Int(count) - 2, "how many lose a reference then")
            try store.view { snapshot in
                try expectEqual(try snapshot.count(FetchRequest("Comment", where: .isNotNull("file"))), 0, "references")
                try expectEqual(try snapshot.count(FetchRequest("Comment")), Int(count), "the comments")
            }
            try expectEqual(try checkStore(store).map(\.message), [], "the findings afterwards")
        },
        ConformanceCheck(
            "batch.refused", "Batch requests on a read-only or closed store fail as commits do, and change nothing."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { try $0.insert(ObjectID("Passport", 1), values: [:]) }
            try store.close()
            let requests: [(String, (any PersistentStore) throws -> Void)] = [
                ("an insert", { _ = try $0.execute(BatchInsertRequest("Passport", rows: [[:]])) }),
                (
                    "an update",
                    { _ = try $0.execute(BatchUpdateRequest("Passport", set: ["number": .constant(1)])) }
                ),
                ("a delete", { _ = try $0.execute(BatchDeleteRequest(FetchRequest("Passport"))) }),
                (
                    "a delete of nothing",
                    { _ = try $0.execute(BatchDeleteRequest(FetchRequest("Passport", where: .constant(false)))) }
                ),
            ]
            for (name, request) in requests {
                try expectError(.closed, in: "\(name) in a closed store") { try request(store) }
            }
            guard bench.fixture.keepsClosedStores else { return }
            let reader = try bench.open { $0.isReadOnly = true }
            for (name, request) in requests {
                try expectError(.readOnly, in: "\(name) in a store that is read-only") { try request(reader) }
            }
            try expectEqual(try reader.view { try $0.objects(of: "Passport").map(\.version) }, [1], "the objects")
        },
    ]
}
