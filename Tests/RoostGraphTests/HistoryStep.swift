import Roost
import RoostGraph

/// One step of a random history.
///
/// Its numbers select objects and values.
struct Step: CustomStringConvertible {
    var kind: Int
    var a: Int
    var b: Int
    var c: Int

    /// Kinds below this one change objects.
    static let changeCount = 24

    static func random(_ kinds: [Int], using generator: inout some RandomNumberGenerator) -> Step {
        Step(
            kind: kinds.randomElement(using: &generator) ?? 0, a: Int.random(in: 0..<1000, using: &generator),
            b: Int.random(in: 0..<1000, using: &generator), c: Int.random(in: 0..<1000, using: &generator))
    }

    var description: String { "Step(kind: \(kind), a: \(a), b: \(b), c: \(c))" }

    /// Leaves out steps as long as the history fails.
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

/// A result that differs from the expected one.
struct Problem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Step {
    private static func object<T: ManagedObject>(
        _ id: ObjectID, _ context: ManagedObjectContext, _ type: T.Type = T.self
    ) throws -> T {
        guard let object = context.object(with: id) as? T else { throw Problem("\(id) has another class") }
        return object
    }

    /// Changes objects of a context, and the naive graph in the same way.
    ///
    /// - Parameters:
    ///   - context: The context.
    ///   - graph: The content that the context shows.
    ///   - sharesTitles: Whether some albums get titles that other albums have.
    ///   - endsEvents: Whether a deletion ends the event.
    /// - Throws: Errors of reads and inserts.
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

    /// Changes the values or the albums of an artist.
    private func changeArtist(_ context: ManagedObjectContext, and graph: inout PlainGraph) throws {
        switch kind {
        case 4:
            guard let id = graph.pick("Artist", a) else { return }
            let artist: Artist = try Self.object(id, context)
            (artist.name, artist.rank) = ("name \(b)", c % 3 == 0 ? nil : Int64(c))
            graph.nodes[id]?.text = "name \(b)"
            graph.nodes[id]?.number = c % 3 == 0 ? nil : Int64(c)
        case 5, 6:
            guard let id = graph.pick("Album", a) else { return }
            let artist = b % 5 == 0 ? nil : graph.pick("Artist", b)
            let album: Album = try Self.object(id, context)
            album.artist = try artist.map { try Self.object($0, context) }
            graph.set(id, "artist", artist, inverse: "albums")
        case 7:
            guard let id = graph.pick("Artist", a), let album = graph.pick("Album", b) else { return }
            let artist: Artist = try Self.object(id, context)
            artist.albums.insert(try Self.object(album, context))
            graph.set(album, "artist", id, inverse: "albums")
        default:
            guard let id = graph.pick("Artist", a), let album = graph.pick("Album", b) else { return }
            let artist: Artist = try Self.object(id, context)
            artist.albums.remove(try Self.object(album, context))
            if graph.nodes[album]?.one["artist"] == id { graph.set(album, "artist", nil, inverse: "albums") }
        }
    }

    /// Changes a passport, a holder or a favorite.
    private func changeReference(_ context: ManagedObjectContext, and graph: inout PlainGraph) throws {
        switch kind {
        case 9:
            guard let id = graph.pick("Artist", a) else { return }
            let passport = b % 4 == 0 ? nil : graph.pick("Passport", b)
            let artist: Artist = try Self.object(id, context)
            artist.passport = try passport.map { try Self.object($0, context) }
            graph.setPassport(id, passport)
        case 10:
            guard let id = graph.pick("Passport", a) else { return }
            let holder = b % 4 == 0 ? nil : graph.pick("Artist", b)
            let passport: Passport = try Self.object(id, context)
            passport.holder = try holder.map { try Self.object($0, context) }
            if let holder {
                graph.setPassport(holder, id)
            } else if let old = graph.nodes[id]?.one["holder"] {
                graph.setPassport(old, nil)
            }
        default:
            guard let id = graph.pick("Artist", a) else { return }
            let favorite = b % 4 == 0 ? nil : graph.pick("Album", b)
            let artist: Artist = try Self.object(id, context)
            artist.favorite = try favorite.map { try Self.object($0, context) }
            graph.nodes[id]?.one["favorite"] = favorite
        }
    }

