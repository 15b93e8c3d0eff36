import Foundation
import RoostCore
import RoostFiles
import RoostSQL
import RoostSQLite
import RoostStores
import Testing

@Suite("Commits to an SQLite store")
struct CommitTests {
    let directory: TemporaryDirectory
    let store: any PersistentStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(), options: StoreOptions())
    }

    private func failure(_ body: (inout ChangeSet) throws -> Void) throws -> StoreError {
        let before = try store.digest()
        var failure: StoreError?
        do { try store.change(body) } catch { failure = error as? StoreError }
        #expect(try store.digest() == before)
        #expect(try store.findings() == [])
        return try #require(failure)
    }

    @Test("a commit with stale versions lists the current records and writes nothing")
    func listsConflicts() throws {
        let (a, b, c) = (ObjectID("Album", key: 1), ObjectID("Album", key: 2), ObjectID("Album", key: 3))
        try store.change {
            try $0.insert(a, values: ["title": "a"])
            try $0.insert(b, values: ["title": "b"])
        }
        try store.change { try $0.update(a, version: 1, values: ["title": "A"]) }
        let error = try failure {
            try $0.update(a, version: 1, values: ["title": "x"])
            $0.delete(c, version: 1)
            $0.unchanged = [.init(b, version: 5)]
            try $0.insert(c, values: [:])
        }
        #expect(error.code == .duplicateObject)
        let conflict = try failure {
            try $0.update(a, version: 1, values: ["title": "x"])
            $0.delete(c, version: 1)
            $0.unchanged = [.init(b, version: 5)]
        }
        #expect(conflict.code == .conflict)
        #expect(conflict.conflicts.map(\.id) == [a, c, b])
        #expect(try conflict.conflicts.map { try $0.current?.value("title") } == ["A", nil, "b"])
    }

    @Test("an update with an unchanged polymorphic reference keeps the entity of the reference")
    func keepsPolymorphicReference() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Album", attributes: [AttributeDescription("price", type: .double)],
                relationships: [.toOne("artist", to: "Artist", inverse: "albums")]),
            EntityDescription("Artist", relationships: [.toMany("albums", to: "Album", inverse: "artist")]),
            EntityDescription("Band", superentity: "Artist"),
        ])
        let store = try SQLiteStoreType().create(directory.location("b"), model: model, options: StoreOptions())
        let artists: [Int64: ObjectID] = [1: ObjectID("Artist", key: 1), 2: ObjectID("Band", key: 2)]
        try store.change { changes in
            for artist in artists.values { try changes.insert(artist, values: [:]) }
            for key: Int64 in 1...3 {
                try changes.insert(
                    ObjectID("Album", key: key), values: artists[key].map { ["artist": .objectID($0)] } ?? [:])
            }
        }
        try store.change { changes in
            for key: Int64 in 1...3 {
                var values = artists[key].map { ["artist": Value.objectID($0)] } ?? [:]
                values["price"] = .double(Double(key))
                try changes.update(ObjectID("Album", key: key), version: 1, values: values)
            }
        }
        #expect(try checkStore(store) == [])
        let expected: [Value] = [.objectID(ObjectID("Artist", key: 1)), .objectID(ObjectID("Band", key: 2)), .null]
        #expect(try store.records("Album").map { try $0.value("artist") } == expected)
        try store.close()
    }

    @Test("an SQLite store deletes objects that another open instance inserted")
    func deletesObjectsOfOtherOpening() throws {
        try store.change { try $0.insert(ObjectID("Album", key: 1), values: [:]) }
        let other = try SQLiteStoreType().open(directory.location("a"), options: StoreOptions())
        try other.change { changes in
            for key: Int64 in 2...5 { try changes.insert(ObjectID("Album", key: key), values: [:]) }
        }
        try other.close()
        try store.change { changes in
            for key: Int64 in 1...4 { changes.delete(ObjectID("Album", key: key), version: 1) }
        }
        #expect(try store.snapshot().count(FetchRequest("Album")) == 1)
        #expect(try store.findings() == [])
    }

    @Test("updates in reverse key order keep values and indexes of an SQLite store")
    func keepsIndexes() throws {
        let count: Int64 = 60
        func values(_ key: Int64, round: Int64) -> [String: Value] {
            // Depending on the key, a round changes one, both or none of two indexed attributes.
            var values: [String: Value] = ["title": .string("\(round)"), "gain": .double(Double(round))]
            let (length, album) = (key % 4 & 1 == 0 ? 0 : round, key % 4 & 2 == 0 ? 0 : round)
            if (key + length) % 3 != 0 { values["length"] = .double(Double(key * 10 + length)) }
            values["album"] = .objectID(ObjectID("Album", key: 1 + (key + album) % 3))
            return values
        }
        try store.change { changes in
            for key in Int64(1)...3 { try changes.insert(ObjectID("Album", key: key), values: [:]) }
            for key in 1...count { try changes.insert(ObjectID("Track", key: key), values: values(key, round: 0)) }
        }
        for round in Int64(1)...3 {
            try store.change { changes in
                for key in (1...count).reversed() {
                    try changes.update(
                        ObjectID("Track", key: key), version: UInt32(round), values: values(key, round: round))
                }
            }
            #expect(try store.findings() == [])
            for album in Int64(1)...3 {
                let expected = (1...count).filter {
                    values($0, round: round)["album"] == .objectID(ObjectID("Album", key: album))
                }
                #expect(
                    try store.keys(
                        FetchRequest("Track", where: .equal("album", to: .objectID(ObjectID("Album", key: album)))))
                        == expected)
            }
            for record in try store.records("Track") {
                #expect(record.values() == values(record.id.key, round: round).filter { $0.value != .null })
                #expect(record.version == UInt32(round) + 1)
            }
        }
    }

    @Test("conflicts are listed in the order of the change set")
    func sortsConflicts() throws {
        let ids = [
            ObjectID("Track", key: 3), ObjectID("Album", key: 2), ObjectID("Track", key: 1), ObjectID("Album", key: 1),
        ]
        try store.change { changes in for id in ids { try changes.insert(id, values: [:]) } }
        let conflict = try failure { changes in for id in ids { try changes.update(id, version: 7, values: [:]) } }
        #expect(conflict.conflicts.map(\.id) == ids)
    }

    @Test("a key can be inserted only once in a whole hierarchy")
    func refusesKeyTwice() throws {
        try store.change { try $0.insert(ObjectID("Singer", key: 5), values: [:]) }
        #expect(try failure { try $0.insert(ObjectID("Drummer", key: 5), values: [:]) }.code == .duplicateObject)
        #expect(
            try failure {
                try $0.insert(ObjectID("Drummer", key: 2), values: [:])
                try $0.insert(ObjectID("Person", key: 2), values: [:])
            }.code == .duplicateObject)
    }

    @Test(
        "a commit that inserts an existing key names the object and inserts nothing",
        arguments: [0, 30, 59])
    func namesExistingKey(position: Int64) throws {
        try store.change { try $0.insert(ObjectID("Tag", key: 100 + position), values: ["name": "old"]) }
        let error = try failure { changes in
            for key in Int64(100)..<160 { try changes.insert(ObjectID("Tag", key: key), values: ["name": "new"]) }
        }
        #expect(error.code == .duplicateObject)
        #expect(error.message.contains("Tag/p\(100 + position) "), "\(error.message)")
        #expect(try store.records("Tag").count == 1)
    }

    @Test("an insert that repeats both a key and a unique value throws duplicateObject")
    func reportsKeyBeforeValue() throws {
        try store.change {
            try $0.insert(ObjectID("Singer", key: 1), values: ["name": "A"])
            try $0.insert(ObjectID("Singer", key: 2), values: ["name": "B"])
        }
        #expect(
            try failure { try $0.insert(ObjectID("Drummer", key: 2), values: ["name": "A"]) }.code == .duplicateObject)
        #expect(
            try failure { try $0.insert(ObjectID("Drummer", key: 2), values: ["name": "B"]) }.code == .duplicateObject)
    }

    @Test("two open instances of a store count each commit once, and failed commits not at all")
    func countsCommitsOnce() throws {
        let other = try SQLiteStoreType().open(directory.location("a"), options: StoreOptions(model: store.model))
        defer { try? other.close() }
        var (key, generation) = (Int64(0), try store.change { $0.userMetadata = ["a": .int(1)] }.generation.number)
        for round in 0..<12 {
            // Each store commits twice in turn, so the cached tallies are first stale, then current.
            let current = round / 2 % 2 == 0 ? store : other
            let receipt = try current.change { changes in
                key += 1
                try changes.insert(ObjectID("Album", key: key), values: [:])
                if round % 3 == 0 { try changes.insert(ObjectID("Tag", key: key), values: [:]) }
                if round > 0 {
                    try changes.update(
                        ObjectID("Album", key: 1), version: UInt32(round), values: ["year": .int(Int64(round))])
                }
            }
            generation += 1
            #expect(receipt.generation.number == generation)
            // This commit fails after it has changed records and cached tallies.
            let failed = try failure { changes in
                try changes.insert(ObjectID("Album", key: 1000), values: [:])
                try changes.add(Link(1000, 999), to: RelationshipName("Album", name: "tags"))
            }
            #expect(failed.code == .objectNotFound)
        }
        #expect(try store.digest()?.objectCount == 12 + 4)
        #expect(try other.findings() == [])
    }

    @Test("a commit lists each collision of unique values, and can swap the values of two objects")
    func listsCollisions() throws {
        let (a, b) = (ObjectID("Singer", key: 1), ObjectID("Drummer", key: 2))
        try store.change {
            try $0.insert(a, values: ["name": "A", "voice": "alto"])
            try $0.insert(b, values: ["name": "B", "voice": 1])
            try $0.insert(ObjectID("Drummer", key: 3), values: ["voice": 1])
            try $0.insert(ObjectID("Drummer", key: 4), values: [:])
        }
        let error = try failure {
            try $0.insert(ObjectID("Person", key: 10), values: ["name": "A"])
            try $0.insert(ObjectID("Singer", key: 11), values: ["name": "C", "voice": "alto"])
            try $0.insert(ObjectID("Singer", key: 12), values: ["name": "C"])
        }
        #expect(error.code == .constraintViolation)
        #expect(
            Set(error.violations) == [
                ConstraintViolation(
                    entity: "Person", attributes: ["name"], rejected: ObjectID("Person", key: 10), existing: a),
                ConstraintViolation(
                    entity: "Person", attributes: ["name"], rejected: ObjectID("Singer", key: 12),
                    existing: ObjectID("Singer", key: 11)),
                ConstraintViolation(
                    entity: "Singer", attributes: ["voice"], rejected: ObjectID("Singer", key: 11), existing: a),
            ])
        try store.change {
            try $0.update(a, version: 1, values: ["name": "B", "voice": "alto"])
            try $0.update(b, version: 1, values: ["name": "A", "voice": 1])
        }
        try store.change {
            $0.delete(b, version: 2)
            try $0.insert(ObjectID("Person", key: 13), values: ["name": "A"])
        }
        #expect(try store.findings() == [])
    }

    @Test("links need both objects, change place when added again, and are removed with either object")
    func keepsLinks() throws {
        let tags = RelationshipName("Album", name: "tags")
        let albums = RelationshipName("Tag", name: "albums")
        try store.change {
            for key in 1...3 { try $0.insert(ObjectID("Album", key: Int64(key)), values: [:]) }
            for key in 1...3 { try $0.insert(ObjectID("Tag", key: Int64(key)), values: [:]) }
            try $0.add(Link(1, 3, order: 0), to: tags)
            try $0.add(Link(1, 1, order: 9), to: tags)
            try $0.add(Link(3, 2, order: 77), to: albums)
        }
        #expect(try store.links(tags) == [Link(1, 3), Link(1, 1, order: 9), Link(2, 3)])
        #expect(try store.links(albums, from: ObjectID("Tag", key: 3)) == [Link(3, 1), Link(3, 2)])
        #expect(try failure { try $0.add(Link(1, 4), to: tags) }.code == .objectNotFound)
        try store.change {
            try $0.add(Link(1, 3, order: 10), to: tags)
            try $0.remove(Link(2, 3), from: tags)
        }
        #expect(
            try store.links(tags, from: ObjectID("Album", key: 1)) == [Link(1, 1, order: 9), Link(1, 3, order: 10)])
        try store.change { $0.delete(ObjectID("Tag", key: 3), version: 1) }
        #expect(try store.links(tags) == [Link(1, 1, order: 9)])
        #expect(try store.links(albums, from: ObjectID("Tag", key: 3)) == [])
        #expect(try store.findings() == [])
    }

    @Test("links of a relationship that is its own inverse are read from both ends")
    func readsReflexiveLinks() throws {
        let similar = RelationshipName("Album", name: "similar")
        try store.change {
            for key in 1...3 { try $0.insert(ObjectID("Album", key: Int64(key)), values: [:]) }
            try $0.add(Link(3, 1), to: similar)
            try $0.add(Link(2, 3), to: similar)
            try $0.add(Link(2, 2), to: similar)
        }
        #expect(try store.links(similar) == [Link(1, 3), Link(2, 2), Link(2, 3)])
        #expect(try store.links(similar, from: ObjectID("Album", key: 3)) == [Link(3, 1), Link(3, 2)])
        #expect(try store.links(similar, from: ObjectID("Album", key: 2)) == [Link(2, 2), Link(2, 3)])
        try store.change { $0.delete(ObjectID("Album", key: 3), version: 1) }
        #expect(try store.links(similar) == [Link(2, 2)])
        #expect(try store.findings() == [])
    }

    @Test("the members of a to-many relationship with a to-one inverse are read in the order of their places")
    func readsDerivedLinksInOrder() throws {
        let tracks = RelationshipName("Album", name: "tracks")
        try store.change {
            try $0.insert(ObjectID("Album", key: 1), values: [:])
            for (key, place) in [(1, 30), (2, 10), (3, 10)] {
                try $0.insert(
                    ObjectID("Track", key: Int64(key)),
                    values: ["album": .objectID(ObjectID("Album", key: 1)), "album#order": .int(Int64(place))])
            }
        }
        #expect(
            try store.links(tracks, from: ObjectID("Album", key: 1))
                == [Link(1, 2, order: 10), Link(1, 3, order: 10), Link(1, 1, order: 30)])
        #expect(try store.links(tracks, from: ObjectID("Album", key: 2)) == [])
        #expect(code { _ = try store.links(tracks) } == .invalidRequest)
    }

    @Test("each commit with a change raises the generation, and each update the object's version")
    func raisesGeneration() throws {
        let id = ObjectID("Album", key: 1)
        #expect(try store.change { try $0.insert(id, values: [:]) }.generation.number == 1)
        #expect(try store.change { try $0.update(id, version: 1, values: ["year": 5]) }.generation.number == 2)
        #expect(try store.records("Album").map(\.version) == [2])
        #expect(try store.change { $0.userMetadata = ["a": .int(1), "b": .bool(true)] }.generation.number == 3)
        #expect(try store.change { $0.userMetadata.updateValue(nil, forKey: "a") }.generation.number == 4)
        #expect(try store.metadata().userMetadata == ["b": .bool(true)])
        #expect(try store.change { _ in }.generation.number == 4)
        #expect(try store.change { $0.unchanged = [.init(id, version: 2)] }.generation.number == 4)
        try store.change { $0.delete(id, version: 2) }
        #expect(try store.records("Album").isEmpty)
        #expect(try store.digest() == StoreDigest(objectCount: 0, linkCount: 0, sum: 0))
    }

    @Test("reserved keys are never given twice, even by two open instances of a store")
    func reservesKeysOnce() throws {
        let other = try SQLiteStoreType().open(directory.location("a"), options: StoreOptions())
        var given: Set<Int64> = []
        for round in 1...20 {
            for opener in [store, other] {
                let keys = try opener.reserveKeys(round * 7, for: round % 2 == 0 ? "Singer" : "Drummer")
                #expect(keys.count == round * 7)
                for key in keys { #expect(given.insert(key).inserted) }
            }
        }
        let next = try store.reserveKeys(1, for: "Tag").lowerBound
        try store.change { try $0.insert(ObjectID("Tag", key: next + 5), values: [:]) }
        #expect(try store.reserveKeys(1, for: "Tag").lowerBound > next + 5)
        try store.change { try $0.insert(ObjectID("Tag", key: 1_000_000), values: [:]) }
        #expect(try other.reserveKeys(1, for: "Tag").lowerBound > 0)
        let snapshot = try store.snapshot()
        #expect(try snapshot.lastKey(of: "Tag") >= 1_000_000)
        #expect(code { _ = try store.reserveKeys(0, for: "Tag") } == .invalidRequest)
        try store.change { try $0.insert(ObjectID("Tag", key: .max), values: [:]) }
        #expect(code { _ = try store.reserveKeys(5000, for: "Tag") } == .limitExceeded)
        snapshot.close()
        try other.close()
    }

    @Test("an SQLite snapshot shows no later commits, and throws closed after it or its store closes")
    func snapshotKeepsState() throws {
        try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
        let snapshot = try store.snapshot()
        let cursor = try snapshot.records(of: "Tag", after: nil)
        try store.change { try $0.insert(ObjectID("Tag", key: 2), values: [:]) }
        #expect(try store.collect(cursor).map(\.id.key) == [1])
        #expect(try snapshot.count(FetchRequest("Tag")) == 1)
        let unfinished = try snapshot.records(of: "Tag", after: nil)
        snapshot.close()
        var batch = RecordBatch(model: store.model)
        #expect(code { _ = try unfinished.next(into: &batch) } == .closed)
        #expect(code { _ = try snapshot.recordedTally() } == .closed)
        let last = try store.snapshot()
        try store.close()
        #expect(code { _ = try last.recordedTally() } == .closed)
        #expect(code { _ = try store.snapshot() } == .closed)
        #expect(code { _ = try store.reserveKeys(1, for: "Tag") } == .closed)
        #expect(try directory.names.contains("a-wal"))
        last.close()
        #expect(try directory.names == ["a", "a.lock"])
    }

    @Test("records of a hierarchy are read by key, or by IDs in the requested order")
    func readsByKeyAndID() throws {
        try store.change {
            for key in [5, 1, 9] { try $0.insert(ObjectID("Singer", key: Int64(key)), values: [:]) }
            for key in [2, 7] { try $0.insert(ObjectID("Drummer", key: Int64(key)), values: [:]) }
        }
        let snapshot = try store.snapshot()
        #expect(try store.collect(snapshot.records(of: "Person", after: nil)).map(\.id.key) == [1, 2, 5, 7, 9])
        #expect(
            try store.collect(snapshot.records(of: "Person", after: ObjectID("Person", key: 5))).map(\.id.key) == [
                7, 9,
            ])
        #expect(try store.collect(snapshot.records(of: "Singer", after: nil)).map(\.id.key) == [1, 5, 9])
        let ids = [
            ObjectID("Person", key: 9), ObjectID("Drummer", key: 5), ObjectID("Singer", key: 4),
            ObjectID("Singer", key: 1),
            ObjectID("Person", key: 7),
        ]
        #expect(try store.collect(snapshot.records(with: ids)).map(\.id.key) == [9, 1, 7])
        #expect(code { _ = try snapshot.records(of: "Nobody", after: nil) } == .unknownEntity)
    }
}
