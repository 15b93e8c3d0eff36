internal import Foundation
internal import RoostCore
internal import RoostMigration

extension ConformanceCheck {
    /// Files that were damaged, replaced or mixed.
    static let damage: [ConformanceCheck] = [
        ConformanceCheck(
            "damage.flipped-bytes",
            "A changed byte anywhere in a closed store's file is detected, has no visible effect, or undoes the last commit of an append-only file.",
            needs: [.persistence, .file, .digest]
        ) { bench in
            let whole = try filledStore(bench)
            // Positions in every region of the file and at both ends, the same in every run.
            var random = SeededGenerator(seed: 4)
            var places = [0, 1, whole.bytes.count / 2, whole.bytes.count - 1]
            for part in 0..<120 {
                places.append(whole.bytes.count * part / 120 + random.below(max(1, whole.bytes.count / 120)))
            }
            for place in places where place < whole.bytes.count {
                var bytes = whole.bytes
                bytes[place] ^= UInt8(1 << random.below(8))
                try expectNoticed(
                    bench, bytes: bytes, whole: whole, damage: "byte \(place) of \(whole.bytes.count) changed")
            }
        },
        ConformanceCheck(
            "damage.records-verified",
            "A record read from a damaged file is as it was written; otherwise an error reports the damage.",
            needs: [.persistence, .file, .digest]
        ) { bench in
            let whole = try filledStore(bench)
            for (bytes, damage) in flippedBits(whole.bytes) {
                // Damage at the end of an append-only file can undo the last commit, so records of the earlier state
                // are accepted.
                let states = [whole.contents, whole.history.state(allowedFor: bytes)?.contents].compactMap { $0 }
                try openDamaged(bench, bytes: bytes, damage: damage) { store in
                    let snapshot = try store.snapshot()
                    defer { snapshot.close() }
                    var ids: [ObjectID] = []
                    for object in whole.contents.objects.values.joined() { ids.append(object.id) }
                    var cursors = [try snapshot.records(with: ids)]
                    for root in store.model.roots {
                        cursors.append(try snapshot.records(of: store.model.entities[root].name, after: nil))
                    }
                    for cursor in cursors {
                        try readPastDamage(cursor, of: store.model) { record in
                            try expect(
                                states.contains { $0.objects.values.joined().contains { $0.record == record } },
                                "\(damage): \(record.id) is as it was written, or named as damaged")
                        }
                    }
                }
            }
        },
        ConformanceCheck(
            "damage.not-signed",
            "An update or a delete of an object whose record is damaged is refused with the object's ID, and changes nothing.",
            needs: [.persistence, .file, .digest, .writing]
        ) { bench in
            let whole = try filledStore(bench)
            for (bytes, damage) in flippedBits(whole.bytes) {
                var damaged: Set<ObjectID> = []
                try openDamaged(bench, bytes: bytes, damage: damage) { store in
                    let snapshot = try store.snapshot()
                    defer { snapshot.close() }
                    for root in store.model.roots {
                        let cursor = try snapshot.records(of: store.model.entities[root].name, after: nil)
                        damaged.formUnion(try readPastDamage(cursor, of: store.model) { _ in })
                    }
                }
                let objects = whole.contents.objects.values.joined().filter { damaged.contains($0.id) }
                guard !objects.isEmpty else { continue }
                try openDamaged(bench, bytes: bytes, damage: damage, isReadOnly: false) { store in
                    let before = try store.view { try $0.recordedTally() }
                    for object in objects {
                        for deletes in [false, true] {
                            let error = try expectError(.corrupted, in: "\(damage): a change of \(object.id)") {
                                try store.change { changes in
                                    if deletes {
                                        changes.delete(object.id, version: object.version)
                                    } else {
                                        try changes.update(object.id, version: object.version, values: [:])
                                    }
                                }
                            }
                            try expectEqual(error.damagedObject, object.id, "the object that the error names")
                        }
                    }
                    try expectEqual(try store.view { try $0.recordedTally() }, before, "the recorded tally")
                }
            }
        },
        ConformanceCheck(
            "damage.zeroed-blocks",
            "A zeroed block in a closed store's file is detected, has no visible effect, or undoes the last commit of an append-only file.",
            needs: [.persistence, .file, .digest]
        ) { bench in
            let whole = try filledStore(bench)
            let blocks = (whole.bytes.count + 4095) / 4096
            for block in stride(from: 0, to: blocks, by: max(1, blocks / 40)) {
                var bytes = whole.bytes
                for place in (block * 4096)..<min(bytes.count, (block + 1) * 4096) { bytes[place] = 0 }
                try expectNoticed(bench, bytes: bytes, whole: whole, damage: "block \(block) of \(blocks) is zeros")
            }
        },
        ConformanceCheck(
            "damage.cut-anywhere",
            "If a closed store's file is truncated, the store detects it, has lost nothing, or has the content of the last whole commit.",
            needs: [.persistence, .file, .digest]
        ) { bench in
            let whole = try filledStore(bench)
            for part in 0..<24 {
                let count = whole.bytes.count * part / 24 + part
                try expectNoticed(
                    bench, bytes: Array(whole.bytes.prefix(count)), whole: whole,
                    damage: "\(count) of \(whole.bytes.count) bytes")
            }
            try expectNoticed(
                bench, bytes: Array(whole.bytes.dropLast()), whole: whole, damage: "the last byte is missing")
        },
        ConformanceCheck(
            "damage.grown",
            "Bytes after the end of a closed store's file are detected, or have no visible effect.",
            needs: [.persistence, .file, .digest]
        ) { bench in
            let whole = try filledStore(bench)
            for tail in [[0], [UInt8](repeating: 0, count: 4096), [UInt8](repeating: 0xA5, count: 70_000)] {
                try expectNoticed(bench, bytes: whole.bytes + tail, whole: whole, damage: "\(tail.count) bytes more")
            }
        },
        ConformanceCheck(
            "damage.two-stores-mixed",
            "A file whose second half comes from another store is detected, has no visible effect, or has the content of the last whole commit.",
            needs: [.persistence, .file, .digest]
        ) { bench in
            let whole = try filledStore(bench)
            let other = try bench.create(name: "other")
            for number in Int64(1)...19 { _ = try other.commit(try bench.transaction(number)) }
            try other.close()
            let theirs = try require(bench.bytes(of: bench.location("other").path), "the other store's bytes")
            let middle = min(whole.bytes.count, theirs.count) / 8192 * 4096
            try expectNoticed(
                bench, bytes: Array(whole.bytes.prefix(middle)) + theirs.dropFirst(middle), whole: whole,
                damage: "the second half is another store's")
        },
        ConformanceCheck(
            "damage.replaced-while-open",
            "An open store whose file was replaced fails with `storeReplaced` and writes nothing into the new file.",
            needs: [.persistence, .file]
        ) { bench in
            let other = try bench.create(name: "other")
            try other.change { try $0.insert(ObjectID("Tag", key: 77), values: [:]) }
            try other.close()
            let theirs = try require(bench.bytes(of: bench.location("other").path), "the other store's bytes")
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            let snapshot = try store.snapshot()
            try FileManager.default.removeItem(atPath: bench.location().path)
            try FileManager.default.moveItem(atPath: bench.location("other").path, toPath: bench.location().path)
            try expectEqual(try snapshot.keys(FetchRequest("Tag")), [1], "the content of an open snapshot")
            snapshot.close()
            try expectError(.storeReplaced, in: "a commit after the file was exchanged") {
                try store.change { try $0.insert(ObjectID("Tag", key: 2), values: [:]) }
            }
            try closeTelling(store)
            try expect(bench.bytes(of: bench.location().path) == theirs, "no byte of the new file changed")
        },
        ConformanceCheck(
            "damage.removed-while-open",
            "An open store whose file was removed refuses to write, and creates no new file.",
            needs: [.persistence, .file]
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            try FileManager.default.removeItem(atPath: bench.location().path)
            try expectError(.storeReplaced, .notFound, in: "a commit after the file was removed") {
                try store.change { try $0.insert(ObjectID("Tag", key: 2), values: [:]) }
            }
            try closeTelling(store)
            try expect(bench.bytes(of: bench.location().path) == nil, "no new file exists")
        },
    ]
}

