internal import RoostCore
import RoostStores

extension ConformanceCheck {
    static let batchDeletes: [ConformanceCheck] = [
        ConformanceCheck(
            "batch.delete.selection",
            "A batch delete removes the objects that its request would fetch, with limit, offset and order, or the objects it names."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                for key in Int64(1)...10 {
                    try changes.insert(ObjectID("Passport", key: key), values: ["number": .int(key % 4)])
                }
            }
            let request = FetchRequest(
                "Passport", where: .notEqual("number", to: 1), sortedBy: [.init("number", ascending: false)], limit: 3,
                offset: 2)
            let expected = try store.view { try $0.keys(request) }
            let result = try store.run(BatchDeleteRequest(request, result: .objectIDs))
            try expectEqual(result.objectIDs?.map(\.key), expected, "the IDs")
            try expectEqual(result.count, 3, "the count")
            let rest = (Int64(1)...10).filter { !expected.contains($0) }
            try expectEqual(
                try store.view { try $0.objects(of: "Passport") }.map(\.id.key), rest, "the remaining objects")
            let ids = [rest[2], expected[0], rest[0], rest[2]].map { ObjectID("Passport", key: $0) }
            let second = try store.run(BatchDeleteRequest(objectIDs: ids, result: .objectIDs))
            try expectEqual(second.objectIDs, [ids[0], ids[2]], "the IDs of the existing objects")
            try expectLater(second.generation, than: result.generation, on: bench, what: "the generation")
            let nothing = try store.run(BatchDeleteRequest(objectIDs: ids))
            try expectEqual(nothing.generation, second.generation, "the generation when there is nothing to delete")
            try expectEqual(nothing.count, nil, "no count, which was not asked for")
            try expectEqual(try bench.reopen(store).view { try $0.count(FetchRequest("Passport")) }, 5, "the rest")
        },
        ConformanceCheck(
            "batch.program-model",
            "If a batch request is given the program's model, it follows the defaults and delete rules of that model, not of the store's."
        ) { bench in
            let own = try BatchModel.make(for: bench.fixture)
            let later = try BatchModel.laterProgram(for: bench.fixture)
            let store = try bench.create(own)
            try store.change { changes in
                try changes.insert(ObjectID("Folder", key: 1), values: ["name": "f"])
                try changes.insert(ObjectID("Person", key: 1), values: ["name": "p"])
                try changes.insert(
                    ObjectID("File", key: 1), values: ["title": "t", "folder": .objectID(ObjectID("Folder", key: 1))])
                try changes.insert(
                    ObjectID("File", key: 2), values: ["title": "u", "author": .objectID(ObjectID("Person", key: 1))])
            }
            // The store's own rules would delete the file too, and deny deleting the author.
            let folder = BatchDeleteRequest(objectIDs: [ObjectID("Folder", key: 1)])
            _ = try store.run(folder, model: later)
            try expectEqual(try store.view { try $0.keys(FetchRequest("File")) }, [1, 2], "the files after nullify")
            try expectEqual(
                try store.view { try $0.object(ObjectID("File", key: 1))?.values["folder"] }, nil, "the file's folder")
            let author = BatchDeleteRequest(objectIDs: [ObjectID("Person", key: 1)])
            try expectError(.deleteDenied, in: "deleting the author by the store's own rules") {
                _ = try store.run(author)
            }
            _ = try store.run(author, model: later)
            try expectEqual(try store.view { try $0.keys(FetchRequest("File")) }, [1], "the files after cascade")
            let row: BatchInsertRequest.Row = ["title": "new"]
            _ = try store.run(BatchInsertRequest("File", rows: [row]), model: later)
            _ = try store.run(BatchInsertRequest("File", rows: [row]))
            try expectEqual(
                try store.view { try $0.objects(FetchRequest("File", where: .equal("title", to: "new"))) }
                    .map { $0.values["size"] }, [5, 1], "the defaults of the program's model and of the store's")
            let before = try store.contents()
            let other = try ConformanceModel.standard(for: [bench.fixture])
            try expectError(.modelMismatch, in: "a batch request with another model") {
                _ = try store.run(BatchDeleteRequest(FetchRequest("File")), model: other)
            }
            try expectEqual(try store.contents(), before, "the contents after a refused request")
            try expectEqual(try checkStore(store).map(\.message), [], "the findings")
        },
        ConformanceCheck(
            "batch.delete.one-sided",
            "No reference to a deleted object remains, even if only the other object of a one-to-one pair stored the relationship."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            func person(_ key: Int64) -> Value { .objectID(ObjectID("Person", key: key)) }
            try store.change { changes in
                try changes.insert(ObjectID("Person", key: 1), values: ["name": "a"])
                try changes.insert(ObjectID("Person", key: 2), values: ["name": "b", "spouse": person(1)])
                try changes.insert(ObjectID("Passport", key: 1), values: ["number": 5, "holder": person(1)])
            }
            _ = try store.run(BatchDeleteRequest(objectIDs: [ObjectID("Person", key: 1)]))
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Person").map(\.values), [["name": "b"]], "the other person")
                try expectEqual(try snapshot.objects(of: "Passport").map(\.values), [["number": 5]], "the passport")
            }
            try expectEqual(try checkStore(store).map(\.message), [], "the findings")
        },
        ConformanceCheck(
            "batch.delete.rules",
            "A batch delete follows cascade and nullify rules, through cycles and subentities. Order and links of the other objects stay."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            func folder(_ key: Int64) -> Value { .objectID(ObjectID("Folder", key: key)) }
            try store.change { changes in
                // 1 → 2 → 3 → 1 is a cycle, and 4 is separate.
                for (key, parent) in [(1, 3), (2, 1), (3, 2), (4, 0)] as [(Int64, Int64)] {
                    try changes.insert(
                        ObjectID("Folder", key: key),
                        values: ["name": "f", "parent": parent == 0 ? .null : folder(parent)])
                }
                for key in Int64(1)...8 {
                    try changes.insert(
                        ObjectID(key % 2 == 0 ? "Image" : "File", key: key),
                        values: [
                            "title": "t", "folder": folder(key % 4 + 1), "folder#order": .int(-key),
                        ])
                }
                for key in Int64(1)...8 {
                    try changes.insert(
                        ObjectID("Thumbnail", key: key),
                        values: ["image": .objectID(ObjectID("Image", key: (key + 1) / 2 * 2))])
                }
                try changes.insert(ObjectID("Label", key: 1), values: [:])
                for key in Int64(1)...4 {
                    try changes.add(Link(key, 1), to: RelationshipName("Folder", name: "labels"))
                    try changes.add(Link(key, 1), to: RelationshipName("File", name: "tags"))
                }
            }
            let result = try store.run(
                BatchDeleteRequest(objectIDs: [ObjectID("Folder", key: 2)], result: .objectIDs))
            try expectEqual(result.objectIDs?.first, ObjectID("Folder", key: 2), "the first of the IDs")
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Folder").map(\.id.key), [4], "the folders")
                try expectEqual(try snapshot.objects(of: "File").map(\.id.key), [3, 7], "the files")
                try expectEqual(try snapshot.objects(of: "Thumbnail").map(\.id.key), [], "the thumbnails")
                try expectEqual(
                    try snapshot.targets(
                        of: RelationshipName("Folder", name: "files"), from: ObjectID("Folder", key: 4)), [7, 3],
                    "the order in the folder that stays")
                try expectEqual(
                    try snapshot.allLinks(of: RelationshipName("Folder", name: "labels")), [Link(4, 1)], "the labels")
                try expectEqual(
                    try snapshot.targets(
                        of: RelationshipName("Label", name: "tagged"), from: ObjectID("Label", key: 1)), [3],
                    "the tagged objects")
            }
            try expectEqual(result.count, 3 + 6 + 8, "the count")
            // Deleting a folder does not delete its parent.
            try store.change { changes in
                try changes.insert(ObjectID("Folder", key: 10), values: ["name": "child", "parent": folder(4)])
                try changes.insert(
                    ObjectID("Person", key: 1), values: ["passport": .objectID(ObjectID("Passport", key: 1))])
                try changes.insert(
                    ObjectID("Passport", key: 1), values: ["holder": .objectID(ObjectID("Person", key: 1))])
            }
            _ = try store.run(BatchDeleteRequest(objectIDs: [ObjectID("Folder", key: 10)]))
            let passport = try store.run(
                BatchDeleteRequest(objectIDs: [ObjectID("Passport", key: 1)], result: .objectIDs))
            try expectEqual(passport.relatedObjectIDs, [ObjectID("Person", key: 1)], "the related objects")
            try store.view { snapshot in
                try expectEqual(try snapshot.objects(of: "Folder").map(\.id.key), [4], "the folders that stay")
                let person = try require(try snapshot.object(ObjectID("Person", key: 1)), "the person")
                try expectEqual(person.values, [:], "the person's values")
            }
            try expectEqual(try checkStore(store).map(\.message), [], "the findings afterwards")
        },
        ConformanceCheck(
            "batch.delete.deny",
            "If a deny rule or a mandatory relationship forbids a batch delete, the error names both objects of each violation, and nothing is deleted. A batch delete of both objects succeeds."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            func person(_ key: Int64) -> Value { .objectID(ObjectID("Person", key: key)) }
            try store.change { changes in
                for key in Int64(1)...4 { try changes.insert(ObjectID("Person", key: key), values: [:]) }
                for (key, author) in [(1, 1), (2, 2), (3, 2)] as [(Int64, Int64)] {
                    try changes.insert(ObjectID("Image", key: key), values: ["title": "t", "author": person(author)])
                }
                try changes.insert(ObjectID("Loan", key: 1), values: ["borrower": person(3)])
                try changes.insert(ObjectID("Stamp", key: 1), values: ["file": .objectID(ObjectID("Image", key: 3))])
            }
            let before = try store.contents()
            let persons = BatchDeleteRequest(FetchRequest("Person"), result: .count)
            let error = try expectError(.deleteDenied, in: "deleting authors of works and borrowers") {
                _ = try store.run(persons)
            }
            let works = RelationshipName("Person", name: "works")
            func denial(_ name: RelationshipName, deleted: ObjectID, stays: ObjectID, reason: DeleteDenial.Reason)
                -> DeleteDenial
            { DeleteDenial(relationship: name, deleted: deleted, remaining: stays, reason: reason) }
            try expectEqual(
                Set(error.denials),
                [
                    denial(works, deleted: ObjectID("Person", key: 1), stays: ObjectID("Image", key: 1), reason: .rule),
                    denial(works, deleted: ObjectID("Person", key: 2), stays: ObjectID("Image", key: 2), reason: .rule),
                    denial(works, deleted: ObjectID("Person", key: 2), stays: ObjectID("Image", key: 3), reason: .rule),
                    denial(
                        RelationshipName("Loan", name: "borrower"), deleted: ObjectID("Person", key: 3),
                        stays: ObjectID("Loan", key: 1), reason: .mandatory),
                ], "the denials")
            try expectEqual(try store.contents(), before, "the contents")
            let stamped = try expectError(.deleteDenied, in: "deleting a file that a mandatory reference needs") {
                _ = try store.run(BatchDeleteRequest(FetchRequest("Image")))
            }
            try expectEqual(
                stamped.denials,
                [
                    denial(
                        RelationshipName("Stamp", name: "file"), deleted: ObjectID("Image", key: 3),
                        stays: ObjectID("Stamp", key: 1),
                        reason: .mandatory)
                ],
                "the denials of the files")
            try expectEqual(try store.contents(), before, "the contents")
            let all = ["Person", "Image", "Loan", "Stamp"] as [EntityName]
            let ids = try store.view { snapshot in try all.flatMap { try snapshot.objects(of: $0).map(\.id) } }
            try expectEqual(try store.run(BatchDeleteRequest(objectIDs: ids, result: .count)).count, 9, "the count")
            try expectEqual(try store.view { try $0.computeTally() }.digest.objectCount, 0, "the remaining objects")
        },
        ConformanceCheck(
            "batch.delete.no-action", "With delete rule noAction, to-one references stay and are dangling."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            try store.change { changes in
                try changes.insert(ObjectID("Person", key: 1), values: [:])
                try changes.insert(ObjectID("Visit", key: 1), values: ["guest": .objectID(ObjectID("Person", key: 1))])
            }
            _ = try store.run(BatchDeleteRequest(objectIDs: [ObjectID("Person", key: 1)]))
            try store.view { snapshot in
                let visit = try require(try snapshot.object(ObjectID("Visit", key: 1)), "the visit")
                try expectEqual(visit.values, ["guest": .objectID(ObjectID("Person", key: 1))], "the visit's values")
                try expectEqual(visit.version, 1, "the visit's version")
            }
        },
        ConformanceCheck(
            "batch.delete.without-inverse",
            "References by to-one relationships without inverse are cleared, however many objects are deleted."
        ) { bench in
            let store = try bench.create(try BatchModel.make(for: bench.fixture))
            let count: Int64 = 2500
            try store.change { changes in
                for key in 1...count {
                    try changes.insert(ObjectID(key % 2 == 0 ? "Image" : "File", key: key), values: ["title": "t"])
                    try changes.insert(
                        ObjectID("Comment", key: key),
                        values: ["file": .objectID(ObjectID(key % 2 == 0 ? "Image" : "File", key: key))])
                }
                try changes.insert(
                    ObjectID("Folder", key: 1), values: ["name": "n", "shortcut": .objectID(ObjectID("Image", key: 2))])
            }
            let few = try store.run(
                BatchDeleteRequest(objectIDs: [2, 5].map { ObjectID("File", key: $0) }, result: .objectIDs))
            try expectEqual(
                few.objectIDs, [ObjectID("Image", key: 2), ObjectID("File", key: 5)], "the first deleted")
            try expectEqual(
                Set(few.relatedObjectIDs ?? []),
                [ObjectID("Comment", key: 2), ObjectID("Comment", key: 5), ObjectID("Folder", key: 1)],
                "the objects that lose a reference")
            let many = try store.run(BatchDeleteRequest(FetchRequest("File"), result: .objectIDs))
            try expectEqual(many.count, Int(count) - 2, "the number of the other deleted objects")
            try expectEqual(many.relatedObjectIDs?.count, Int(count) - 2, "the number of objects that lose a reference")
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
            try store.change { try $0.insert(ObjectID("Passport", key: 1), values: [:]) }
            try store.close()
            let requests: [(String, (any PersistentStore) throws -> Void)] = [
                ("an insert", { _ = try $0.run(BatchInsertRequest("Passport", rows: [[:]])) }),
                (
                    "an update",
                    { _ = try $0.run(BatchUpdateRequest("Passport", set: ["number": .constant(1)])) }
                ),
                ("a delete", { _ = try $0.run(BatchDeleteRequest(FetchRequest("Passport"))) }),
                (
                    "a delete of nothing",
                    { _ = try $0.run(BatchDeleteRequest(FetchRequest("Passport", where: .constant(false)))) }
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
