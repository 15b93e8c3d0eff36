internal import Foundation
internal import RoostCore
internal import RoostMigration

extension ConformanceCheck {
    /// Destroying and replacing stores.
    static let replacing: [ConformanceCheck] = [
        ConformanceCheck(
            "destroy.removes",
            "Destroying removes a store and all its files. A new store can then be created under the name."
        ) { bench in
            let store = try filled(20, on: bench)
            try store.close()
            try bench.type.destroy(bench.location())
            try expectEqual(try bench.files(), [], "the files in the directory")
            try expectError(.notFound, in: "opening what was destroyed") { _ = try bench.open() }
            let again = try bench.create()
            try expectEqual(try again.view { try $0.count(FetchRequest("Track")) }, 0, "the count in the new store")
        },
        ConformanceCheck("destroy.absent", "Destroying a store that does not exist does nothing.") { bench in
            try bench.type.destroy(bench.location())
            try expectEqual(try bench.files(), [], "the files in the directory")
        },
        ConformanceCheck("destroy.busy", "Destroying an open store fails with `busy`, and the store stays usable.") {
            bench in
            let store = try filled(5, on: bench)
            try expectError(.busy, in: "destroying an open store") { try bench.type.destroy(bench.location()) }
            try expectEqual(try store.view { try $0.count(FetchRequest("Track")) }, 5, "the count")
            try store.change { try $0.insert(ObjectID("Track", key: 6), values: [:]) }
            try expectEqual(
                try bench.reopen(store).view { try $0.count(FetchRequest("Track")) }, 6, "the count after reopening")
        },
        ConformanceCheck(
            "destroy.foreign", "Destroying another kind of file fails with `notAStore` and keeps the file.",
            needs: [.file]
        ) { bench in
            let path = try bench.write(Array("precious".utf8), as: "store")
            try expectError(.notAStore, in: "destroying a foreign file") { try bench.type.destroy(bench.location()) }
            try expectEqual(bench.bytes(of: path), Array("precious".utf8), "the file's bytes")
        },
        ConformanceCheck(
            "replace.moves", "Replacing moves a closed store to a free name, UUID and metadata included.",
            needs: [.persistence]
        ) { bench in
            let store = try bench.create(name: "new") { $0.userMetadata = ["a": .int(5)] }
            try store.change { try $0.insert(ObjectID("Tag", key: 3), values: [:]) }
            let (before, uuid) = (try store.contents(), try store.metadata().storeUUID)
            try store.close()
            try bench.type.replace(bench.location("place"), with: bench.location("new"), overwriting: false)
            let moved = try bench.open(name: "place")
            try expectEqual(try moved.contents(), before, "the contents")
            try expectEqual(try moved.metadata().storeUUID, uuid, "the UUID")
            try expectError(.notFound, in: "opening the old name") { _ = try bench.open(name: "new") }
        },
        ConformanceCheck(
            "replace.overwrites", "With `overwriting`, replacing removes the old store completely.",
            needs: [.persistence]
        ) { bench in
            let old = try bench.create(name: "place")
            try old.change { changes in
                for key in Int64(1)...500 { try changes.insert(ObjectID("Track", key: key), values: ["title": "old"]) }
            }
            try old.close()
            let new = try bench.create(name: "new")
            try new.change { try $0.insert(ObjectID("Tag", key: 9), values: [:]) }
            let before = try new.contents()
            try new.close()
            try bench.type.replace(bench.location("place"), with: bench.location("new"), overwriting: true)
            try expectEqual(try bench.open(name: "place").contents(), before, "the contents")
        },
        ConformanceCheck(
            "replace.already-exists",
            "Without `overwriting`, replacing an existing store fails with `alreadyExists` and changes neither store.",
            needs: [.persistence]
        ) { bench in
            var contents: [StoreContents] = []
            for (name, key) in [("place", 1), ("new", 2)] as [(String, Int64)] {
                let store = try bench.create(name: name)
                try store.change { try $0.insert(ObjectID("Tag", key: key), values: [:]) }
                contents.append(try store.contents())
                try store.close()
            }
            try expectError(.alreadyExists, in: "replacing without overwriting") {
                try bench.type.replace(bench.location("place"), with: bench.location("new"), overwriting: false)
            }
            try expectEqual(try bench.open(name: "place").contents(), contents[0], "the old store")
            try expectEqual(try bench.open(name: "new").contents(), contents[1], "the new store")
        },
        ConformanceCheck(
            "replace.itself", "Replacing a store with itself is refused with `invalidRequest` and changes nothing.",
            needs: [.persistence]
        ) { bench in
            let store = try filled(3, on: bench)
            let before = try store.contents()
            try store.close()
            for overwriting in [false, true] {
                try expectError(.invalidRequest, in: "replacing a store with itself") {
                    try bench.type.replace(bench.location(), with: bench.location(), overwriting: overwriting)
                }
            }
            try expectEqual(try bench.open().contents(), before, "the contents")
        },
        ConformanceCheck(
            "replace.busy", "While either store is open, replacing fails with `busy` and changes neither.",
            needs: [.persistence]
        ) { bench in
            let place = try bench.create(name: "place")
            let new = try bench.create(name: "new")
            try new.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            try new.close()
            try expectError(.busy, in: "replacing an open store") {
                try bench.type.replace(bench.location("place"), with: bench.location("new"), overwriting: true)
            }
            try place.change { try $0.insert(ObjectID("Tag", key: 2), values: [:]) }
            try place.close()
            let reopened = try bench.open(name: "new")
            try expectError(.busy, in: "replacing with an open store") {
                try bench.type.replace(bench.location("place"), with: bench.location("new"), overwriting: true)
            }
            try expectEqual(try reopened.view { try $0.keys(FetchRequest("Tag")) }, [1], "the new store")
            try expectEqual(
                try bench.open(name: "place").view { try $0.keys(FetchRequest("Tag")) }, [2], "the old store")
        },
        ConformanceCheck(
            "replace.foreign",
            "Replacing a file that is not a store of the type fails with `notAStore`, even with `overwriting`.",
            needs: [.file]
        ) { bench in
            try bench.create(name: "new").close()
            let path = try bench.write(Array("precious".utf8), as: "place")
            try expectError(.notAStore, in: "replacing a foreign file") {
                try bench.type.replace(bench.location("place"), with: bench.location("new"), overwriting: true)
            }
            try expectEqual(bench.bytes(of: path), Array("precious".utf8), "the file's bytes")
            try bench.open(name: "new").close()
        },
        ConformanceCheck(
            "replace.missing-source",
            "Replacing a store with a missing one fails with `notFound` and keeps the store.",
            needs: [.persistence]
        ) { bench in
            let store = try bench.create(name: "place")
            try store.change { try $0.insert(ObjectID("Tag", key: 2), values: [:]) }
            try store.close()
            try expectError(.notFound, in: "replacing with nothing") {
                try bench.type.replace(bench.location("place"), with: bench.location("new"), overwriting: true)
            }
            try expectEqual(
                try bench.open(name: "place").view { try $0.keys(FetchRequest("Tag")) }, [2], "the old store")
        },
    ]