/// The contents and the file of a closed store that has objects, values and links of many kinds.
private struct FilledStore {
    let contents: StoreContents
    let answers: [[Int64]]
    let bytes: [UInt8]
    /// The file and the contents after each commit.
    let history: FileHistory
}

private func filledStore(_ bench: Workbench) throws -> FilledStore {
    let store = try bench.create(name: "whole") { $0.userMetadata = ConformanceCheck.everyMetadataValue }
    var history = FileHistory()
    try history.add(store, on: bench, answers: try store.view(indexedAnswers))
    for number in Int64(1)...12 {
        _ = try store.commit(try bench.transaction(number))
        try history.add(store, on: bench, answers: try store.view(indexedAnswers))
    }
    let (contents, answers) = (try store.contents(), try store.view(indexedAnswers))
    try store.close()
    let bytes = try require(bench.bytes(of: bench.location("whole").path), "the store's bytes")
    history.finish(bytes)
    return FilledStore(contents: contents, answers: answers, bytes: bytes, history: history)
}

/// Returns the results of reads that use indexes instead of scans.
private func indexedAnswers(_ snapshot: any StoreSnapshot) throws -> [[Int64]] {
    var answers = [
        try snapshot.keys(FetchRequest("Indexed", where: .less("i64", than: -5), sortedBy: [.init("str")])),
        try snapshot.keys(FetchRequest("Indexed", sortedBy: [.init("i64")])),
        try snapshot.keys(FetchRequest("Account", where: .equal("email", to: "7"))),
        try snapshot.targets(of: RelationshipName("Playlist", name: "tracks"), from: ObjectID("Playlist", key: 1)),
    ]
    for key in Int64(1)...12 {
        answers.append(
            try snapshot.objects(with: [ObjectID("Track", key: key), ObjectID("Account", key: key)]).map(\.id.key))
        answers.append(
            try snapshot.targets(of: RelationshipName("Node", name: "children"), from: ObjectID("Node", key: key)))
        answers.append(
            try snapshot.targets(of: RelationshipName("Node", name: "friends"), from: ObjectID("Node", key: key)))
        answers.append(
            try snapshot.targets(of: RelationshipName("Track", name: "playlists"), from: ObjectID("Track", key: key)))
    }
    return answers
}

