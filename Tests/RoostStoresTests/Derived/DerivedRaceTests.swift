import Foundation
import Roost
import RoostCore
import Testing

@Suite("Derived attributes and lists with concurrent writers")
struct DerivedRaceTests {
    private let folder = Result { try Folder() }

    private struct Album: Codable, Sendable {
        var title: String
        var tracks: [ObjectID]?
        var tags: [ObjectID]?
    }

    /// Returns a store of albums, and a wrapper that runs `meanwhile` before its first commit.
    private func albums(
        _ type: String, meanwhile: @escaping @Sendable (Store) throws(StoreError) -> Void
    ) throws -> (plain: Store, meddled: Store) {
        let plain = try folder.get().store(
            type,
            entities: [
                EntityDescription(
                    "Album",
                    attributes: [
                        .string("title"), .derived("best", type: .integer32, from: "tracks.plays.@max"),
                        .derived("mean", type: .double, from: "tracks.plays.@avg"),
                        .derived("weight", type: .integer32, from: "tags.weight.@sum"),
                    ],
                    relationships: [
                        .toMany("tracks", to: "Track", inverse: "album"), .toMany("tags", to: "Tag", inverse: "albums"),
                    ],
                    uniquenessConstraints: [["title"]]),
                EntityDescription(
                    "Track",
                    attributes: [
                        .string("title"), .integer32("plays"),
                        .derived("albumTitle", type: .string, from: "album.title"),
                    ],
                    relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
                EntityDescription(
                    "Tag", attributes: [.string("name"), .integer32("weight")],
                    relationships: [.toMany("albums", to: "Album", inverse: "tags")],
                    uniquenessConstraints: [["name"]]),
            ])
        let meddled = try MeddledStore.store(
            plain, before: { (plain, number) throws(StoreError) in if number == 1 { try meanwhile(plain) } })
        return (plain, meddled)
    }

    private static func insertTrack(_ store: Store, plays: Value = .null) throws(StoreError) {
        guard let album = try store.fetch("Album").first else { return }
        try store.insert("Track", rows: [["plays": plays, "album": .objectID(album.id)]])
    }

    private func album(_ store: Store, _ names: String...) throws -> [Value] {
        let albums = try store.fetch("Album")
        try #require(albums.count == 1)
        return names.map { albums[0][$0] }
    }

    @Test("a track that another writer inserts during a rename gets its album's new title", arguments: Sample.types)
    func rename(type: String) throws {
        let (plain, meddled) = try albums(type) { (store) throws(StoreError) in try Self.insertTrack(store) }
        try plain.insert("Album", rows: [["title": "old"]])
        try meddled.update("Album", set: ["title": "new"])
        #expect(try plain.fetch("Track").map { $0["albumTitle"] } == ["new"])
        #expect(try plain.check().isEmpty)
    }

    @Test("a derived maximum ignores an object that another writer deleted before the commit", arguments: Sample.types)
    func maximum(type: String) throws {
        let (plain, meddled) = try albums(type) { (store) throws(StoreError) in
            try store.delete("Track", where: "plays == 9")
        }
        try plain.insert("Album", rows: [["title": "a"]])
        try Self.insertTrack(plain, plays: 9)
        try Self.insertTrack(meddled, plays: 4)
        #expect(try album(plain, "best", "mean") == [4, 4.0])
        #expect(try plain.check().isEmpty)
    }

    @Test("a derived average includes an object that another writer inserts before the commit", arguments: Sample.types)
    func average(type: String) throws {
        let (plain, meddled) = try albums(type) { (store) throws(StoreError) in
            try Self.insertTrack(store, plays: 9)
        }
        try plain.insert("Album", rows: [["title": "a"]])
        try Self.insertTrack(plain, plays: 3)
        try Self.insertTrack(meddled, plays: 3)
        #expect(try album(plain, "best", "mean") == [9, .double(5)])
        #expect(try plain.check().isEmpty)
    }

    @Test("a derived sum over new links uses the value that another writer sets", arguments: Sample.types)
    func links(type: String) throws {
        let (plain, meddled) = try albums(type) { (store) throws(StoreError) in
            try store.update("Tag", set: ["weight": 7])
        }
        let tag = try plain.ids("Tag", rows: [["name": "t", "weight": 1]])[0]
        try plain.insert("Album", rows: [["title": "a"]])
        try meddled.insert([Album(title: "a", tags: [tag])], onConflict: .update)
        #expect(try album(plain, "weight") == [7])
        #expect(try plain.check().isEmpty)
    }

    @Test("an upsert whose list names an object that another writer deletes is refused", arguments: Sample.types)
    func deletedMember(type: String) throws {
        let (plain, meddled) = try albums(type) { (store) throws(StoreError) in try store.delete("Tag") }
        let tag = try plain.ids("Tag", rows: [["name": "t", "weight": 1]])[0]
        try plain.insert("Album", rows: [["title": "a"]])
        let error = #expect(throws: StoreError.self) {
            try meddled.insert([Album(title: "a", tracks: [], tags: [tag])], onConflict: .update)
        }
        #expect(error?.code == .objectNotFound)
        #expect(error?.missingObjects == [tag])
        #expect(try album(plain, "weight") == [0])
        #expect(try plain.check().isEmpty)
    }

    @Test("an upsert with an unchanged list keeps the object that another writer adds to it", arguments: Sample.types)
    func unchangedList(type: String) throws {
        let (plain, meddled) = try albums(type) { (store) throws(StoreError) in
            try Self.insertTrack(store, plays: 9)
        }
        try plain.insert("Album", rows: [["title": "a"]])
        #expect(try meddled.insert([Album(title: "a", tracks: [])], onConflict: .update).count == 0)
        #expect(try album(plain, "best", "mean") == [9, 9.0])
        #expect(try plain.count("Track", where: "album != nil") == 1)
    }

    @Test("an upsert with a changed list removes the object that another writer adds to it", arguments: Sample.types)
    func changedList(type: String) throws {
        let (plain, meddled) = try albums(type) { (store) throws(StoreError) in
            try Self.insertTrack(store, plays: 9)
        }
        let track = try plain.ids("Track", rows: [["plays": 4]])[0]
        let id = try plain.ids("Album", rows: [["title": "a"]])[0]
        try meddled.insert([Album(title: "a", tracks: [track])], onConflict: .update)
        #expect(try plain.members("tracks", of: id) == [track])
        #expect(try album(plain, "best", "mean") == [4, 4.0])
        #expect(try plain.check().isEmpty)
    }

    @Test("an upsert inserts a new object if another writer deletes the old object meanwhile", arguments: Sample.types)
    func deletedObject(type: String) throws {
        let (plain, meddled) = try albums(type) { (store) throws(StoreError) in try store.delete("Album") }
        let old = try plain.ids("Album", rows: [["title": "a"]])[0]
        let result = try meddled.insert(
            "Album", rows: [["title": "a"], ["title": "b"]], onConflict: .update, result: .objectIDs)
        let albums = try plain.fetch("Album", sortedBy: ["title"])
        #expect(albums.map { $0["title"] } == ["a", "b"])
        #expect(result.objectIDs == albums.map(\.id))
        #expect(result.count == 2)
        #expect(try plain.record(old) == nil)
    }
}
