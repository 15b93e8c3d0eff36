internal import Foundation
internal import RoostCore
internal import RoostStores

extension ConformanceCheck {
    static let batchInserts: [ConformanceCheck] = [
        ConformanceCheck(
            "batch.insert.rows",
            "A batch insert creates an object for each row, with the model's defaults for properties that the row lacks."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            let file = try store.change { try $0.insert(ObjectID("Folder", key: 1), values: ["name": "here"]) }
            let date = Date(timeIntervalSinceReferenceDate: -0.125)
            let result = try store.run(
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
            try expectLater(result.generation, than: file.generation, on: bench, what: "the generation")
            try expectEqual(result.count, 3, "the count")
            try expectEqual(result.relatedObjectIDs, [], "the related objects")
            let objects = try bench.reopen(store).view { try $0.objects(of: "File") }
            try expectEqual(objects.map(\.id), try require(result.objectIDs, "IDs"), "the IDs")
            try expectEqual(objects.map(\.version), [1, 1, 1], "the versions")
            try expectEqual(
                objects.map(\.values),
                [
                    ["title": "plain", "size": 1, "lettering": "PLAIN"],
                    [
                        "title": "null", "lettering": "NULL", "rating": .decimal(7), "score": .double(3), "flag": true,
                        "rank": .int(-32768),
                    ],
                    [
                        "title": "full", "lettering": "FULL", "size": 1, "width": 9, "made": .date(date),
                        "page": .uri("roost:x"),
                        "place": .composite(["number": 4, "street": "Lane"]), "content": .data(Data([0, 1])),
                    ],
                ], "the values")
        },
        ConformanceCheck(
            "batch.insert.ordered-places",
            "Two concurrent batch inserts never assign the same position in an ordered relationship. The objects of the insert that commits later come last."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            let folder = ObjectID("Folder", key: 1)
            try store.change { try $0.insert(folder, values: [:]) }
            // Rows are processed in chunks. The first chunk already has places when the other batch
            // runs.
            var number = 0
            let rows = AnyIterator<BatchInsertRequest.Row> {
                number += 1
                return number > 300 ? nil : ["title": "late", "folder": .objectID(folder)]
            }
            let result = try store.run(
                BatchInsertRequest("File", result: .objectIDs) { (row) throws(StoreError) in
                    if number == 280 {
                        _ = try store.run(
                            BatchInsertRequest(
                                "File",
                                rows: Array(repeating: ["title": "early", "folder": .objectID(folder)], count: 3)))
                    }
                    guard let next = rows.next() else { return true }
                    row = next
                    return false
                })
            try store.view { snapshot in
                let links = try snapshot.links(of: RelationshipName("Folder", name: "files"), from: folder)
                var (batch, places, keys) = (LinkBatch(relationship: 0), [Int64](), [Int64]())
                while try links.next(into: &batch) {
                    places += batch.links.map(\.order)
                    keys += batch.links.map(\.target)
                }
                try expectEqual(Set(places).count, 303, "the number of places")
                try expectEqual(
                    Array(keys.dropFirst(3)), try require(result.objectIDs, "IDs").map(\.key),
                    "the files of the later batch")
            }
        },
        ConformanceCheck(
            "batch.insert.handler",
            "A handler fills one row per call. The row of its last call is not inserted. If the handler throws, no row is inserted."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            func insert(
                _ count: Int64, failing: Bool = false
            ) throws(StoreError) -> BatchResult {
                var number: Int64 = 0
                return try store.run(
                    BatchInsertRequest("Passport", result: .count) { (row) throws(StoreError) in
                        number += 1
                        guard row.isEmpty else { throw StoreError(.internalInconsistency, "The row is not empty.") }
                        row["number"] = .int(number)
                        if failing, number > count { throw StoreError(.cancelled, "no more rows") }
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
            "A batch insert with more data than fits into one change set is still written by one commit, or not at all."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            let first = try store.change { try $0.insert(ObjectID("Folder", key: 1), values: ["name": "here"]) }
            let content = Value.data(Data(repeating: 7, count: 100_000))
            let count = 400
            func rows(failingAt bad: Int? = nil) -> [BatchInsertRequest.Row] {
                (1...count).map { number in
                    [
                        "title": number == bad ? .null : .string("\(number)"), "content": content,
                        "folder": .objectID(ObjectID("Folder", key: 1)),
                    ]
                }
            }
            let before = try store.contents()
            try expectError(.validationFailed, in: "a row that is wrong, after many that are not") {
                _ = try store.run(BatchInsertRequest("File", rows: rows(failingAt: count)))
            }
            try expectEqual(try store.contents(), before, "the contents after a row that was refused")
            let result = try store.run(BatchInsertRequest("File", rows: rows(), result: .objectIDs))
            try expectLater(result.generation, than: first.generation, on: bench, what: "the generation")
            let reopened = try bench.reopen(store)
            try reopened.view { snapshot in
                let objects = try snapshot.objects(of: "File")
                try expectEqual(objects.map(\.id), try require(result.objectIDs, "IDs"), "the IDs")
                try expectEqual(objects.map { $0.values["title"] }, (1...count).map { .string("\($0)") }, "the titles")
                try expectEqual(
                    try snapshot.targets(
                        of: RelationshipName("Folder", name: "files"), from: ObjectID("Folder", key: 1)),
                    objects.map(\.id.key), "the order in the folder")
            }
            let next = try reopened.reserveKeys(1, for: "File").lowerBound
            try expect(
                next > (result.objectIDs?.last?.key ?? .max), "the next key is a new one", otherwise: "it is \(next)")
        },
        ConformanceCheck(
            "batch.insert.relationships",
            "Inserted objects come last in an ordered relationship, unless their rows set a position. Both ends of a one-to-one relationship change."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                for key in Int64(1)...2 { try changes.insert(ObjectID("Folder", key: key), values: ["name": "f"]) }
                for (key, place) in [(1, 50), (2, -3), (3, 7)] as [(Int64, Int64)] {
                    try changes.insert(
                        ObjectID("File", key: key),
                        values: [
                            "title": "old", "folder": .objectID(ObjectID("Folder", key: 1)),
                            "folder#order": .int(place),
                        ])
                }
                for key in Int64(1)...3 {
                    try changes.insert(
                        ObjectID("Person", key: key),
                        values: key == 1 ? ["passport": .objectID(ObjectID("Passport", key: 1))] : [:])
                }
                try changes.insert(
                    ObjectID("Passport", key: 1), values: ["holder": .objectID(ObjectID("Person", key: 1))])
            }
            let folder = Value.objectID(ObjectID("Folder", key: 1))
            let files =
                try store.run(
                    BatchInsertRequest(
                        "Image",
                        rows: [
                            ["title": "a", "folder": folder], ["title": "b", "folder": folder],
                            ["title": "c", "folder": .objectID(ObjectID("Folder", key: 2))],
                            ["title": "d", "folder": folder, "folder#order": 0],
                        ], result: .objectIDs)
                ).objectIDs ?? []
            try store.view { snapshot in
                let keys = files.map(\.key)
                try expectEqual(keys.count, 4, "the number of IDs")
                try expectEqual(
                    try snapshot.targets(
                        of: RelationshipName("Folder", name: "files"), from: ObjectID("Folder", key: 1)),
                    [2, keys[3], 3, 1, keys[0], keys[1]], "the order in the first folder")
            }
            let result = try store.run(
                BatchInsertRequest(
                    "Passport",
                    rows: [
                        ["number": 7, "holder": .objectID(ObjectID("Person", key: 1))],
                        ["number": 8, "holder": .objectID(ObjectID("Person", key: 2))],
                    ], result: .objectIDs))
            let passports = try require(result.objectIDs, "IDs")
            try expectEqual(
                Set(result.relatedObjectIDs ?? []),
                [ObjectID("Person", key: 1), ObjectID("Person", key: 2), ObjectID("Passport", key: 1)],
                "the related objects")
            try store.view { snapshot in
                try expectEqual(
                    try snapshot.objects(of: "Person").map { $0.values["passport"] },
                    [.objectID(passports[0]), .objectID(passports[1]), nil], "the passports of the persons")
                try expectEqual(
                    try snapshot.object(ObjectID("Passport", key: 1))?.values["holder"], nil,
                    "the holder of the old passport")
            }
            try expectError(.invalidRequest, in: "two passports of one person") {
                _ = try store.run(
                    BatchInsertRequest(
                        "Passport", rows: Array(repeating: ["holder": .objectID(ObjectID("Person", key: 3))], count: 2))
                )
            }
        },
        ConformanceCheck(
            "batch.insert.refused",
            "If one row is invalid, a batch insert fails with an error that names the property, and writes nothing."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                try changes.insert(ObjectID("Folder", key: 1), values: ["name": "f"])
                try changes.insert(ObjectID("Label", key: 2), values: [:])
            }
            let before = try store.contents()
            let generation = try store.view { try $0.recordedTally() }
            let faults: [(String, StoreError.Code, BatchInsertRequest.Row)] = [
                ("titel", .unknownProperty, ["titel": "x"]), ("cache", .unknownProperty, ["cache": "x"]),
                ("lettering", .invalidRequest, ["lettering": "x"]), ("tags", .invalidRequest, ["tags": .null]),
                ("title", .validationFailed, ["title": .null]), ("title", .invalidValue, ["title": 5]),
                ("rank", .invalidValue, ["rank": 32768]), ("rank", .invalidValue, ["rank": .double(0.5)]),
                ("size", .invalidValue, ["size": .double(.nan)]), ("flag", .invalidValue, ["flag": 2]),
                ("made", .invalidValue, ["made": .string(plantedSecret)]), ("ident", .invalidValue, ["ident": "x"]),
                ("number", .validationFailed, ["place": .composite(["street": "x"])]),
                ("number", .validationFailed, ["place.street": "x"]),
                ("colour", .unknownProperty, ["place": .composite(["colour": "x"])]),
                ("folder", .objectNotFound, ["folder": .objectID(ObjectID("Folder", key: 9))]),
                ("folder", .invalidValue, ["folder": .objectID(ObjectID("Label", key: 2))]),
                ("folder", .invalidValue, ["folder": 1]),
            ]
            for (property, code, row) in faults {
                let row = ["title": "t"].merging(row) { $1 }
                let error = try expectError(code, in: "a row with \(row.keys.sorted())") {
                    _ = try store.run(
                        BatchInsertRequest("File", rows: [["title": "fine"], row, ["title": "fine"]]))
                }
                try expect(
                    error.message.contains(property), "the message names '\(property)'", otherwise: error.message)
                try expectEqual(try store.contents(), before, "the contents after a row with \(row.keys.sorted())")
            }
            try expectError(.invalidRequest, in: "an abstract entity") {
                _ = try store.run(BatchInsertRequest("Shape", rows: [[:]]))
            }
            try expectError(.unknownEntity, in: "an unknown entity") {
                _ = try store.run(BatchInsertRequest("Fool", rows: [[:]]))
            }
            try expectEqual(try store.view { try $0.recordedTally() }, generation, "the recorded tally afterwards")
        },
        ConformanceCheck(
            "batch.insert.constraints",
            "A batch insert of unique values in use fails with `constraintViolation`, which names both objects, and writes nothing.",
            needs: [.uniquenessConstraints]
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { try $0.insert(ObjectID("Person", key: 1), values: ["name": "Ann"]) }
            let before = try store.contents()
            let error = try expectError(.constraintViolation, in: "a name that is taken") {
                _ = try store.run(
                    BatchInsertRequest("Person", rows: [["name": "Bob"], ["name": "Ann"], ["name": .null], [:]]))
            }
            try expectEqual(
                error.violations.map(\.existing), [ObjectID("Person", key: 1)], "the object that has the name")
            try expectEqual(try store.contents(), before, "the contents")
            try expectError(.constraintViolation, in: "a name that two rows have") {
                _ = try store.run(BatchInsertRequest("Person", rows: [["name": "Bob"], ["name": "Bob"]]))
            }
            try expectEqual(try store.contents(), before, "the contents")
        },
    ]
}