/// Returns copies of a file, each with one changed bit and a description of the damage.
///
/// The bits are spread over all nonzero bytes of the file, and are the same in every run.
private func flippedBits(_ whole: [UInt8]) -> [(bytes: [UInt8], damage: String)] {
    var random = SeededGenerator(seed: 11)
    // Zero bytes are mostly unused.
    let places = whole.indices.filter { whole[$0] != 0 }
    return (0..<80).compactMap { part in
        guard !places.isEmpty else { return nil }
        let place = places[(places.count * part / 80 + random.below(max(1, places.count / 80))) % places.count]
        var bytes = whole
        bytes[place] ^= UInt8(1 << random.below(8))
        return (bytes, "byte \(place) of \(whole.count) changed")
    }
}

/// Runs `body` with a store of these bytes.
///
/// A store error, on opening or in `body`, must report damage.
private func openDamaged(
    _ bench: Workbench, bytes: [UInt8], damage: String, isReadOnly: Bool = true,
    _ body: (any PersistentStore) throws -> Void
) throws {
    let name = "damaged"
    _ = try bench.write(bytes, as: name)
    defer { try? FileManager.default.removeItem(atPath: bench.location(name).path) }
    do {
        let store = try bench.openApart(name: name) { $0.isReadOnly = isReadOnly }
        defer { try? store.close() }
        try body(store)
    } catch let error as StoreError {
        try expect(
            [.corrupted, .notAStore, .unsupportedVersion, .limitExceeded, .modelMismatch, .invalidModel].contains(
                error.code),
            "\(damage): an error that reports damage", otherwise: "\(error)")
    }
}

/// Calls `body` with each record of a cursor, and returns the IDs of the damaged objects.
@discardableResult
private func readPastDamage(
    _ cursor: any RecordCursor, of model: ManagedObjectModel, _ body: (Record) throws -> Void
) throws -> Set<ObjectID> {
    var damaged: Set<ObjectID> = []
    var batch = RecordBatch(model: model)
    while true {
        do throws(StoreError) {
            guard try cursor.next(into: &batch) else { return damaged }
        } catch {
            // A cursor that reports the same object twice does not advance.
            guard let id = error.damagedObject, damaged.insert(id).inserted else { throw error }
            continue
        }
        for index in 0..<batch.count { try body(batch.record(at: index)) }
    }
}

private func wrongAnswer(of store: any PersistentStore, expected: [[Int64]]) throws -> String? {
    let answers = try store.view(indexedAnswers)
    return zip(answers, expected).first { $0 != $1 }.map { "objects \($0) are found instead of \($1)" }
}

/// Closes a store whose file was removed or exchanged.
///
/// Because of pending writes, closing may throw `storeReplaced`, but no other error.
private func closeTelling(_ store: any PersistentStore) throws {
    do throws(StoreError) {
        try store.close()
    } catch {
        try expect(error.code == .storeReplaced, "closing succeeds or fails with storeReplaced", otherwise: "\(error)")
    }
}

/// Fails if a store of these bytes returns changed content or throws an error, without reporting
/// damage.
private func expectNoticed(_ bench: Workbench, bytes: [UInt8], whole: FilledStore, damage: String) throws {
    let name = "damaged"
    _ = try bench.write(bytes, as: name)
    defer { try? FileManager.default.removeItem(atPath: bench.location(name).path) }
    do {
        // Opened read-only, so that no other files remain.
        let store = try bench.openApart(name: name) { $0.isReadOnly = true }
        defer { try? store.close() }
        let found = try store.contents()
        func difference(from contents: StoreContents, answers: [[Int64]]) throws -> String? {
            try found.difference(from: contents) ?? wrongAnswer(of: store, expected: answers)
        }
        func isState(_ state: FileHistory.State) throws -> Bool {
            try difference(from: state.contents, answers: state.answers) == nil
        }
        guard let difference = try difference(from: whole.contents, answers: whole.answers) else { return }
        // If the damage looks like a commit that a crash interrupted, an append-only store may return the state before
        // that commit.
        if let state = whole.history.state(allowedFor: bytes), try isState(state) { return }
        if try store.integrityFindings().contains(where: { $0.severity == .damage }) { return }
        let isTold = try store.view { try $0.recordedTally() != $0.computeTally() }
        try expect(isTold, "\(damage): the damage is detected, or the content is unchanged", otherwise: difference)
    } catch let error as StoreError {
        try expect(
            [.corrupted, .notAStore, .unsupportedVersion, .limitExceeded, .modelMismatch, .invalidModel].contains(
                error.code),
            "\(damage): an error that reports damage", otherwise: "\(error)")
    }
}
