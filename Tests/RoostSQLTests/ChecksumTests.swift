import Foundation
import RoostCore
import RoostFiles
import RoostSQL
import RoostSQLite
import RoostStores
import Testing

/// Damage that row checksums and table tallies detect.
@Suite("Checksums of SQLite stores", .enabled(if: Shell.path != nil))
struct ChecksumTests {
    let directory: TemporaryDirectory
    let type = SQLiteStoreType()

    init() throws { directory = try TemporaryDirectory() }

    private func create(_ name: String = "a", count: Int64 = 12, options: StoreOptions = StoreOptions()) throws {
        var options = options
        options.userMetadata = ["title": .string("mine")]
        let store = try type.create(directory.location(name), model: try Models.music(), options: options)
        try store.change { changes in
            for key in 1...count {
                try changes.insert(
                    ObjectID("Track", key: key), values: ["title": .string("title \(key)"), "i64": .int(key)])
                try changes.insert(ObjectID("Album", key: key), values: ["title": .string("album \(key)")])
            }
            for key in 1...count {
                try changes.add(Link(key, count + 1 - key), to: RelationshipName("Album", name: "similar"))
            }
        }
        try store.close()
    }

    private func open(_ options: StoreOptions = StoreOptions()) throws -> any PersistentStore {
        try type.open(directory.location("a"), options: options)
    }

    @Test(
        "a row with any changed column is damaged",
        arguments: [
            "_version = 0", "_version = 7", "_checksum = _checksum + 1", "title = 'x'", "title = NULL", "i64 = -i64",
            "cover = X'00'", "place = 1", "length = 0.5",
        ])
    func damagesRow(change: String) throws {
        try create()
        try Shell.run("UPDATE Track SET \(change) WHERE _id = 5", on: directory.file("a"))
        let store = try open()
        do {
            _ = try store.records("Track")
            Issue.record("\(change) was not noticed")
        } catch let error as StoreError {
            #expect(error.code == .corrupted && error.damagedObject == ObjectID("Track", key: 5), "\(error)")
            #expect(error.message.contains("--accept-changes"))
        }
        try store.close()
    }

