import Roost
import RoostGraph

/// One step of a random history.
///
/// `kind` selects the change; the other numbers select objects and values.
struct Step: CustomStringConvertible {
    var kind: Int
    var a: Int
    var b: Int
    var c: Int

    /// Kinds below this number change objects.
    static let changeCount = 24

    static func random(_ kinds: [Int], using generator: inout some RandomNumberGenerator) -> Step {
        Step(
            kind: kinds.randomElement(using: &generator) ?? 0, a: Int.random(in: 0..<1000, using: &generator),
            b: Int.random(in: 0..<1000, using: &generator), c: Int.random(in: 0..<1000, using: &generator))
    }

    var description: String { "Step(kind: \(kind), a: \(a), b: \(b), c: \(c))" }

    /// Removes steps that the failure does not need, and returns the remaining steps.
    @MainActor
    static func shrink(
        _ steps: [Step], _ failure: @MainActor ([Step]) async throws -> String?
    ) async rethrows -> [Step] {
        var steps = steps
        var size = max(1, steps.count / 2)
        while size >= 1 {
            var start = 0
            var isShorter = false
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(steps.count, start + size))
                if try await failure(fewer) != nil {
                    steps = fewer
                    isShorter = true
                } else {
                    start += size
                }
            }
            if size == 1, !isShorter { break }
            size = max(1, size / 2)
        }
        return steps
    }
}

struct Problem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Step {
    private static func object<T: ManagedObject>(
        _ id: ObjectID, in context: ManagedObjectContext, as type: T.Type = T.self
    ) throws -> T {
        guard let object = context.object(with: id) as? T else { throw Problem("\(id) has another class") }
        return object
    }

    /// Changes objects of a context, and a ``PlainGraph`` in the same way.
    ///
    /// If `sharesTitles` is true, albums can share titles, and only members in `graph` are removed.
    /// If `endsEvents` is true, a deletion ends the event.
    func change(
        _ context: ManagedObjectContext, and graph: inout PlainGraph, sharesTitles: Bool = false,
        endsEvents: Bool = false
    ) throws {
        switch kind {
        case 0...3: try insert(context, and: &graph, sharesTitles: sharesTitles)
        case 4...8: try changeArtist(context, and: &graph)
        case 9, 10, 13: try changeReference(context, and: &graph)
        case 11, 12: try changeFriends(context, and: &graph, sharesTitles: sharesTitles)
        case 14...17: try changeTracks(context, and: &graph)
        case 18...20: try changePlaylist(context, and: &graph, sharesTitles: sharesTitles)
        case 21, 22: try delete(context, and: &graph, endsEvents: endsEvents)
        default: try rename(context, and: &graph, sharesTitles: sharesTitles)
        }
    }

    private func insert(_ context: ManagedObjectContext, and graph: inout PlainGraph, sharesTitles: Bool) throws {
        let entity = ["Artist", "Album", "Track", "Playlist", "Passport", "Album", "Track"][a % 7]
        let object = try context.insert(EntityName(entity))
        let isShared = sharesTitles && entity == "Album" && b % 5 == 0
        let text = isShared ? "shared \(c % 4)" : "\(entity) \(b) \(object.objectID.key)"
        object[PlainGraph.names(entity).0] = .string(text)
        graph.nodes[object.objectID] = PlainGraph.Node(entity: entity, text: text)
    }

    private func changeArtist(_ context: ManagedObjectContext, and graph: inout PlainGraph) throws {
        switch kind {
        case 4:
            guard let id = graph.pick("Artist", number: a) else { return }
            let artist: Artist = try Self.object(id, in: context)
            (artist.name, artist.rank) = ("name \(b)", c % 3 == 0 ? nil : Int64(c))
            graph.nodes[id]?.text = "name \(b)"
            graph.nodes[id]?.number = c % 3 == 0 ? nil : Int64(c)
        case 5, 6:
            guard let id = graph.pick("Album", number: a) else { return }
            let artist = b % 5 == 0 ? nil : graph.pick("Artist", number: b)
            let album: Album = try Self.object(id, in: context)
            album.artist = try artist.map { try Self.object($0, in: context) }
            graph.set(id, relationship: "artist", to: artist, inverse: "albums")
        case 7:
            guard let id = graph.pick("Artist", number: a), let album = graph.pick("Album", number: b) else { return }
            let artist: Artist = try Self.object(id, in: context)
            artist.albums.insert(try Self.object(album, in: context))
            graph.set(album, relationship: "artist", to: id, inverse: "albums")
        default:
            guard let id = graph.pick("Artist", number: a), let album = graph.pick("Album", number: b) else { return }
            let artist: Artist = try Self.object(id, in: context)
            artist.albums.remove(try Self.object(album, in: context))
            if graph.nodes[album]?.one["artist"] == id {
                graph.set(album, relationship: "artist", to: nil, inverse: "albums")
            }
        }
    }