    /// Adds or removes a friend of an artist.
    private func changeFriends(_ context: ManagedObjectContext, and graph: inout PlainGraph, sharesTitles: Bool) throws
    {
        guard let id = graph.pick("Artist", a), let friend = graph.pick("Artist", b) else { return }
        let artist: Artist = try Self.object(id, context)
        if c % 3 == 0 {
            // With conflicts, another context can add the object, which is removed here without
            // being a member.
            if sharesTitles, graph.nodes[id]?.many["friends"]?.contains(friend) != true { return }
            artist.friends.remove(try Self.object(friend, context))
            graph.unlink(id, "friends", friend)
            graph.unlink(friend, "friends", id)
        } else {
            artist.friends.insert(try Self.object(friend, context))
            graph.link(id, "friends", friend)
            graph.link(friend, "friends", id)
        }
    }

    /// Changes the tracks of an album, or their order.
    private func changeTracks(_ context: ManagedObjectContext, and graph: inout PlainGraph) throws {
        switch kind {
        case 14, 15:
            guard let id = graph.pick("Album", a), let track = graph.pick("Track", b) else { return }
            let album: Album = try Self.object(id, context)
            album.tracks.append(try Self.object(track, context))
            graph.set(track, "album", id, inverse: "tracks")
        case 16:
            guard let id = graph.pick("Album", a), let count = graph.nodes[id]?.many["tracks"]?.count, count > 0 else {
                return
            }
            let album: Album = try Self.object(id, context)
            album.tracks.move(from: b % count, to: c % count)
            var list = graph.nodes[id]?.many["tracks"] ?? []
            let moved = list.remove(at: b % count)
            list.insert(moved, at: c % count)
            graph.nodes[id]?.many["tracks"] = list
        default:
            guard let id = graph.pick("Track", a) else { return }
            let track: Track = try Self.object(id, context)
            let album = b % 4 == 0 ? nil : graph.pick("Album", b)
            track.album = try album.map { try Self.object($0, context) }
            graph.set(id, "album", album, inverse: "tracks")
        }
    }

    /// Changes the tracks of a playlist.
    private func changePlaylist(_ context: ManagedObjectContext, and graph: inout PlainGraph, sharesTitles: Bool) throws
    {
        switch kind {
        case 18, 19:
            guard let id = graph.pick("Playlist", a), let track = graph.pick("Track", b) else { return }
            let playlist: Playlist = try Self.object(id, context)
            let count = graph.nodes[id]?.many["tracks"]?.count ?? 0
            if graph.nodes[id]?.many["tracks"]?.contains(track) ?? false { return }
            playlist.tracks.insert(try Self.object(track, context), at: c % (count + 1))
            graph.link(id, "tracks", track, at: c % (count + 1))
            graph.link(track, "playlists", id)
        default:
            guard let id = graph.pick("Track", a), let playlist = graph.pick("Playlist", b) else { return }
            let track: Track = try Self.object(id, context)
            if c % 2 == 0 {
                track.playlists.insert(try Self.object(playlist, context))
                graph.link(playlist, "tracks", id)
                graph.link(id, "playlists", playlist)
            } else {
                if sharesTitles, graph.nodes[id]?.many["playlists"]?.contains(playlist) != true { return }
                track.playlists.remove(try Self.object(playlist, context))
                graph.unlink(playlist, "tracks", id)
                graph.unlink(id, "playlists", playlist)
            }
        }
    }

    private func delete(_ context: ManagedObjectContext, and graph: inout PlainGraph, endsEvents: Bool) throws {
        switch kind {
        case 21:
            let entity = ["Artist", "Album", "Track", "Passport", "Track", "Album"][b % 6]
            guard let id = graph.pick(entity, a) else { return }
            context.delete(try Self.object(id, context))
            if endsEvents || c % 2 == 0 { context.processPendingChanges() }
            graph.delete(id)
        default:
            guard let id = graph.pick("Playlist", a), graph.nodes[id]?.many["tracks"]?.isEmpty ?? true else { return }
            context.delete(try Self.object(id, context))
            graph.delete(id)
            if endsEvents { context.processPendingChanges() }
        }
    }

    /// Gives an object another title or number.
    private func rename(_ context: ManagedObjectContext, and graph: inout PlainGraph, sharesTitles: Bool) throws {
        let entity = ["Album", "Track", "Passport"][b % 3]
        guard let id = graph.pick(entity, a) else { return }
        let isShared = sharesTitles && entity == "Album" && c % 4 == 0
        let text = isShared ? "shared \(a % 4)" : "other \(c) \(id.key)"
        let object: ManagedObject = try Self.object(id, context)
        object[PlainGraph.names(entity).0] = .string(text)
        graph.nodes[id]?.text = text
    }
}
