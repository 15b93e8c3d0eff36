import Roost
import RoostGraph

/// A naive graph of dictionaries: what contexts must agree with.
struct PlainGraph: Equatable {
    struct Node: Equatable {
        var entity: String
        var text: String?
        var number: Int64?
        var one: [String: ObjectID] = [:]
        var many: [String: [ObjectID]] = [:]
    }

    var nodes: [ObjectID: Node] = [:]

    static let ordered: Set<String> = ["Album.tracks", "Playlist.tracks"]

    func ids(_ entity: String) -> [ObjectID] {
        nodes.filter { $0.value.entity == entity }.keys.sorted { $0.key < $1.key }
    }

    mutating func link(_ a: ObjectID, _ name: String, _ b: ObjectID, at position: Int? = nil) {
        var list = nodes[a]?.many[name] ?? []
        guard !list.contains(b) else { return }
        list.insert(b, at: min(position ?? list.count, list.count))
        nodes[a]?.many[name] = list
    }

    mutating func unlink(_ a: ObjectID, _ name: String, _ b: ObjectID) { nodes[a]?.many[name]?.removeAll { $0 == b } }

    /// Sets a to-one relationship whose inverse is to-many.
    mutating func set(_ a: ObjectID, _ name: String, _ b: ObjectID?, inverse: String) {
        let old = nodes[a]?.one[name]
        guard old != b else { return }
        if let old { unlink(old, inverse, a) }
        nodes[a]?.one[name] = b
        if let b { link(b, inverse, a) }
    }

    mutating func setPassport(_ artist: ObjectID, _ passport: ObjectID?) {
        if let old = nodes[artist]?.one["passport"] { nodes[old]?.one["holder"] = nil }
        nodes[artist]?.one["passport"] = passport
        guard let passport else { return }
        if let holder = nodes[passport]?.one["holder"], holder != artist { nodes[holder]?.one["passport"] = nil }
        nodes[passport]?.one["holder"] = artist
    }

    mutating func delete(_ id: ObjectID) {
        guard let node = nodes.removeValue(forKey: id) else { return }
        switch node.entity {
        case "Artist": for album in node.many["albums"] ?? [] { delete(album) }
        case "Album": for track in node.many["tracks"] ?? [] { delete(track) }
        default: break
        }
        nodes = nodes.mapValues { node in
            var node = node
            node.one = node.one.filter { $0.value != id }
            node.many = node.many.mapValues { $0.filter { $0 != id } }
            return node
        }
    }

    /// Returns what differs from what a context shows.
    func differences(from context: ManagedObjectContext) throws -> [String] {
        var problems: [String] = []
        for entity in ["Artist", "Album", "Track", "Playlist", "Passport"] {
            let found = Set(try context.fetch(FetchRequest(EntityName(entity))).map(\.objectID))
            let wanted = Set(ids(entity))
            if found != wanted {
                problems.append(
                    "\(entity): missing \(wanted.subtracting(found)), superfluous \(found.subtracting(wanted))")
            }
        }
        for (id, node) in nodes.sorted(by: { $0.key.key < $1.key.key }) {
            let object = context.object(with: id)
            let (text, number) = Self.names(node.entity)
            if try object.value(text) != (node.text.map { .string($0) } ?? .null) { problems.append("\(id).\(text)") }
            if let number, try object.value(number) != (node.number.map { .int($0) } ?? .null) {
                problems.append("\(id).\(number) \(try object.value(number))")
            }
            for name in Self.toOne(node.entity) where try object.object(name)?.objectID != node.one[name] {
                problems.append(
                    "\(id).\(name) is \(String(describing: try object.object(name)?.objectID)), not \(String(describing: node.one[name]))"
                )
            }
            for name in Self.toMany(node.entity) {
                let wanted = node.many[name] ?? []
                if Self.ordered.contains("\(node.entity).\(name)") {
                    let found = try object.orderedObjects(name).map(\.objectID)
                    if found != wanted { problems.append("\(id).\(name) is \(found), not \(wanted)") }
                } else {
                    let found = Set(try object.objects(name).map(\.objectID))
                    if found != Set(wanted) { problems.append("\(id).\(name) is \(found), not \(wanted)") }
                }
            }
        }
        if let error = context.pendingError { problems.append("latched: \(error)") }
        return problems
    }

    static func names(_ entity: String) -> (String, String?) {
        switch entity {
        case "Artist": ("name", "rank")
        case "Album": ("title", nil)
        case "Track": ("title", nil)
        case "Playlist": ("name", nil)
        default: ("number", nil)
        }
    }

    static func toOne(_ entity: String) -> [String] {
        switch entity {
        case "Artist": ["passport", "favorite"]
        case "Album": ["artist"]
        case "Track": ["album"]
        case "Passport": ["holder"]
        default: []
        }
    }

