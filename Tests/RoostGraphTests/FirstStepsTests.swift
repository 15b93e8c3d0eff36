import Foundation
import Roost
import RoostGraph
import Testing

@Suite("Objects in contexts")
struct FirstStepsTests {
    @Test("objects are inserted, saved, fetched, changed and deleted on every backend")
    func life() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext("first")
            let joni: Artist = try context.insert()
            joni.name = "Joni"
            let blue: Album = try context.insert()
            blue.title = "Blue"
            blue.year = 1971
            blue.artist = joni
            #expect(joni.albums.contains(blue))
            #expect(Array(joni.albums) == [blue])
            let id = blue.objectID
            for name in ["Carey", "California", "River"] {
                let track: Track = try context.insert()
                track.title = name
                blue.tracks.append(track)
            }
            try context.save()
            #expect(!context.hasChanges)
            #expect(blue.objectID == id)
            #expect(joni.upperName == "JONI")
            #expect(joni.albumCount == 1)
            #expect(blue.version == 1)

            let other = container.makeContext("second")
            let found = try other.fetch(Fetch<Album>(where: "title == 'Blue'"))
            #expect(found.count == 1)
            #expect(found.first?.artist?.name == "Joni")
            #expect(found.first?.tracks.map(\.title) == ["Carey", "California", "River"])
            let copy = try #require(found.first)
            copy.tracks.move(from: 2, to: 0)
            copy.rating = 4.5
            #expect(copy.hasChanges)
            #expect(copy.changedValues()["rating"] == .double(4.5))
            try other.save()
            #expect(copy.version == 2)

            try context.refreshAllObjects()
            #expect(blue.tracks.map(\.title) == ["River", "Carey", "California"])
            #expect(blue.rating == 4.5)
            context.delete(joni)
            try context.save()
            #expect(try context.count(FetchRequest("Album")) == 0)
            #expect(try context.count(FetchRequest("Track")) == 0)
            #expect(joni.context == nil)
        }
    }

    @Test("fetches and counts include unsaved changes")
    func pending() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let names = ["a", "b", "c", "d"]
            let artists = try names.map { name in
                let artist: Artist = try context.insert()
                artist.name = name
                return artist
            }
            let album: Album = try context.insert()
            album.title = "t"
            album.artist = artists[1]
            try context.save()
            artists[0].name = "z"
            context.delete(artists[2])
            let new: Artist = try context.insert()
            new.name = "aa"
            album.artist = artists[3]
            let sorted = try context.fetch(Fetch<Artist>(where: "name != 'b'", sortedBy: ["name"]))
            #expect(sorted.map(\.name) == ["aa", "d", "z"])
            #expect(try context.fetch(Fetch<Artist>(where: "albums.@count > 0")) == [artists[3]])
            #expect(try context.fetch(Fetch<Album>(where: "artist.name == 'd'")) == [album])
            #expect(try context.count(FetchRequest("Artist")) == 4)
            let window = try context.fetch(Fetch<Artist>(sortedBy: ["name"], limit: 2, offset: 1))
            #expect(window.map(\.name) == ["b", "d"])
        }
    }

    /// Each policy with the name and the rank that it chooses.
    private static let policies: [(MergePolicy, String, Int64)] = [
        (.mergeByPropertyStoreTrump, "B", 99), (.mergeByPropertyObjectTrump, "C", 99), (.overwrite, "C", 99),
        (.rollback, "B", 10),
    ]

    @Test("a merge policy resolves the conflicting values of two contexts", arguments: policies)
    func conflicts(policy: MergePolicy, name: String, rank: Int64) throws {
        try Music.onEachBackend { container in
            let first = container.makeContext()
            let artist: Artist = try first.insert()
            (artist.name, artist.rank) = ("A", 10)
            try first.save()
            let second = container.makeContext()
            let copy = try second.existingObject(artist.id)
            copy.name = "B"
            try second.save()
            (artist.name, artist.rank) = ("C", 99)
            #expect(throws: StoreError.self) { try first.save() }
            #expect(artist.name == "C")
            first.mergePolicy = policy
            try first.save()
            #expect(artist.name == name)
            #expect(artist.rank == rank)
            #expect(!first.hasChanges)
            let third = container.makeContext()
            #expect(try third.existingObject(artist.id).name == name)
        }
    }
}
