internal import Foundation
internal import RoostCore
internal import RoostMigration

extension ConformanceCheck {
    /// Creating, finding and opening stores.
    static let opening: [ConformanceCheck] = [
        ConformanceCheck(
            "opening.create.empty", "A new store is empty: no objects, no links, no used keys and an empty digest."
        ) {
            bench in
            let store = try bench.create()
            try store.view { snapshot in
                for entity in bench.model.entities {
                    try expectEqual(try snapshot.objects(of: entity.name).count, 0, "objects of \(entity.name)")
                    try expectEqual(try snapshot.lastKey(of: entity.name), 0, "the last key of \(entity.name)")
                    try expectEqual(try snapshot.count(FetchRequest(entity.name)), 0, "the count of \(entity.name)")
                }
                for relationship in bench.model.linkRelationships {
                    try expectEqual(try snapshot.allLinks(of: relationship.name), [], "links of \(relationship.name)")
                }
                try expectEqual(
                    try snapshot.computeTally().digest, StoreTally(model: bench.model).digest, "the digest of nothing")
            }
        },
        ConformanceCheck(
            "opening.create.describes-itself",
            "A new store reports its type, its URL, its model and that it can be written."
        ) {
            bench in
            let store = try bench.create()
            try expectEqual(store.type.name, bench.type.name, "the type's name")
            try expectEqual(store.location, bench.location(), "the URL")
            try expectEqual(store.location.type, bench.type.name, "the URL's type")
            try expectEqual(store.model, bench.model, "the model")
            try expect(!store.isReadOnly, "a new store is not read-only")
            try expectEqual(try store.view { $0.model }, bench.model, "the snapshot's model")
            try expect(try store.byteCount() >= 0, "the byte count is not negative")
        },
        ConformanceCheck("opening.type.name", "The name of a type is a valid prefix of a store URL.", on: .none) {
            bench in
            let location = StoreLocation(type: bench.type.name, path: "/x")
            try expectEqual(StoreLocation(text: location.description), location, "the URL read back from its text")
        },
        ConformanceCheck(
            "opening.create.already-exists",
            "Creating a store where one exists fails with `alreadyExists` and leaves that store unchanged.",
            needs: [.persistence]
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            let before = try store.contents()
            try store.close()
            try expectError(.alreadyExists, in: "creating over a store") { _ = try bench.create() }
            try expectEqual(try bench.open().contents(), before, "the store is as it was")
        },
        ConformanceCheck(
            "opening.create.foreign-file",
            "Creating a store where another file exists fails with `alreadyExists` and leaves the file unchanged.",
            needs: [.file]
        ) { bench in
            let path = try bench.write([1, 2, 3], as: "store")
            try expectError(.alreadyExists, in: "creating over a file") { _ = try bench.create() }
            try expectEqual(bench.bytes(of: path), [1, 2, 3], "the file's bytes")
        },
        ConformanceCheck(
            "opening.create.missing-directory",
            "Creating a store in a directory that does not exist fails with `missingDirectory`.",
            needs: [.file]
        ) { bench in
            try expectError(.missingDirectory, in: "creating in no directory") {
                _ = try bench.create(name: "no/such/store")
            }
            try expectEqual(try bench.files(), [], "no file was created")
        },
        ConformanceCheck(
            "opening.open.not-found", "Opening a store that does not exist fails with `notFound` and creates nothing.",
            on: .none
        ) { bench in
            try expectRefused(.notFound, opening: "nothing", on: bench)
        },
        ConformanceCheck(
            "opening.open.empty-file",
            "Opening an empty file fails with `notAStore`. The file stays empty and no other file is created.",
            on: .none, needs: [.file]
        ) { bench in
            let path = try bench.write([], as: "store")
            try expectRefused(.notAStore, opening: "an empty file", on: bench)
            try expectEqual(bench.bytes(of: path), [], "the file's bytes")
        },
        ConformanceCheck(
            "opening.open.foreign-file",
            "Opening a file of another format fails with `notAStore`. The file does not change and no other file is created.",
            on: .none, needs: [.file]
        ) { bench in
            let letter = [UInt8]("This is a letter and not a store.\n".utf8)
            for bytes in [letter, letter + [UInt8](repeating: 7, count: 9000)] {
                let path = try bench.write(bytes, as: "store")
                try expectRefused(.notAStore, opening: "a letter of \(bytes.count) bytes", on: bench)
                try expectEqual(bench.bytes(of: path), bytes, "the file's bytes")
            }
        },
        ConformanceCheck(
            "opening.open.directory",
            "Opening a directory fails with `notAStore` and creates no file in it or beside it.",
            on: .none, needs: [.file]
        ) {
            bench in
            try FileManager.default.createDirectory(
                atPath: bench.directory + "/store", withIntermediateDirectories: false)
            try expectRefused(.notAStore, opening: "a directory", on: bench)
            try expectEqual(
                try FileManager.default.contentsOfDirectory(atPath: bench.directory + "/store"), [], "its contents")
        },
        ConformanceCheck(
            "opening.open.truncated",
            "A store whose file was truncated is refused, or opens as it was after the last whole commit.",
            needs: [.file]
        ) { bench in
            let store = try bench.create()
            var history = FileHistory()
            try history.add(store, on: bench)
            for part in 0..<8 {
                try store.change { changes in
                    for key in 1...25 {
                        try changes.insert(
                            ObjectID("Track", key: Int64(part * 25 + key)),
                            values: ["title": .string("t\(part) \(key)")])
                    }
                    if part > 0 {
                        try changes.update(
                            ObjectID("Track", key: 1), version: UInt32(part),
                            values: ["title": .string("again \(part)")])
                    }
                }
                try history.add(store, on: bench)
            }
            let final = try store.contents()
            try store.close()
            let whole = try require(bench.bytes(of: bench.location().path), "the store's bytes")
            history.finish(whole)
            // For an append-only store, lengths around the ends of commits are included.
            let counts =
                [whole.count / 2, 4096, 100, 17, 1, whole.count - 1] + history.ends.flatMap { [$0 - 1, $0, $0 + 9] }
            for (number, count) in counts.enumerated() where (1..<whole.count).contains(count) {
                let bytes = Array(whole.prefix(count))
                _ = try bench.write(bytes, as: "cut\(number)")
                // The process must survive, and an error must be a store error.
                do {
                    let cut = try bench.open(name: "cut\(number)")
                    defer { try? cut.close() }
                    let found = try cut.contents()
                    let allowed = history.state(allowedFor: bytes)?.contents
                    try expectWholeCommits(cut, found: found, on: bench, final: final, allowed: allowed)
                } catch let error as StoreError {
                    try expect(
                        [.corrupted, .notAStore, .unsupportedVersion].contains(error.code),
                        "a store cut to \(count) bytes gives corrupted or notAStore", otherwise: "\(error)")
                }
            }
        },
        ConformanceCheck("opening.open.recognized", "A type recognizes its own files and nothing else.", needs: [.file])
        { bench in
            let store = try bench.create()
            try expect(bench.type.recognizes(fileAt: store.location.path), "an open store is recognized")
            try store.close()
            try expect(bench.type.recognizes(fileAt: store.location.path), "a closed store is recognized")
            for (name, bytes) in [("empty", []), ("short", [83]), ("text", [UInt8](repeating: 65, count: 5000))]
                as [(String, [UInt8])]
            {
                let path = try bench.write(bytes, as: name)
                try expect(!bench.type.recognizes(fileAt: path), "the file '\(name)' is not recognized")
            }
            try expect(!bench.type.recognizes(fileAt: bench.directory), "a directory is not recognized")
            try expect(!bench.type.recognizes(fileAt: bench.directory + "/missing"), "a missing file is not recognized")
        },
        ConformanceCheck(
            "opening.open.renamed", "A closed store is one main file that can be renamed.",
            needs: [.file, .persistence]
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Track", key: 9), values: ["title": "moved"]) }
            let before = try store.contents()
            try store.close()
            try FileManager.default.moveItem(atPath: bench.location().path, toPath: bench.location("moved").path)
            try expectEqual(try bench.open(name: "moved").contents(), before, "the same contents under the new name")
        },
        ConformanceCheck(
            "opening.open.model-mismatch",
            "Opening with a model that has other version hashes fails with `modelMismatch` and changes nothing.",
            needs: [.persistence]
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            let before = try store.contents()
            try store.close()
            let other = try ConformanceModel.changed(for: bench.fixture)
            try expectError(.modelMismatch, in: "opening with another model") {
                _ = try bench.open { $0.model = other }
            }
            try expectEqual(try bench.open().contents(), before, "the store is as it was")
        },
        ConformanceCheck(
            "opening.open.model-match",
            "Opening with an equal model, or without a model, uses the model that the store embeds.",
            needs: [.persistence]
        ) { bench in
            try bench.create().close()
            let first = try bench.open { $0.model = bench.model }
            try expectEqual(first.model, bench.model, "the model")
            try first.close()
            try expectEqual(try bench.open().model, bench.model, "the model")
        },
        ConformanceCheck("opening.options.unknown", "An unknown option of the type is refused with `invalidRequest`.") {
            bench in
            try expectError(.invalidRequest, in: "creating with an unknown option") {
                _ = try bench.create { $0.typeOptions["no-such-option"] = "1" }
            }
            try expectEqual(try bench.files(), [], "no file was created")
            guard bench.fixture.keepsClosedStores else { return }
            try bench.create().close()
            try expectError(.invalidRequest, in: "opening with an unknown option") {
                _ = try bench.open { $0.typeOptions["no-such-option"] = "1" }
            }
            var options = bench.fixture.options
            options.typeOptions["no-such-option"] = "1"
            try expectError(.invalidRequest, in: "reading metadata with an unknown option") {
                _ = try bench.type.metadata(at: bench.location(), options: options)
            }
        },
        ConformanceCheck(
            "opening.options.timeout", "A timeout that is negative or not a number is refused with `invalidRequest`."
        ) { bench in
            for seconds in [-1, -.infinity, .nan] as [Double] {
                try expectError(.invalidRequest, in: "creating with a timeout of \(seconds)") {
                    _ = try bench.create { $0.timeoutSeconds = seconds }
                }
            }
            try expectEqual(try bench.files(), [], "no file was created")
            guard bench.fixture.keepsClosedStores else { return }
            try bench.create().close()
            for seconds in [-1, -.infinity, .nan] as [Double] {
                try expectError(.invalidRequest, in: "opening with a timeout of \(seconds)") {
                    _ = try bench.open { $0.timeoutSeconds = seconds }
                }
            }
        },
        ConformanceCheck(
            "opening.options.create-read-only",
            "Creating a store with the read-only option fails with `readOnly` and creates nothing."
        ) { bench in
            for isUnpublished in [false, true] {
                try expectError(.readOnly, in: "creating a read-only store") {
                    _ = try bench.create {
                        $0.isReadOnly = true
                        $0.isUnpublished = isUnpublished
                    }
                }
            }
            try expectEqual(try bench.files(), [], "no file was created")
            try bench.create().close()
        },
        ConformanceCheck(
            "opening.read-only.refuses",
            "A store that is opened read-only can be read, reports that it is read-only, and refuses every change with `readOnly`.",
            needs: [.persistence]
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Tag", key: 3), values: [:]) }
            let before = try store.contents()
            try store.close()
            let reader = try bench.open { $0.isReadOnly = true }
            try expect(reader.isReadOnly, "it says that it is read-only")
            try expectEqual(try reader.contents(), before, "it reads")
            try expectError(.readOnly, in: "a commit") {
                try reader.change { try $0.insert(ObjectID("Tag", key: 4), values: [:]) }
            }
            try expectError(.readOnly, in: "setting metadata") {
                try reader.change { $0.userMetadata["a"] = .bool(true) }
            }
            try expectError(.readOnly, in: "reserving keys") { _ = try reader.reserveKeys(1, for: "Tag") }
            try expectError(.readOnly, in: "a bulk load") { _ = try reader.bulkLoader(BulkLoadOptions()) }
            try expectEqual(try reader.contents(), before, "nothing changed")
        },
        ConformanceCheck(
            "opening.read-only.unchanged-bytes", "Reading a store opened read-only does not change a byte of its file.",
            needs: [.file]
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Track", key: 3), values: ["title": "still"]) }
            try store.close()
            let before = try require(bench.bytes(of: bench.location().path), "the store's bytes")
            let reader = try bench.open { $0.isReadOnly = true }
            _ = try reader.contents()
            try reader.close()
            try expect(
                bench.bytes(of: bench.location().path) == before, "the file's bytes are the same",
                otherwise: "they changed")
        },
        ConformanceCheck(
            "opening.twice.shared",
            "A store may be opened more than once. Each open instance shows the commits through the other instances.",
            needs: [.multipleProcesses]
        ) { bench in
            let first = try bench.create()
            let second = try bench.open()
            try first.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            try expectEqual(
                try second.view { try $0.keys(FetchRequest("Tag")) }, [1], "the content of the second opening")
            try second.change { try $0.insert(ObjectID("Tag", key: 2), values: [:]) }
            try expectEqual(
                try first.view { try $0.keys(FetchRequest("Tag")) }, [1, 2], "the content of the first opening")
            try second.close()
            try expectEqual(try first.view { try $0.keys(FetchRequest("Tag")) }, [1, 2], "after the other was closed")
        },
        ConformanceCheck(
            "opening.twice.keys",
            "Keys reserved through one open instance of a store are never reserved through another instance.",
            needs: [.multipleProcesses]
        ) { bench in
            let (first, second) = (try bench.create(), try bench.open())
            var seen: Set<Int64> = []
            for _ in 0..<5 {
                for store in [first, second] {
                    for key in try store.reserveKeys(7, for: "Tag") {
                        try expect(
                            seen.insert(key).inserted, "each key is given out once", otherwise: "\(key) came twice")
                    }
                }
            }
        },
    ]