    static func toMany(_ entity: String) -> [String] {
        switch entity {
        case "Artist": ["albums", "friends"]
        case "Album": ["tracks"]
        case "Track": ["playlists"]
        case "Playlist": ["tracks"]
        default: []
        }
    }
}

/// One step of a random history.
///
/// Numbers choose among the objects that there are.
struct Step: CustomStringConvertible {
    var kind: Int
    var a: Int
    var b: Int
    var c: Int

    static let kindCount = 28

    static func random(using generator: inout some RandomNumberGenerator) -> Step {
        Step(
            kind: Int.random(in: 0..<kindCount, using: &generator), a: Int.random(in: 0..<1000, using: &generator),
            b: Int.random(in: 0..<1000, using: &generator), c: Int.random(in: 0..<1000, using: &generator))
    }

    var description: String { "Step(kind: \(kind), a: \(a), b: \(b), c: \(c))" }
}

/// Runs steps on contexts and on the naive graph.
struct History {
    let container: PersistentContainer
    var contexts: [ManagedObjectContext]
    var active = 0
    /// The content of the store, and the content that the active context shows.
    var saved = PlainGraph()
    var current = PlainGraph()

    init(_ container: PersistentContainer, contexts count: Int) {
        self.container = container
        contexts = (0..<count).map { number in
            let context = container.makeContext("context \(number)")
            context.mergesChangesAutomatically = true
            return context
        }
    }

    private func pick(_ entity: String, _ number: Int) -> ObjectID? {
        let ids = current.ids(entity)
        return ids.isEmpty ? nil : ids[number % ids.count]
    }

    private func object<T: ManagedObject>(_ id: ObjectID, _ type: T.Type = T.self) throws -> T {
        guard let object = contexts[active].object(with: id) as? T else { throw Problem("\(id) has another class") }
        return object
    }

