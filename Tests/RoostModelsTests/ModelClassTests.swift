#if Macros
    import Foundation
    import RoostModels
    import Testing

    @Suite("Classes with @Model")
    struct ModelClassTests {
        static let types: [any ManagedObjectClass.Type] = [Album.self, Artist.self, Band.self, Track.self]

        @Test("are saved and read")
        func life() throws {
            let model = try ManagedObjectModel(types: Self.types)
            let container = try PersistentContainer(.memory, model: model, types: Self.types)
            let context = container.makeContext()
            let band: Band = try context.insert()
            band.name = "Weather Report"
            band.size = 5
            band.home = ["New York"]
            let album: Album = try context.insert()
            #expect(album.year == 1970 && album.kind == .studio)
            album.title = "Heavy Weather"
            album.kind = .live
            album.cover = Cover(colors: ["blue"])
            album.plays = 7
            album.artist = band
            let track: Track = try context.insert()
            track.album = album
            try context.save()
            let other = container.makeContext()
            let found = try #require(
                try other.fetch(Fetch<Album>(#Predicate { $0.plays == 7 && $0.title == "Heavy Weather" })).first)
            #expect(found.kind == .live && found.cover == Cover(colors: ["blue"]))
            #expect(found.artist?.name == "Weather Report")
            #expect((found.artist as? Band)?.size == 5)
            #expect(found.artist?.albumCount == 1)
            #expect(found.tracks.count == 1)
            #expect(Band.propertyName(of: \Band.name) == "name")
            #expect(Band.propertyName(of: \Band.size) == "size")
            #expect(Artist.propertyName(of: \Artist.name) == "name")
        }
    }
#endif