    @Test("a check finds a one-sided reference even if a damaged object of another hierarchy has the target's key")
    func damageBesideMissingReference() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("A", relationships: [.toOne("b", to: "B", inverse: "a")]),
            EntityDescription("B", relationships: [.toOne("a", to: "A", inverse: "b")]),
            EntityDescription("C", attributes: [.string("title")]),
            EntityDescription("D", relationships: [.toOne("c", to: "C", inverse: nil)]),
        ])
        let created = try type.create(directory.location("a"), model: model, options: StoreOptions())
        try created.change { changes in
            try changes.insert(ObjectID("A", key: 1), values: ["b": .objectID(ObjectID("B", key: 1))])
            try changes.insert(ObjectID("A", key: 2), values: ["b": .objectID(ObjectID("B", key: 1))])
            try changes.insert(ObjectID("B", key: 1), values: ["a": .objectID(ObjectID("A", key: 1))])
            try changes.insert(ObjectID("C", key: 1), values: ["title": "Blue"])
            try changes.insert(ObjectID("D", key: 1), values: ["c": .objectID(ObjectID("C", key: 1))])
        }
        try created.close()
        try Shell.run("UPDATE C SET title = 'Red' WHERE _id = 1", on: directory.file("a"))
        let store = try open()
        let findings = try checkStore(store)
        #expect(findings.contains { $0.kind == "inverse" && $0.object == ObjectID("A", key: 2) }, "\(findings)")
        #expect(findings.contains { $0.severity == .damage }, "\(findings)")
        try store.close()
    }

    @Test(
        "metadata that another program changed are refused",
        arguments: ["model", "user", "storeUUID"])
    func refusesChangedMetadata(name: String) throws {
        try create()
        let values = [
            "model": "replace(value, '\"Track\"', '\"Trick\"')", "user": "'{}'",
            "storeUUID": "'00000000-0000-4000-8000-000000000000'",
        ]
        let value = try #require(values[name])
        try Shell.run("UPDATE _roost_metadata SET value = \(value) WHERE name = '\(name)'", on: directory.file("a"))
        // `metadata()` is the first call that reads the user metadata.
        let error = code {
            let store = try open(StoreOptions(isReadOnly: true).with { $0.acceptsChanges = true })
            defer { try? store.close() }
            _ = try store.metadata()
        }
        #expect(error == .corrupted)
    }

    @Test("a changed last key is refused, so that no key is given twice")
    func refusesChangedLastKey() throws {
        try create()
        try Shell.run("UPDATE _roost_keys SET last = last - 1", on: directory.file("a"))
        let store = try open()
        let snapshot = try store.snapshot()
        #expect(code { _ = try snapshot.lastKey(of: "Track") } == .corrupted)
        snapshot.close()
        #expect(code { _ = try store.reserveKeys(1, for: "Track") } == .corrupted)
        #expect(try store.integrityFindings().contains { $0.message.contains("last key") })
        try store.close()
    }

    @Test(
        "a stored model without the store's entities is refused, even with a correct checksum",
        arguments: [2, 3])
    func refusesOtherModel(formatVersion: Int) throws {
        if formatVersion == 2 { try copyFixture() } else { try create() }
        let empty = #"{"formatVersion":1,"entities":{}}"#
        var change = "UPDATE _roost_metadata SET value = '\(empty)'"
        if formatVersion == 3 {
            let checksum = Int64(bitPattern: RecordHash.wide(Array("metadata\0model\0\(empty)".utf8)).low)
            change += ", checksum = \(checksum)"
        }
        try Shell.run("\(change) WHERE name = 'model'", on: directory.file("a"))
        #expect(code { _ = try open() } == .corrupted)
    }

    @Test(
        "a commit that changes an impossible tally is refused",
        arguments: ["9223372036854775807", "-9223372036854775807 - 1", "-1"], ["number = 0", "number > 0", "TRUE"])
    func refusesImpossibleTally(count: String, rows: String) throws {
        try create()
        try Shell.run(
            "UPDATE _roost_tallies SET count = \(count), sum = \(count) WHERE kind <> 'generation' AND \(rows)",
            on: directory.file("a"))
        let before = try directory.bytes("a")
        let store = try open()
        #expect(
            code {
                try store.change { try $0.update(ObjectID("Track", key: 1), version: 1, values: ["title": "new"]) }
            } == .corrupted)
        #expect(code { try store.change { try $0.insert(ObjectID("Album", key: 99), values: [:]) } } == .corrupted)
        #expect(try checkStore(store).contains { $0.severity == .damage })
        try store.close()
        #expect(try directory.bytes("a") == before)
    }

    @Test("a commit that would make a tally negative is refused")
    func refusesNegativeTally() throws {
        try create()
        try Shell.run("UPDATE _roost_tallies SET count = 0 WHERE kind = 'entity'", on: directory.file("a"))
        let store = try open()
        #expect(code { try store.change { $0.delete(ObjectID("Track", key: 1), version: 1) } } == .corrupted)
        try store.close()
    }

    /// Exchanges the first and the last leaf page of a table.
    private func exchangePages(of table: String) throws {
        let list = try Shell.run(
            "SELECT pageno FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf' ORDER BY path",
            on: directory.file("a"))
        let pages = list.split(separator: "\n").compactMap { Int($0) }
        let (first, last) = (try #require(pages.first) - 1, try #require(pages.last) - 1)
        try #require(pages.count > 2)
        var bytes = try directory.bytes("a")
        let (left, right) = (Array(bytes[first * 512..<first * 512 + 512]), Array(bytes[last * 512..<last * 512 + 512]))
        bytes.replaceSubrange(first * 512..<first * 512 + 512, with: right)
        bytes.replaceSubrange(last * 512..<last * 512 + 512, with: left)
        try directory.write(bytes, to: "a")
    }

    @Test(
        "a table with exchanged pages never returns its rows or links out of order",
        arguments: ["Track", "Album_similar"])
    func keepsOrderOfExchangedPages(table: String) throws {
        try create(count: 200, options: StoreOptions(typeOptions: ["pageSizeBytes": "512"]))
        try exchangePages(of: table)
        let damaged = try open(StoreOptions(isReadOnly: true))
        defer { try? damaged.close() }
        let snapshot = try damaged.snapshot()
        defer { snapshot.close() }
        var errors: [StoreError] = []
        for entity in ["Track", "Album"] {
            let cursor = try snapshot.records(of: EntityName(entity), after: nil)
            var batch = RecordBatch(model: damaged.model)
            var last: Int64 = 0
            do {
                while try cursor.next(into: &batch) {
                    for index in 0..<batch.count {
                        #expect(batch.key(at: index) > last)
                        last = batch.key(at: index)
                    }
                }
            } catch { errors.append(error) }
        }
        let links = try snapshot.links(of: RelationshipName("Album", name: "similar"), after: nil)
        var batch = LinkBatch(relationship: 0)
        var last = Link(0, 0)
        do {
            while try links.next(into: &batch) {
                for link in batch.links {
                    #expect((link.source, link.target) > (last.source, last.target))
                    last = link
                }
            }
        } catch { errors.append(error) }
        #expect(errors.map(\.code) == [.corrupted])
        #expect(try damaged.integrityFindings().contains { $0.severity == .damage })
    }

    @Test("a check reports a value above maximumValueBytes and examines the rest")
    func reportsLargeValue() throws {
        let large = StoreOptions(typeOptions: ["maximumValueBytes": "\(4 << 20)"])
        try create(options: large)
        let store = try open(large)
        try store.change {
            try $0.update(
                ObjectID("Track", key: 4), version: 1, values: ["cover": .data(Data(repeating: 7, count: 2 << 20))])
        }
        try store.close()
        try Shell.run("UPDATE Track SET title = 'x' WHERE _id IN (3, 9)", on: directory.file("a"))
        let small = try open(StoreOptions(typeOptions: ["maximumValueBytes": "\(1 << 20)"]))
        let cursor = try small.snapshot().records(of: "Track", after: nil)
        var batch = RecordBatch(model: small.model)
        var (keys, damaged): ([Int64], [Int64]) = ([], [])
        while true {
            do {
                guard try cursor.next(into: &batch) else { break }
                keys += (0..<batch.count).map { batch.key(at: $0) }
            } catch {
                damaged.append(try #require(error.damagedObject).key)
                #expect(error.code == (damaged.last == 4 ? .limitExceeded : .corrupted), "\(error)")
            }
        }
        #expect(keys == [1, 2, 5, 6, 7, 8, 10, 11, 12])
        #expect(damaged == [3, 4, 9])
        let findings = try checkStore(small).map(\.message)
        for key in damaged { #expect(findings.contains { $0.contains("Track/p\(key) ") }, "\(findings)") }
        try small.close()
    }

    @Test("a check continues after a reference to an object with a value above maximumValueBytes")
    func reportsLargeTarget() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("C", attributes: [.string("title")]),
            EntityDescription("D", relationships: [.toOne("c", to: "C", inverse: nil)]),
        ])
        let (large, other) = (ObjectID("C", key: 1), ObjectID("C", key: 2))
        let created = try type.create(
            directory.location("a"), model: model,
            options: StoreOptions(typeOptions: ["maximumValueBytes": "\(4 << 20)"]))
        try created.change { changes in
            try changes.insert(large, values: ["title": .string(String(repeating: "x", count: 2 << 20))])
            try changes.insert(other, values: ["title": "y"])
            try changes.insert(ObjectID("D", key: 1), values: ["c": .objectID(large)])
            try changes.insert(ObjectID("D", key: 2), values: ["c": .objectID(other)])
        }
        try created.close()
        let small = try open(StoreOptions(typeOptions: ["maximumValueBytes": "\(1 << 20)"]))
        let cursor = try small.snapshot().records(with: [large, other])
        var batch = RecordBatch(model: small.model)
        let error = #expect(throws: StoreError.self) { _ = try cursor.next(into: &batch) }
        #expect(error?.code == .limitExceeded && error?.damagedObject == large)
        let hasMore = try cursor.next(into: &batch)
        #expect(hasMore && batch.id(at: 0) == other)
        let findings = try checkStore(small)
        #expect(findings.contains { $0.message.contains("C/p1 ") }, "\(findings)")
        #expect(!findings.contains { $0.severity == .violation }, "\(findings)")
        try small.close()
    }

    // MARK: Accepting

    @Test("a row with an impossible key is damage and cannot be accepted", arguments: [-5, 0, Int.min])
    func refusesImpossibleKey(key: Int) throws {
        try create()
        let store = try #require(try open() as? any ChangeAcceptingStore)
        try Shell.run("UPDATE Track SET title = 'edited' WHERE _id = 2", on: directory.file("a"))
        let changes = try store.externalChanges()
        try Shell.run(
            "UPDATE Track SET title = 'edited' WHERE _id = 2; INSERT INTO Album (_id, _version, _entity, _checksum, title) SELECT \(key), 1, _entity, 0, 'by hand' FROM Album LIMIT 1",
            on: directory.file("a"))
        let findings = try store.integrityFindings()
        #expect(findings.contains { $0.severity == .damage && $0.message.contains("key \(key),") }, "\(findings)")
        // The check still verifies the checksums of the other rows.
        #expect(findings.contains { $0.message.contains("Track/p2 ") }, "\(findings)")
        #expect(code { _ = try store.externalChanges() } == .corrupted)
        #expect(code { _ = try store.acceptExternalChanges(changes) } == .corrupted)
        try store.close()
    }

    @Test("changes of another program are accepted only as they were shown")
    func acceptsShownChanges() throws {
        try create()
        let path = directory.file("a")
        try Shell.run(
            """
            UPDATE Track SET title = 'edited', number = '1.50' WHERE _id IN (2, 3); DELETE FROM Track WHERE _id = 5;
            INSERT INTO Album (_id, _version, _entity, _checksum, title) SELECT 70, 1, _entity, 0, 'by hand' FROM Album LIMIT 1;
            UPDATE Album_similar SET "order" = 0; DELETE FROM Album_similar WHERE source = 1
            """, on: path)
        let store = try #require(try open() as? any ChangeAcceptingStore)
        let changes = try store.externalChanges()
        #expect(changes.objectCount == 3)
        #expect(
            Set(changes.objects) == [ObjectID("Track", key: 2), ObjectID("Track", key: 3), ObjectID("Album", key: 70)])
        #expect(changes.entities.map(\.name).sorted() == ["Album", "Track"])
        #expect(changes.relationships.map { [$0.recorded, $0.found] } == [[6, 5]])
        #expect(changes.sentences.count == 4, "\(changes.sentences)")
        try Shell.run("UPDATE Track SET title = 'again' WHERE _id = 7", on: path)
        #expect(code { _ = try store.acceptExternalChanges(changes) } == .conflict)
        #expect(try store.externalChanges().objectCount == 4)
        let generation = try store.snapshot().recordedTally()?.generation.number
        #expect(try store.acceptExternalChanges(store.externalChanges()).number == (generation ?? 0) + 1)
        #expect(try store.externalChanges().isEmpty)
        #expect(try store.findings() == [])
        let titles = try store.records("Track").map { [$0.id.key: try $0.value("title")] }
        #expect(titles.contains([2: "edited"]) && titles.contains([7: "again"]) && titles.count == 11)
        // A writer that read an object before the acceptance has a conflict. Reserved keys are higher
        // than accepted keys.
        #expect(
            code { try store.change { try $0.update(ObjectID("Track", key: 2), version: 1, values: [:]) } } == .conflict
        )
        #expect(try store.reserveKeys(1, for: "Album").lowerBound > 70)
        try store.change { try $0.update(ObjectID("Track", key: 2), version: 2, values: ["title": "after"]) }
        #expect(try store.findings() == [])
        #expect(try store.acceptExternalChanges(store.externalChanges()).number == (generation ?? 0) + 2)
        try store.close()
    }

    @Test(
        "a change of another program that makes a store invalid is not accepted",
        arguments: [
            "UPDATE Track SET i16 = 99999 WHERE _id = 2", "UPDATE Track SET _entity = 77 WHERE _id = 2",
            "UPDATE Track SET token = X'00' WHERE _id = 2",
            "UPDATE Track SET title = CAST(X'FF' AS TEXT) WHERE _id = 2",
            "UPDATE Album_similar SET source = 0 WHERE source = 2", "UPDATE _roost_keys SET last = 1",
            "UPDATE _roost_tallies SET count = -5 WHERE kind = 'entity'",
            "UPDATE Album_similar SET inverse_order = 4 WHERE source = 2",
        ])
    func refusesUnacceptableChange(change: String) throws {
        try create()
        try Shell.run("UPDATE Track SET title = 'fine' WHERE _id = 1; \(change)", on: directory.file("a"))
        let before = try directory.bytes("a")
        let store = try #require(
            try open(StoreOptions().with { $0.acceptsChanges = true }) as? any ChangeAcceptingStore)
        let error = code { _ = try store.acceptExternalChanges(store.externalChanges()) }
        #expect(error == .corrupted)
        try store.close()
        #expect(try directory.bytes("a") == before)
    }

    @Test("an index that differs from its table is damage and cannot be accepted")
    func refusesDamagedIndex() throws {
        try create()
        let path = directory.file("a")
        try Shell.run("UPDATE Album SET title = 'edited' WHERE _id = 1", on: path)
        let page = try Shell.run(
            "SELECT pageno FROM dbstat WHERE name = 'Album_title_index' AND pagetype = 'leaf'", on: path)
        var bytes = try directory.bytes("a")
        let start = (try #require(Int(page.trimmingCharacters(in: .newlines))) - 1) * 4096
        let place = try #require(Data(bytes[start..<start + 4096]).firstRange(of: Data("album 7".utf8)))
        bytes[start + place.lowerBound] ^= 2
        try directory.write(bytes, to: "a")
        let store = try #require(try open() as? any ChangeAcceptingStore)
        let changes = try store.externalChanges()
        #expect(changes.objects == [ObjectID("Album", key: 1)])
        #expect(code { _ = try store.acceptExternalChanges(changes) } == .corrupted)
        #expect(try store.externalChanges() == changes)
        try store.close()
    }

    // MARK: Older formats

    /// Copies a store in format version 2 that has every type of attribute, links, and objects at
    /// higher versions than 1.
    private func copyFixture() throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/format-2.sqlite")
        try FileManager.default.copyItem(at: fixture, to: URL(fileURLWithPath: directory.file("a")))
    }

    @Test("a store of format version 2 is read and written in that version")
    func readsFormatVersion2() throws {
        try copyFixture()
        let store = try open()
        #expect(try store.metadata().formatVersion == 2)
        #expect(try store.digest()?.description == "901dd8230f0bf530-13-4")
        #expect(try store.findings() == [])
        let album = try #require(try store.records("Album").first)
        try store.change {
            try $0.update(album.id, version: album.version, values: ["title": "new"])
            try $0.insert(ObjectID("Album", key: 500), values: ["title": "other"])
            $0.userMetadata["title"] = .string("changed")
        }
        #expect(try store.reserveKeys(1, for: "Album").lowerBound > 500)
        try store.close()
        let again = try open()
        #expect(try again.metadata().formatVersion == 2)
        #expect(try again.metadata().userMetadata["title"] == .string("changed"))
        #expect(try again.findings() == [])
        #expect(try checkStore(again) == [])
        try again.close()
        try Shell.run("UPDATE Album SET title = 'x' WHERE _id = 500", on: directory.file("a"))
        let damaged = try #require(try open() as? any ChangeAcceptingStore)
        #expect(code { _ = try damaged.records("Album") } == .corrupted)
        _ = try damaged.acceptExternalChanges(damaged.externalChanges())
        #expect(try damaged.findings() == [])
        try damaged.close()
    }

    @Test("an SQLite store of a newer format is refused with its version number")
    func refusesNewerFormat() throws {
        try create()
        try Shell.run("PRAGMA user_version = 5", on: directory.file("a"))
        do {
            _ = try open()
            Issue.record("it was opened")
        } catch let error as StoreError {
            #expect(error.code == .unsupportedVersion)
            #expect(error.message.contains("format version 5") && error.message.contains("2 to 4"), "\(error)")
        }
    }
}