    private func changeReference(_ context: ManagedObjectContext, and graph: inout PlainGraph) throws {
        switch kind {
        case 9:
            guard let id = graph.pick("Artist", number: a) else { return }
            let passport = b % 4 == 0 ? nil : graph.pick("Passport", number: b)
            let artist: Artist = try Self.object(id, in: context)
            artist.passport = try passport.map { try Self.object($0, in: context) }
            graph.setPassport(of: id, to: passport)
        case 10:
            guard let id = graph.pick("Passport", number: a) else { return }
            let holder = b % 4 == 0 ? nil : graph.pick("Artist", number: b)
            let passport: Passport = try Self.object(id, in: context)
            passport.holder = try holder.map { try Self.object($0, in: context) }
            if let holder {
                graph.setPassport(of: holder, to: id)
            } else if let old = graph.nodes[id]?.one["holder"] {
                graph.setPassport(of: old, to: nil)
            }
        default:
            guard let id = graph.pick("Artist", number: a) else { return }
            let favorite = b % 4 == 0 ? nil : graph.pick("Album", number: b)
            let artist: Artist = try Self.object(id, in: context)
            artist.favorite = try favorite.map { try Self.object($0, in: context) }
            graph.nodes[id]?.one["favorite"] = favorite
        }
    }

    private func changeFriends(_ context: ManagedObjectContext, and graph: inout PlainGraph, sharesTitles: Bool) throws
    {
        guard let id = graph.pick("Artist", number: a), let friend = graph.pick("Artist", number: b) else { return }
        let artist: Artist = try Self.object(id, in: context)
        if c % 3 == 0 {
            // With conflicts, another context may have added a friend that the graph does not have.
            if sharesTitles, graph.nodes[id]?.many["friends"]?.contains(friend) != true { return }
            artist.friends.remove(try Self.object(friend, in: context))
            graph.unlink(id, by: "friends", from: friend)
            graph.unlink(friend, by: "friends", from: id)
        } else {
            artist.friends.insert(try Self.object(friend, in: context))
            graph.link(id, by: "friends", to: friend)
            graph.link(friend, by: "friends", to: id)
        }
    }

    private func changeTracks(_ context: ManagedObjectContext, and graph: inout PlainGraph) throws {
        switch kind {
        case 14, 15:
            guard let id = graph.pick("Album", number: a), let track = graph.pick("Track", number: b) else { return }
            let album: Album = try Self.object(id, in: context)
            album.tracks.append(try Self.object(track, in: context))
            graph.set(track, relationship: "album", to: id, inverse: "tracks")
        case 16:
            guard let id = graph.pick("Album", number: a), let count = graph.nodes[id]?.many["tracks"]?.count, count > 0
            else {
                return
            }
            let album: Album = try Self.object(id, in: context)
            album.tracks.move(from: b % count, to: c % count)
            var list = graph.nodes[id]?.many["tracks"] ?? []
            let moved = list.remove(at: b % count)
            list.insert(moved, at: c % count)
            graph.nodes[id]?.many["tracks"] = list
        default:
            guard let id = graph.pick("Track", number: a) else { return }
            let track: Track = try Self.object(id, in: context)
            let album = b % 4 == 0 ? nil : graph.pick("Album", number: b)
            track.album = try album.map { try Self.object($0, in: context) }
            graph.set(id, relationship: "album", to: album, inverse: "tracks")
        }
    }

    private func changePlaylist(_ context: ManagedObjectContext, and graph: inout PlainGraph, sharesTitles: Bool) throws
    {
        switch kind {
        case 18, 19:
            guard let id = graph.pick("Playlist", number: a), let track = graph.pick("Track", number: b) else { return }
            let playlist: Playlist = try Self.object(id, in: context)
            let count = graph.nodes[id]?.many["tracks"]?.count ?? 0
            if graph.nodes[id]?.many["tracks"]?.contains(track) ?? false { return }
            playlist.tracks.insert(try Self.object(track, in: context), at: c % (count + 1))
            graph.link(id, by: "tracks", to: track, at: c % (count + 1))
            graph.link(track, by: "playlists", to: id)
        default:
            guard let id = graph.pick("Track", number: a), let playlist = graph.pick("Playlist", number: b) else {
                return
            }
            let track: Track = try Self.object(id, in: context)
            if c % 2 == 0 {
                track.playlists.insert(try Self.object(playlist, in: context))
                graph.link(playlist, by: "tracks", to: id)
                graph.link(id, by: "playlists", to: playlist)
            } else {
                if sharesTitles, graph.nodes[id]?.many["playlists"]?.contains(playlist) != true { return }
                track.playlists.remove(try Self.object(playlist, in: context))
                graph.unlink(playlist, by: "tracks", from: id)
                graph.unlink(id, by: "playlists", from: playlist)
            }
        }
    }

    private func delete(_ context: ManagedObjectContext, and graph: inout PlainGraph, endsEvents: Bool) throws {
        switch kind {
        case 21:
            let entity = ["Artist", "Album", "Track", "Passport", "Track", "Album"][b % 6]
            guard let id = graph.pick(entity, number: a) else { return }
            context.delete(try Self.object(id, in: context))
            if endsEvents || c % 2 == 0 { context.processPendingChanges() }
            graph.delete(id)
        default:
            guard let id = graph.pick("Playlist", number: a), graph.nodes[id]?.many["tracks"]?.isEmpty ?? true else {
                return
            }
            context.delete(try Self.object(id, in: context))
            graph.delete(id)
            if endsEvents { context.processPendingChanges() }
        }
    }

    private func rename(_ context: ManagedObjectContext, and graph: inout PlainGraph, sharesTitles: Bool) throws {
        let entity = ["Album", "Track", "Passport"][b % 3]
        guard let id = graph.pick(entity, number: a) else { return }
        let isShared = sharesTitles && entity == "Album" && c % 4 == 0
        let text = isShared ? "shared \(a % 4)" : "other \(c) \(id.key)"
        let object: ManagedObject = try Self.object(id, in: context)
        object[PlainGraph.names(entity).0] = .string(text)
        graph.nodes[id]?.text = text
    }
}