    /// Fails unless the item at the store's location is refused and no file is created.
    ///
    /// Opening, opening read-only, reading metadata and recognizing must refuse it.
    private static func expectRefused(_ code: StoreError.Code, opening what: String, on bench: Workbench) throws {
        let before = try bench.files()
        func expectNothingMade(by how: String) throws {
            try expectEqual(try bench.files(), before, "the files after \(how) \(what)")
        }
        try expectError(code, in: "opening \(what)") { _ = try bench.open() }
        try expectNothingMade(by: "opening")
        try expectError(code, in: "opening \(what) read-only") { _ = try bench.open { $0.isReadOnly = true } }
        try expectNothingMade(by: "opening read-only")
        try expectError(code, in: "reading the metadata of \(what)") {
            _ = try bench.type.metadata(at: bench.location(), options: bench.fixture.options)
        }
        try expectNothingMade(by: "reading the metadata of")
        guard bench.fixture.capabilities.contains(.file) else { return }
        try expect(!bench.type.recognizes(fileAt: bench.location().path), "\(what) is not recognized")
        try expectNothingMade(by: "looking at")
    }

    static let metadata: [ConformanceCheck] = [
        ConformanceCheck(
            "metadata.embedded-model",
            "The embedded model equals the model that the store was created with, in every part."
        ) {
            bench in
            let store = try bench.reopen(try bench.create())
            let metadata = try store.metadata()
            try expectEqual(metadata.model, bench.model, "the model")
            try expectEqual(metadata.type, bench.type.name, "the type")
            try expect(metadata.formatVersion >= 1, "the format version is at least 1")
            try expect(bench.model.isCompatible(with: metadata), "the model is compatible with the store")
            let other = try ConformanceModel.changed(for: bench.fixture)
            try expect(!other.isCompatible(with: metadata), "another model is not compatible with the store")
        },
        ConformanceCheck("metadata.uuid.given", "A store has the UUID that it was created with, and keeps it.") {
            bench in
            let uuid = StoreUUID()
            let store = try bench.create { $0.storeUUID = uuid }
            try expectEqual(try store.metadata().storeUUID, uuid, "the UUID")
            try expectEqual(try bench.reopen(store).metadata().storeUUID, uuid, "the UUID after reopening")
        },
        ConformanceCheck("metadata.uuid.random", "Two stores created without a UUID get different ones.") { bench in
            let (a, b) = (try bench.create(name: "a"), try bench.create(name: "b"))
            try expect(try a.metadata().storeUUID != b.metadata().storeUUID, "the UUIDs differ")
        },
        ConformanceCheck("metadata.user.every-kind", "User metadata of every kind, nested ones too, come back exactly.")
        {
            bench in
            let all = everyMetadataValue
            let store = try bench.create { $0.userMetadata = all }
            try expectEqual(try store.metadata().userMetadata, all, "the metadata")
            try expectEqual(try bench.reopen(store).metadata().userMetadata, all, "the metadata after reopening")
        },
        ConformanceCheck(
            "metadata.user.commit",
            "A commit sets, replaces and removes user metadata, and leaves other keys unchanged."
        ) {
            bench in
            let store = try bench.create { $0.userMetadata = ["keep": .int(1), "go": .int(2), "change": .int(3)] }
            // The metadata are also read before the first commit, to detect a stale cache.
            try expectEqual(
                try store.metadata().userMetadata, ["keep": .int(1), "go": .int(2), "change": .int(3)],
                "the metadata before the first commit")
            try store.change { changes in
                changes.userMetadata = ["go": nil, "change": .string("new"), "add": .bool(true), "absent": nil]
            }
            let expected: [String: MetadataValue] = ["keep": .int(1), "change": .string("new"), "add": .bool(true)]
            try expectEqual(try store.metadata().userMetadata, expected, "the metadata")
            try store.change { $0.userMetadata = everyMetadataValue.mapValues { .some($0) } }
            let merged = expected.merging(everyMetadataValue) { $1 }
            try expectEqual(try bench.reopen(store).metadata().userMetadata, merged, "the metadata after reopening")
        },
        ConformanceCheck("metadata.user.atomic", "Metadata in a refused change set are not set.") { bench in
            let store = try bench.create { $0.userMetadata = ["a": .int(1)] }
            try expectError(.conflict, in: "updating what does not exist") {
                try store.change { changes in
                    changes.userMetadata["a"] = .int(2)
                    try changes.update(ObjectID("Tag", key: 1), version: 1, values: [:])
                }
            }
            try expectEqual(try store.metadata().userMetadata, ["a": .int(1)], "the metadata")
        },
        ConformanceCheck("metadata.user.not-in-digest", "User metadata are not a part of the digest.", needs: [.digest])
        {
            bench in
            let store = try bench.create()
            let before = try store.recordedTally().digest
            try store.change { $0.userMetadata["k"] = .string("v") }
            try expectEqual(try store.recordedTally().digest, before, "the digest")
        },
        ConformanceCheck(
            "metadata.static", "A type reads the current metadata of a store, whether the store is open or closed.",
            needs: [.persistence]
        ) {
            bench in
            let store = try bench.create { $0.userMetadata = ["old": .int(1)] }
            let uuid = try store.metadata().storeUUID
            // The metadata of the last commit must be found, not those of the creation.
            try store.change { changes in
                changes.userMetadata = everyMetadataValue.mapValues { .some($0) }
                changes.userMetadata["old"] = .some(nil)
            }
            for state in ["open", "closed"] {
                let metadata = try bench.type.metadata(at: bench.location(), options: bench.fixture.options)
                try expectEqual(metadata.storeUUID, uuid, "the UUID of the \(state) store")
                try expectEqual(metadata.userMetadata, everyMetadataValue, "the metadata of the \(state) store")
                try expectEqual(metadata.model, bench.model, "the model of the \(state) store")
                try store.close()
            }
        },
    ]