    static let closing: [ConformanceCheck] = [
        ConformanceCheck(
            "close.every-call", "After `close()` every call throws `closed`, except closing again, which does nothing."
        ) { bench in
            let store = try filled(10, on: bench)
            try store.close()
            try store.close()
            try expectError(.closed, in: "metadata()") { _ = try store.metadata() }
            try expectError(.closed, in: "snapshot()") { _ = try store.snapshot() }
            try expectError(.closed, in: "reserveKeys(_:for:)") { _ = try store.reserveKeys(1, for: "Tag") }
            try expectError(.closed, in: "commit(_:)") {
                try store.change { try $0.insert(ObjectID("Tag", key: 99), values: [:]) }
            }
            try expectError(.closed, in: "an empty commit") { try store.change { _ in } }
            try expectError(.closed, in: "bulkLoader(_:)") { _ = try store.bulkLoader(BulkLoadOptions()) }
            try expectError(.closed, in: "integrityFindings()") { _ = try store.integrityFindings() }
            try expectError(.closed, in: "byteCount()") { _ = try store.byteCount() }
            try expectError(.closed, in: "notices()") { _ = try store.notices() }
            try expectError(.closed, in: "requireSoundStructure()") { try store.requireSoundStructure() }
            try expectEqual(store.location, bench.location(), "the URL is still known")
        },
        ConformanceCheck(
            "close.snapshots", "After the store's `close()` its snapshots and their cursors throw `closed` too."
        ) { bench in
            let store = try filled(3000, on: bench)
            let snapshot = try store.snapshot()
            let records = try snapshot.records(of: "Track", after: nil)
            let links = try snapshot.links(of: RelationshipName("Tag", name: "tagged"), after: nil)
            try store.close()
            try expectClosed(snapshot, records: records, links: links)
            snapshot.close()
        },
        ConformanceCheck(
            "close.releases", "A closed store can be opened again at once, with all its content.",
            needs: [.persistence]
        ) { bench in
            var expected: [Int64] = []
            try bench.create().close()
            for key in Int64(1)...15 {
                let store = try bench.open()
                try store.change { try $0.insert(ObjectID("Tag", key: key), values: [:]) }
                expected.append(key)
                try expectEqual(try store.view { try $0.keys(FetchRequest("Tag")) }, expected, "the keys")
                try store.close()
            }
        },
        ConformanceCheck(
            "close.while-reading",
            "Closing a store ends the reads of other threads with `closed`, never with a crash."
        ) { bench in
            let store = try filled(4000, on: bench)
            let reads = Signal()
            let readers = (0..<3).map { _ in
                Background { () -> StoreError.Code? in
                    while true {
                        do throws(StoreError) {
                            let snapshot = try store.snapshot()
                            defer { snapshot.close() }
                            reads.send()
                            _ = try snapshot.objects(of: "Track")
                        } catch {
                            return error.code
                        }
                    }
                }
            }
            for _ in 0..<6 { try reads.wait() }
            try store.close()
            for reader in readers { try expectEqual(try reader.value(), .closed, "the end of the reads") }
        },
    ]

