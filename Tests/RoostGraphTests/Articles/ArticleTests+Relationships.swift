import Foundation
import Roost
import RoostGraph
import Testing

/// The code of `docs/relationships-and-delete-rules.md`.
extension ArticleTests {
    @Test("relationships keep both sides consistent, keep their order, and can be prefetched")
    func relationships() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let artist: Artist = try context.insert()
            artist.name = "Joni Mitchell"
            let (blue, hejira): (Album, Album) = (try context.insert(), try context.insert())
            (blue.title, hejira.title) = ("Blue", "Hejira")
            artist.albums = [blue, hejira]
            artist.albums.remove(hejira)
            #expect(hejira.artist == nil && blue.artist === artist)

            for title in ["Carey", "Blue", "River"] {
                let track: Track = try context.insert()
                track.title = title
                blue.tracks.append(track)
            }
            blue.tracks.move(from: 0, to: 2)
            #expect(blue.tracks.map(\.title) == ["Blue", "River", "Carey"])
            try context.save()

            let other = container.makeContext()
            var request = Fetch<Album>(sortedBy: ["title"])
            request.prefetching = ["artist", "tracks"]
            let albums = try other.fetch(request)
            #expect(albums.first?.hasFault(for: "tracks") == false)
        }
    }

    @Test("deleting the destination of a mandatory relationship fails the save")
    func mandatory() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Team", relationships: [.toMany("players", to: "Player", inverse: "team")]),
            EntityDescription(
                "Player", relationships: [.toOne("team", to: "Team", inverse: "players", isOptional: false)]),
        ])
        let container = try PersistentContainer(.memory, model: model)
        let context = container.makeContext()
        let (team, player) = (try context.insert("Team"), try context.insert("Player"))
        try player.setObject(team, for: "team")
        try context.save()
        context.delete(team)
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.failures.map(\.code) == [1570])
    }
}