    /// Metadata values of every kind, including extreme values.
    static let everyMetadataValue: [String: MetadataValue] = [
        "": .string(""), "text": .string("a\u{0}b é e\u{301} 🦉 \"quoted\" \\ \n"), "ключ 🗝": .string("unicode key"),
        "least": .int(.min), "most": .int(.max), "beyond double": .int(9_007_199_254_740_993),
        "third": .double(1.0 / 3), "tiny": .double(.leastNonzeroMagnitude), "huge": .double(.greatestFiniteMagnitude),
        "minus zero": .double(-0.0),
        "one as double": .double(1), "one as integer": .int(1), "yes": .bool(true), "no": .bool(false),
        "date": .date(Date(timeIntervalSinceReferenceDate: 123_456_789.123_456_789)),
        "no bytes": .data(Data()), "bytes": .data(Data(0...255)), "no list": .array([]), "no names": .dictionary([:]),
        "nested": .array([
            .dictionary([
                "inner": .array([.int(1), .string("1"), .bool(true), .double(1)]),
                "": .dictionary(["x": .data(Data([0]))]),
            ]),
            .array([.array([.array([])])]),
        ]),
    ]
}

/// Fails unless a store with a truncated file has its whole content, or the content after its last
/// whole commit.
///
/// The store must accept a commit, which must be present after reopening.
private func expectWholeCommits(
    _ cut: any PersistentStore, found: StoreContents, on bench: Workbench, final: StoreContents,
    allowed: StoreContents?
) throws {
    if found.difference(from: final) != nil {
        let allowed = try require(
            allowed, "a refusal of a store that was cut off, since no commit before the cut is whole")
        if let difference = found.difference(from: allowed) {
            throw Mismatch(expected: "the content after the last whole commit", actual: difference)
        }
    }
    do {
        if let recorded = try cut.view({ try $0.recordedTally() }) {
            try expectEqual(
                recorded, try cut.view { try $0.computeTally() }, "the tally of a store that was cut off")
        }
        try cut.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
        let changed = try cut.contents()
        try cut.close()
        let again = try bench.openApart(location: cut.location)
        defer { try? again.close() }
        if let difference = try again.contents().difference(from: changed) {
            throw Mismatch(expected: "a store that was cut off keeps what is committed afterwards", actual: difference)
        }
    } catch let error as StoreError {
        // The store opened, so every later error is a failure.
        throw Mismatch(
            expected: "a store that was cut off and opens takes a commit and opens again", actual: "\(error)")
    }
}
