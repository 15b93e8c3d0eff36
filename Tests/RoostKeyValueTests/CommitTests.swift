import Foundation
import RoostCore
import RoostKeyValue
import RoostMemory
import Testing

@Suite("Commits of the key-value engine")
struct CommitTests {
    @Test("a filled key-value store is read back and agrees with its tally")
    func readsBack() throws {
        let test = try TestStore()
        try test.fill()
        let snapshot = try test.snapshot()
        #expect(
            try snapshot.ids(of: "Artist") == [
                ObjectID("Artist", key: 1), ObjectID("Artist", key: 2), ObjectID("Band", key: 3),
            ])
        #expect(try snapshot.ids(of: "Band") == [ObjectID("Band", key: 3)])
        #expect(try snapshot.record(test.artist(1))?.value("name") == "Ada")
        #expect(try snapshot.record(ObjectID("Artist", key: 3))?.id == ObjectID("Band", key: 3))
        #expect(try snapshot.record(ObjectID("Band", key: 1)) == nil)
        #expect(try test.digest().objectCount == 8)
        #expect(try test.digest().linkCount == 8)
        #expect(try test.findings() == [])
    }

    @Test("an update raises version and generation, and moves index entries")
    func updatesIndexEntries() throws {
        let test = try TestStore()
        try test.fill()
        let receipt = try test.commit {
            try $0.update(test.artist(1), version: 1, values: ["name": "Eve", "code": "z"])
        }
        #expect(receipt.generation.number == 2)
        let snapshot = try test.snapshot()
        #expect(try snapshot.record(test.artist(1))?.version == 2)
        #expect(try snapshot.keys(FetchRequest("Artist", where: .equal("code", to: "a"))) == [])
        #expect(try snapshot.keys(FetchRequest("Artist", where: .equal("code", to: "z"))) == [1])
        #expect(try snapshot.keys(FetchRequest("Artist", where: .equal("name", to: "Ada"))) == [])
        #expect(try snapshot.keys(FetchRequest("Artist", where: .isIn("name", values: ["Eve", "Duo"]))) == [1, 3])
        #expect(try test.findings() == [])
        _ = try test.digest()
    }

    @Test("an object at the highest version cannot be updated")
    func refusesLastVersion() throws {
        let test = try TestStore()
        let loader = try test.store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: test.store.model)
        try batch.append(test.artist(1), version: .max, values: ["name": "Ada"])
        try loader.append(batch)
        _ = try loader.finish()
        let error = #expect(throws: StoreError.self) {
            try test.commit { try $0.update(test.artist(1), version: .max, values: ["name": "Eve"]) }
        }
        #expect(error?.code == .limitExceeded)
        let record = try #require(try test.snapshot().record(test.artist(1)))
        #expect(record.version == .max)
        #expect(try record.value("name") == .string("Ada"))
    }

    @Test("scattered updates are all written, and the error for a repeated one names its object", arguments: [40, 400])
    func writesScatteredUpdates(count: Int64) throws {
        let test = try TestStore()
        // Keys of one to three bytes, of two hierarchies.
        let ids = (1...count).map { $0 % 3 == 0 ? test.genre($0 * $0 * 7) : test.artist($0 * $0 * 7) }
        let scattered = (0..<Int(count)).map { ids[$0 * 7 % Int(count)] }
        try #require(Set(scattered).count == ids.count)
        try test.commit { changes in for id in scattered { try changes.insert(id, values: ["name": "old"]) } }
        try test.commit { changes in
            for id in scattered { try changes.update(id, version: 1, values: ["name": .string("\(id.key)")]) }
        }
        let snapshot = try test.snapshot()
        for id in ids {
            let record = try #require(try snapshot.record(id))
            #expect(record.version == 2)
            #expect(try record.value("name") == .string("\(id.key)"))
        }
        #expect(try test.findings() == [])
        let error = #expect(throws: StoreError.self) {
            try test.commit { changes in
                for id in scattered + [ids[5]] { try changes.update(id, version: 2, values: [:]) }
            }
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("\(ids[5]) ") == true)
    }

    @Test("a commit lists all stale updates, deletes and version checks, and writes nothing")
    func listsConflicts() throws {
        let test = try TestStore()
        try test.fill()
        try test.commit { try $0.update(test.artist(1), version: 1, values: ["name": "Eve"]) }
        let before = try test.digest()
        do {
            try test.commit { changes in
                try changes.update(test.artist(1), version: 1, values: ["name": "Late"])
                changes.delete(test.artist(99), version: 1)
                changes.unchanged.append(.init(test.artist(2), version: 7))
                try changes.insert(test.genre(9), values: [:])
            }
            Issue.record("the commit must fail")
        } catch let error as StoreError {
            #expect(error.code == .conflict)
            #expect(error.conflicts.map(\.id) == [test.artist(1), test.artist(99), test.artist(2)])
            #expect(error.conflicts.map { $0.current?.version } == [2, nil, 1])
        }
        #expect(try test.digest() == before)
        #expect(try test.snapshot().record(test.genre(9)) == nil)
    }

    @Test("an object cannot be updated or inserted again as another entity of its hierarchy")
    func refusesOtherEntity() throws {
        let test = try TestStore()
        try test.fill()
        #expect(
            code { try test.commit { try $0.update(ObjectID("Artist", key: 3), version: 1, values: [:]) } } == .conflict
        )
        #expect(code { try test.commit { try $0.insert(ObjectID("Artist", key: 3), values: [:]) } } == .duplicateObject)
    }

    @Test("an empty change set keeps the generation but checks unchanged objects")
    func keepsGenerationWithoutChanges() throws {
        let test = try TestStore()
        try test.fill()
        #expect(try test.commit { _ in }.generation.number == 1)
        #expect(try test.commit { $0.unchanged = [.init(test.artist(1), version: 1)] }.generation.number == 1)
        #expect(code { try test.commit { $0.unchanged = [.init(test.artist(1), version: 2)] } } == .conflict)
        let absent = try test.commit { try $0.remove(Link(3, 2), from: RelationshipName("Album", name: "genres")) }
        #expect(absent.generation.number == 1)
    }

    @Test("a change set that names an object twice is refused")
    func refusesObjectTwice() throws {
        let test = try TestStore()
        try test.fill()
        #expect(
            code { try test.commit { for _ in 0..<2 { try $0.insert(test.genre(5), values: [:]) } } }
                == .duplicateObject)
        #expect(
            code { try test.commit { for _ in 0..<2 { try $0.update(test.genre(1), version: 1, values: [:]) } } }
                == .invalidRequest)
        #expect(
            code {
                try test.commit {
                    try $0.update(test.genre(1), version: 1, values: [:])
                    $0.delete(test.genre(1), version: 1)
                }
            } == .invalidRequest)
        #expect(
            code {
                try test.commit {
                    $0.delete(test.genre(1), version: 1)
                    try $0.insert(test.genre(1), values: [:])
                }
            } == .duplicateObject)
    }

    @Test("a commit lists each collision of unique values with the store and within the commit")
    func listsCollisions() throws {
        let test = try TestStore()
        try test.fill()
        do {
            try test.commit { changes in
                try changes.insert(test.artist(10), values: ["code": "a"])
                try changes.insert(test.artist(11), values: ["code": "new"])
                try changes.insert(ObjectID("Band", key: 12), values: ["code": "new"])
                try changes.insert(test.artist(13), values: [:])
            }
            Issue.record("the commit must fail")
        } catch let error as StoreError {
            #expect(error.code == .constraintViolation)
            #expect(
                error.violations == [
                    ConstraintViolation(
                        entity: "Artist", attributes: ["code"], rejected: test.artist(10), existing: test.artist(1)),
                    ConstraintViolation(
                        entity: "Artist", attributes: ["code"], rejected: ObjectID("Band", key: 12),
                        existing: test.artist(11)),
                ])
        }
        #expect(try test.snapshot().record(test.artist(13)) == nil)
    }

    @Test("a commit can swap unique values or take one from a deleted object")
    func swapsUniqueValues() throws {
        let test = try TestStore()
        try test.fill()
        try test.commit { changes in
            try changes.update(test.artist(1), version: 1, values: ["code": "b"])
            try changes.update(test.artist(2), version: 1, values: ["code": "a"])
            changes.delete(ObjectID("Band", key: 3), version: 1)
            try changes.insert(test.artist(4), values: ["code": "c"])
        }
        #expect(try test.findings() == [])
        #expect(try test.snapshot().keys(FetchRequest("Artist", where: .equal("code", to: "a"))) == [2])
        #expect(try test.snapshot().keys(FetchRequest("Artist", where: .equal("code", to: "c"))) == [4])
    }

    @Test("a uniqueness constraint over two attributes binds only objects with both values")
    func bindsObjectsWithBothValues() throws {
        let test = try TestStore()
        try test.fill()
        try test.commit { changes in
            try changes.insert(test.album(10), values: ["title": "T1"])
            try changes.insert(test.album(11), values: ["title": "T1"])
            try changes.insert(test.album(12), values: ["title": "T1", "price": .decimal(2)])
        }
        #expect(
            code { try test.commit { try $0.insert(test.album(13), values: ["title": "T1", "price": .decimal(1)]) } }
                == .constraintViolation)
    }

    @Test("unique values that are longer than a key are compared completely")
    func comparesLongValues() throws {
        let test = try TestStore()
        let long = String(repeating: "x", count: 5000)
        try test.commit { changes in
            try changes.insert(test.artist(1), values: ["code": .string(long + "1"), "name": .string(long)])
            try changes.insert(test.artist(2), values: ["code": .string(long + "2"), "name": .string(long)])
        }
        #expect(
            code { try test.commit { try $0.insert(test.artist(3), values: ["code": .string(long + "1")]) } }
                == .constraintViolation)
        let snapshot = try test.snapshot()
        #expect(try snapshot.keys(FetchRequest("Artist", where: .equal("code", to: .string(long + "2")))) == [2])
        #expect(try snapshot.keys(FetchRequest("Artist", where: .equal("name", to: .string(long)))) == [1, 2])
        try test.commit { changes in
            try changes.update(test.artist(1), version: 1, values: ["code": .string(long + "2")])
            changes.delete(test.artist(2), version: 1)
        }
        #expect(try test.findings() == [])
    }

    @Test("a commit sets and removes user metadata")
    func setsUserMetadata() throws {
        let test = try TestStore(
            StoreOptions(timeoutSeconds: 0).with { $0.userMetadata = ["kept": .int(1), "gone": .bool(true)] })
        try test.commit { changes in
            changes.userMetadata["new"] = .string("x")
            changes.userMetadata.updateValue(nil, forKey: "gone")
        }
        #expect(try test.store.metadata().userMetadata == ["kept": .int(1), "new": .string("x")])
    }

    @Test("operations on a closed key-value store throw closed")
    func throwsClosed() throws {
        let test = try TestStore()
        try test.fill()
        let snapshot = try test.snapshot()
        let cursor = try snapshot.records(of: "Artist", after: nil)
        let links = try snapshot.links(of: RelationshipName("Album", name: "genres"), after: nil)
        try test.store.close()
        try test.store.close()
        var batch = RecordBatch(model: test.model)
        var linkBatch = LinkBatch(relationship: 0)
        #expect(code { try test.commit { try $0.insert(test.genre(9), values: [:]) } } == .closed)
        #expect(code { _ = try test.store.snapshot() } == .closed)
        #expect(code { _ = try test.store.metadata() } == .closed)
        #expect(code { _ = try test.store.byteCount() } == .closed)
        #expect(code { _ = try test.store.integrityFindings() } == .closed)
        #expect(code { _ = try test.store.reserveKeys(1, for: "Genre") } == .closed)
        #expect(code { _ = try test.store.bulkLoader(BulkLoadOptions()) } == .closed)
        #expect(code { _ = try snapshot.records(of: "Artist", after: nil) } == .closed)
        #expect(code { _ = try snapshot.recordedTally() } == .closed)
        #expect(code { _ = try snapshot.lastKey(of: "Artist") } == .closed)
        #expect(code { _ = try cursor.next(into: &batch) } == .closed)
        #expect(code { _ = try links.next(into: &linkBatch) } == .closed)
    }

    @Test("a read-only key-value store refuses every change")
    func refusesChangesWhenReadOnly() throws {
        let test = try TestStore(StoreOptions(isReadOnly: true))
        #expect(code { try test.commit { try $0.insert(test.genre(9), values: [:]) } } == .readOnly)
        #expect(code { _ = try test.store.reserveKeys(1, for: "Genre") } == .readOnly)
        #expect(code { _ = try test.store.bulkLoader(BulkLoadOptions()) } == .readOnly)
        #expect(try test.snapshot().ids(of: "Genre") == [])
    }
}
