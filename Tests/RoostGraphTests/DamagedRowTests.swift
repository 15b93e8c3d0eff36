import Foundation
import Roost
import RoostGraph
import Testing

/// Contexts on a store whose file has a flipped bit.
@Suite("Damaged rows")
struct DamagedRowTests {
    /// The ways in which a context gets a row.
    enum Way: CaseIterable, Sendable {
        case fetch, ID, reference, company, load, besideChanges, refresh, merge, setByName
    }

    private static let text = "A title that is in the file once"

    /// Creates a store with an album whose title has a flipped bit, and a track of the album.
    private func damaged(_ type: String, in folder: URL) throws -> (PersistentContainer, ObjectID, ObjectID) {
        let location = StoreLocation(type: type, path: folder.appending(path: "music.\(type)").path)
        let container = try PersistentContainer(location, model: try Music.model(), types: Music.types)
        let (album, track) = try container.performAndWait { context in
            let (album, track): (Album, Track) = (try context.insert(), try context.insert())
            (album.title, track.title) = (Self.text, "River")
            track.album = album
            try context.save()
            return (album.objectID, track.objectID)
        }
        try container.close()
        let file = URL(fileURLWithPath: location.path)
        var bytes = try Data(contentsOf: file)
        var count = 0
        while let range = bytes.range(of: Data(Self.text.utf8)) {
            bytes[range.lowerBound] ^= 0x20
            count += 1
        }
        try #require(count > 0)
        try bytes.write(to: file)
        return (try PersistentContainer(location, model: try Music.model(), types: Music.types), album, track)
    }

    @Test(
        "reading a damaged row in any way throws, and no save overwrites the row", arguments: ["sqlite", "lmdb"],
        Way.allCases)
    func reading(_ type: String, by way: Way) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "damaged-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (container, albumID, trackID) = try damaged(type, in: folder)
        let context = container.makeContext()
        let album = try #require(context.object(with: albumID) as? Album)
        let error = #expect(throws: StoreError.self) {
            switch way {
            case .fetch: _ = try context.fetch(Fetch<Album>())
            case .ID: _ = try context.existingObject(with: albumID)
            case .reference:
                _ = try #require(context.object(with: trackID) as? Track).album?.title
                try context.save()
            case .company:
                for track in try context.fetch(Fetch<Track>()) { track.album?.year = 1971 }
                try context.save()
            case .load: try context.load([album])
            case .besideChanges:
                let other: Album = try context.insert()
                other.title = "z"
                _ = try context.fetch(Fetch<Album>(sortedBy: ["title"]))
            case .refresh:
                album.year = 1971
                try context.save()
            case .merge:
                _ = album.isFault
                album.rating = 4
                try context.mergeChanges(updated: [albumID])
                try context.save()
            case .setByName: try album.setValue(.int(1971), for: "year")
            }
        }
        #expect(error?.code == .corrupted, "\(error as Any)")
        // The album is still a fault, so a save does not write its row.
        #expect(album.isFault)
        album.year = 1999
        #expect(throws: StoreError.self) { try context.save() }
        try? context.save()
        try container.close()
        #expect(throws: StoreError.self) {
            let again = try PersistentContainer(container.stores[0].location, model: try Music.model())
            defer { try? again.close() }
            _ = try again.makeContext().existingObject(with: albumID)
        }
    }
}