    /// Error messages.
    static let secrecy: [ConformanceCheck] = [
        ConformanceCheck(
            "errors.no-values",
            "No error message contains a stored value: conflicts, duplicates, violations, bad requests, bad values."
        ) { bench in
            let store = try bench.create()
            let secret = Value.string(plantedSecret)
            try store.change { changes in
                try changes.insert(ObjectID("Account", key: 1), values: ["first": secret, "last": secret])
                try changes.insert(ObjectID("Track", key: 1), values: ["title": secret])
            }
            // `expectError` searches every error for the planted text.
            try expectError(.conflict, in: "a conflict") {
                try store.change { try $0.update(ObjectID("Track", key: 1), version: 7, values: ["title": secret]) }
            }
            try expectError(.duplicateObject, in: "a duplicate") {
                try store.change { try $0.insert(ObjectID("Track", key: 1), values: ["title": secret]) }
            }
            if bench.fixture.capabilities.contains(.uniquenessConstraints) {
                try expectError(.constraintViolation, in: "a violation") {
                    try store.change {
                        try $0.insert(ObjectID("Account", key: 2), values: ["first": secret, "last": secret])
                    }
                }
            }
            try expectError(.objectNotFound, in: "a link to nothing") {
                try store.change { changes in
                    try changes.update(ObjectID("Track", key: 1), version: 1, values: ["title": secret])
                    try changes.add(Link(1, 1), to: RelationshipName("Tag", name: "tagged"))
                }
            }
            try expectError(.invalidValue, in: "a value of the wrong type") {
                try store.change { try $0.insert(ObjectID("Everything", key: 1), values: ["i64": secret]) }
            }
            try store.view { snapshot in
                try expectError(.invalidRequest, in: "a comparison of the wrong type") {
                    _ = try snapshot.keys(FetchRequest("Everything", where: .equal("i64", to: secret)))
                }
                try expectError(.unknownProperty, in: "an unknown property") {
                    _ = try snapshot.keys(FetchRequest("Track", where: .equal("name", to: secret)))
                }
            }
            let loader = try store.bulkLoader(BulkLoadOptions())
            try expectError(.duplicateObject, in: "a duplicate in a load") {
                var batch = RecordBatch(model: bench.model)
                try batch.append(ObjectID("Track", key: 1), values: ["title": secret])
                try loader.append(batch)
                _ = try loader.finish()
            }
            loader.abandon()
        },
        ConformanceCheck("errors.name-the-store", "An error about a store's file names its path.", needs: [.file]) {
            bench in
            let missing = try expectError(.notFound, in: "opening nothing") { _ = try bench.open(name: "missing") }
            try expect(missing.message.contains("missing"), "the message names the file", otherwise: missing.message)
            _ = try bench.write([1, 2, 3], as: "foreign")
            let foreign = try expectError(.notAStore, in: "opening a foreign file") {
                _ = try bench.open(name: "foreign")
            }
            try expect(foreign.message.contains("foreign"), "the message names the file", otherwise: foreign.message)
            let closed = try bench.create()
            try closed.close()
            let error = try expectError(.closed, in: "a closed store") { _ = try closed.metadata() }
            try expect(!error.isRetryable, "a closed store is not worth a retry")
        },
    ]
}