    struct Problem: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    mutating func run(_ step: Step) throws {
        let context = contexts[active]
        let (a, b, c) = (step.a, step.b, step.c)
        switch step.kind {
        case 0...3:
            let entity = ["Artist", "Album", "Track", "Playlist", "Passport", "Album", "Track"][a % 7]
            let object = try context.insert(EntityName(entity))
            let text = "\(entity) \(b) \(object.objectID.key)"
            object[PlainGraph.names(entity).0] = .string(text)
            current.nodes[object.objectID] = PlainGraph.Node(entity: entity, text: text)
        case 4:
            guard let id = pick("Artist", a) else { return }
            let artist: Artist = try object(id)
            (artist.name, artist.rank) = ("name \(b)", c % 3 == 0 ? nil : Int64(c))
            current.nodes[id]?.text = "name \(b)"
            current.nodes[id]?.number = c % 3 == 0 ? nil : Int64(c)
        case 5, 6:
            guard let id = pick("Album", a) else { return }
            let artist = b % 5 == 0 ? nil : pick("Artist", b)
            let album: Album = try object(id)
            album.artist = try artist.map { try object($0) }
            current.set(id, "artist", artist, inverse: "albums")
        case 7:
            guard let id = pick("Artist", a), let album = pick("Album", b) else { return }
            let artist: Artist = try object(id)
            artist.albums.insert(try object(album))
            current.set(album, "artist", id, inverse: "albums")
        case 8:
            guard let id = pick("Artist", a), let album = pick("Album", b) else { return }
            let artist: Artist = try object(id)
            artist.albums.remove(try object(album))
            if current.nodes[album]?.one["artist"] == id { current.set(album, "artist", nil, inverse: "albums") }
        case 9:
            guard let id = pick("Artist", a) else { return }
            let passport = b % 4 == 0 ? nil : pick("Passport", b)
            let artist: Artist = try object(id)
            artist.passport = try passport.map { try object($0) }
            current.setPassport(id, passport)
        case 10:
            guard let id = pick("Passport", a) else { return }
            let holder = b % 4 == 0 ? nil : pick("Artist", b)
            let passport: Passport = try object(id)
            passport.holder = try holder.map { try object($0) }
            if let holder {
                current.setPassport(holder, id)
            } else if let old = current.nodes[id]?.one["holder"] {
                current.setPassport(old, nil)
            }
        case 11, 12:
            guard let id = pick("Artist", a), let friend = pick("Artist", b) else { return }
            let artist: Artist = try object(id)
            if c % 3 == 0 {
                artist.friends.remove(try object(friend))
                current.unlink(id, "friends", friend)
                current.unlink(friend, "friends", id)
            } else {
                artist.friends.insert(try object(friend))
                current.link(id, "friends", friend)
                current.link(friend, "friends", id)
            }
        case 13:
            guard let id = pick("Artist", a) else { return }
            let favorite = b % 4 == 0 ? nil : pick("Album", b)
            let artist: Artist = try object(id)
            artist.favorite = try favorite.map { try object($0) }
            current.nodes[id]?.one["favorite"] = favorite
        case 14, 15:
            guard let id = pick("Album", a), let track = pick("Track", b) else { return }
            let album: Album = try object(id)
            album.tracks.append(try object(track))
            current.set(track, "album", id, inverse: "tracks")
        case 16:
            guard let id = pick("Album", a), let count = current.nodes[id]?.many["tracks"]?.count, count > 0 else {
                return
            }
            let album: Album = try object(id)
            album.tracks.move(from: b % count, to: c % count)
            var list = current.nodes[id]?.many["tracks"] ?? []
            let moved = list.remove(at: b % count)
            list.insert(moved, at: c % count)
            current.nodes[id]?.many["tracks"] = list
        case 17:
            guard let id = pick("Track", a) else { return }
            let track: Track = try object(id)
            let album = b % 4 == 0 ? nil : pick("Album", b)
            track.album = try album.map { try object($0) }
            current.set(id, "album", album, inverse: "tracks")
        case 18, 19:
            guard let id = pick("Playlist", a), let track = pick("Track", b) else { return }
            let playlist: Playlist = try object(id)
            let count = current.nodes[id]?.many["tracks"]?.count ?? 0
            if current.nodes[id]?.many["tracks"]?.contains(track) ?? false { return }
            playlist.tracks.insert(try object(track), at: c % (count + 1))
            current.link(id, "tracks", track, at: c % (count + 1))
            current.link(track, "playlists", id)
        case 20:
            guard let id = pick("Track", a), let playlist = pick("Playlist", b) else { return }
            let track: Track = try object(id)
            if c % 2 == 0 {
                track.playlists.insert(try object(playlist))
                current.link(playlist, "tracks", id)
                current.link(id, "playlists", playlist)
            } else {
                track.playlists.remove(try object(playlist))
                current.unlink(playlist, "tracks", id)
                current.unlink(id, "playlists", playlist)
            }
        case 21:
            let entity = ["Artist", "Album", "Track", "Passport", "Track", "Album"][b % 6]
            guard let id = pick(entity, a) else { return }
            context.delete(try object(id))
            if c % 2 == 0 { context.processPendingChanges() }
            current.delete(id)
        case 22:
            guard let id = pick("Playlist", a), current.nodes[id]?.many["tracks"]?.isEmpty ?? true else { return }
            context.delete(try object(id))
            current.delete(id)
        case 23:
            context.rollback()
            current = saved
        case 24, 25:
            try context.save()
            saved = current
            // Another context continues.
            active = a % contexts.count
            contexts[active].processPendingChanges()
        case 26:
            context.processPendingChanges()
        default:
            guard let id = pick(["Artist", "Album", "Track", "Playlist"][b % 4], a) else { return }
            let object: ManagedObject = try object(id)
            if !object.hasChanges { try context.refresh(object, mergingChanges: c % 2 == 0) }
        }
    }

    /// Compares everything.
    mutating func check(_ step: Int) throws {
        let problems = try current.differences(from: contexts[active])
        guard problems.isEmpty else {
            throw Problem("after step \(step): \(problems.prefix(6).joined(separator: "; "))")
        }
    }

    static func failure(of steps: [Step], in location: StoreLocation, checksEach: Int) throws -> String? {
        let container = try PersistentContainer(location, model: try Music.model(), types: Music.types)
        defer { try? container.close() }
        var history = History(container, contexts: 3)
        for (index, step) in steps.enumerated() {
            do {
                try history.run(step)
                if index % checksEach == checksEach - 1 { try history.check(index) }
            } catch { return "\(error)" }
        }
        do {
            try history.contexts[history.active].save()
            history.saved = history.current
            let problems = try history.saved.differences(from: container.makeContext())
            return problems.isEmpty ? nil : "in a new context: \(problems.prefix(6).joined(separator: "; "))"
        } catch { return "\(error)" }
    }

    /// Leaves out steps as long as the history fails.
    static func shrink(_ steps: [Step], _ failure: ([Step]) throws -> String?) rethrows -> [Step] {
        var steps = steps
        var size = max(1, steps.count / 2)
        while size >= 1 {
            var start = 0
            var isShorter = false
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(steps.count, start + size))
                if try failure(fewer) != nil {
                    steps = fewer
                    isShorter = true
                } else {
                    start += size
                }
            }
            if size == 1, !isShorter { break }
            size = max(1, size / 2)
            if size == 1, isShorter { continue }
        }
        return steps
    }
}
