internal import Foundation
internal import Roost

/// Roost's contexts on one type of store.
struct RoostLayer: ObjectLayer {
    let name: String
    let container: PersistentContainer
    /// The store of the container, which times commits.
    let store: MeasuredStore

    init(_ type: String, in directory: URL) throws {
        name = "Roost, \(type)"
        let location = StoreLocation(type: type, path: directory.appendingPathComponent("albums-\(type)").path)
        let registry = StoreRegistry.standard
        store = MeasuredStore(try registry.create(location, model: AlbumsModel.model))
        container = try PersistentContainer(try Store(store, registry: registry), types: AlbumsModel.types)
    }

    func insert(_ count: Int) throws {
        let context = container.makeContext()
        var artist: Artist?
        for number in 0..<count {
            if number % 20 == 0 {
                artist = try context.insert(Artist.self)
                artist?.name = "Artist \(number / 20)"
            }
            let album = try context.insert(Album.self)
            album.title = "A title of \(number % 97)"
            album.year = Int16(1950 + number % 70)
            album.rating = Double(number % 11) / 2
            album.artist = artist
        }
        try context.save()
    }

    func readAll() throws -> Int {
        let context = container.makeContext()
        var sum = 0
        try context.forEach(Fetch<Album>()) { album in
            sum += Int(album.year) + (album.title?.utf8.count ?? 0)
        }
        return sum
    }

    func readReferences() throws -> Int {
        let context = container.makeContext()
        var sum = 0
        for album in try context.fetch(Fetch<Album>()) { sum += album.artist?.name?.utf8.count ?? 0 }
        return sum
    }

    func updateAll() throws {
        let context = container.makeContext()
        for album in try context.fetch(Fetch<Album>()) { album.plays += 1 }
        try context.save()
    }

    func count(year: Int) throws -> Int {
        try container.makeContext().count(Fetch<Album>(where: "year == \(year)"))
    }
}
