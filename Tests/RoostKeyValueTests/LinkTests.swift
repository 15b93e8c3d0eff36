import Foundation
import RoostCore
import RoostKeyValue
import RoostMemory
import Testing

@Suite("Links and references of the key-value engine")
struct LinkTests {
    @Test("a many-to-many relationship is read from both ends")
    func readsBothEnds() throws {
        let test = try TestStore()
        try test.fill()
        let snapshot = try test.snapshot()
        #expect(try snapshot.targets(of: "Album", by: "genres", from: test.album(1)) == [1, 2])
        #expect(try snapshot.targets(of: "Genre", by: "albums", from: test.genre(1)) == [1, 2])
        #expect(try snapshot.targets(of: "Genre", by: "albums", from: test.genre(2)) == [1])
        #expect(
            try snapshot.all(try snapshot.links(of: RelationshipName("Genre", name: "albums"), after: nil))
                == [Link(1, 1), Link(1, 2), Link(2, 1)])
        #expect(
            try snapshot.all(try snapshot.links(of: RelationshipName("Genre", name: "albums"), after: Link(1, 1)))
                == [Link(1, 2), Link(2, 1)])
    }

    @Test("places sort the links of each end, and adding a link again moves it")
    func sortsByPlace() throws {
        let test = try TestStore()
        try test.fill()
        let chart = RelationshipName("Genre", name: "chart")
        #expect(try test.snapshot().targets(of: "Genre", by: "chart", from: test.genre(1)) == [3, 1])
        try test.commit { try $0.add(Link(1, 1, order: -7, inverseOrder: 40), to: chart) }
        let snapshot = try test.snapshot()
        #expect(
            try snapshot.all(try snapshot.links(of: chart, from: test.genre(1)))
                == [Link(1, 1, order: -7, inverseOrder: 40), Link(1, 3, order: 10, inverseOrder: 20)])
        #expect(
            try snapshot.all(try snapshot.links(of: RelationshipName("Album", name: "charts"), from: test.album(3)))
                == [Link(3, 1, order: 20, inverseOrder: 10)])
        try test.commit { try $0.remove(Link(1, 1), from: chart) }
        #expect(try test.snapshot().targets(of: "Genre", by: "chart", from: test.genre(1)) == [3])
        #expect(try test.findings() == [])
        _ = try test.digest()
    }

    @Test("links of a relationship that is its own inverse are stored once")
    func storesReflexiveLinksOnce() throws {
        let test = try TestStore()
        try test.fill()
        let friends = RelationshipName("Artist", name: "friends")
        try test.commit { changes in
            try changes.add(Link(2, 2), to: friends)
            try changes.add(Link(3, 2), to: friends)
        }
        let snapshot = try test.snapshot()
        #expect(try snapshot.targets(of: "Artist", by: "friends", from: test.artist(1)) == [2])
        #expect(try snapshot.targets(of: "Artist", by: "friends", from: test.artist(2)) == [1, 2, 3])
        #expect(try snapshot.targets(of: "Band", by: "friends", from: ObjectID("Band", key: 3)) == [2])
        #expect(try snapshot.all(try snapshot.links(of: friends, after: nil)) == [Link(1, 2), Link(2, 2), Link(2, 3)])
        try test.commit { try $0.remove(Link(3, 2), from: friends) }
        #expect(try test.snapshot().targets(of: "Artist", by: "friends", from: test.artist(2)) == [1, 2])
        #expect(try test.findings() == [])
    }

    @Test("an ordered relationship that is its own inverse keeps a place for each end")
    func keepsPlaceForEachEnd() throws {
        let test = try TestStore()
        try test.fill()
        let partners = RelationshipName("Artist", name: "partners")
        #expect(try test.snapshot().targets(of: "Artist", by: "partners", from: test.artist(1)) == [2, 3])
        try test.commit { try $0.add(Link(3, 2, order: 1, inverseOrder: 0), to: partners) }
        let snapshot = try test.snapshot()
        // Band 3 has artist 2 at place 1 and artist 1 at place 2. Artist 2 has band 3 at place 0
        // and artist 1 at place 1.
        #expect(try snapshot.targets(of: "Artist", by: "partners", from: ObjectID("Band", key: 3)) == [2, 1])
        #expect(try snapshot.targets(of: "Artist", by: "partners", from: test.artist(2)) == [3, 1])
        #expect(
            try snapshot.all(try snapshot.links(of: partners, from: ObjectID("Band", key: 3))).first
                == Link(3, 2, order: 1, inverseOrder: 0))
    }

    @Test("a to-many relationship with a to-one inverse follows the references and their places")
    func followsReferences() throws {
        let test = try TestStore()
        try test.fill()
        let albums = RelationshipName("Artist", name: "albums")
        let snapshot = try test.snapshot()
        #expect(
            try snapshot.all(try snapshot.links(of: albums, from: test.artist(1)))
                == [Link(1, 2, order: 1), Link(1, 3, order: 2), Link(1, 1, order: 3)])
        #expect(try snapshot.targets(of: "Artist", by: "albums", from: test.artist(2)) == [])
        try test.commit { changes in
            try changes.update(test.album(3), version: 1, values: ["artist": .objectID(test.artist(2))])
            changes.delete(test.album(2), version: 1)
        }
        #expect(try test.snapshot().targets(of: "Artist", by: "albums", from: test.artist(1)) == [1])
        #expect(try test.snapshot().targets(of: "Artist", by: "albums", from: test.artist(2)) == [3])
        #expect(try snapshot.targets(of: "Artist", by: "albums", from: test.artist(1)) == [2, 3, 1])
        #expect(code { _ = try snapshot.links(of: albums, after: nil) } == .invalidRequest)
        #expect(
            code { _ = try snapshot.links(of: RelationshipName("Album", name: "artist"), from: test.album(1)) }
                == .invalidRequest)
        #expect(
            code { _ = try snapshot.links(of: RelationshipName("Album", name: "nothing"), from: test.album(1)) }
                == .unknownProperty)
        #expect(try test.findings() == [])
    }

    @Test("deleting an object removes its links and keeps references to it")
    func removesLinksOfDeletedObject() throws {
        let test = try TestStore()
        try test.fill()
        try test.commit { changes in
            changes.delete(test.genre(1), version: 1)
            changes.delete(test.artist(1), version: 1)
        }
        let snapshot = try test.snapshot()
        #expect(try snapshot.targets(of: "Album", by: "genres", from: test.album(1)) == [2])
        #expect(try snapshot.targets(of: "Album", by: "genres", from: test.album(2)) == [])
        #expect(try snapshot.targets(of: "Artist", by: "friends", from: test.artist(2)) == [])
        #expect(try snapshot.targets(of: "Artist", by: "albums", from: test.artist(1)) == [])
        #expect(try snapshot.record(test.album(1))?.value("artist") == .objectID(test.artist(1)))
        #expect(try test.digest().linkCount == 1)
        #expect(try test.findings() == [])
    }

    @Test("a link to an object that does not exist after the commit is refused")
    func refusesMissingEnd() throws {
        let test = try TestStore()
        try test.fill()
        let genres = RelationshipName("Album", name: "genres")
        #expect(code { try test.commit { try $0.add(Link(1, 99), to: genres) } } == .objectNotFound)
        #expect(code { try test.commit { try $0.add(Link(99, 1), to: genres) } } == .objectNotFound)
        #expect(
            code {
                try test.commit {
                    try $0.add(Link(1, 2), to: genres)
                    $0.delete(test.genre(2), version: 1)
                }
            } == .objectNotFound)
        try test.commit {
            try $0.insert(test.genre(99), values: [:])
            try $0.add(Link(1, 99), to: genres)
        }
        #expect(try test.snapshot().targets(of: "Album", by: "genres", from: test.album(1)) == [1, 2, 99])
    }
}
