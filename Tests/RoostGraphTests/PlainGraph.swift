import Roost
import RoostGraph

/// A naive graph of dictionaries, with which contexts must agree.
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

    func pick(_ entity: String, number: Int) -> ObjectID? {
        let ids = ids(entity)
        return ids.isEmpty ? nil : ids[number % ids.count]
    }

    mutating func link(_ a: ObjectID, by name: String, to b: ObjectID, at position: Int? = nil) {
        var list = nodes[a]?.many[name] ?? []
        guard !list.contains(b) else { return }
        list.insert(b, at: min(position ?? list.count, list.count))
        nodes[a]?.many[name] = list
    }

    mutating func unlink(_ a: ObjectID, by name: String, from b: ObjectID) {
        nodes[a]?.many[name]?.removeAll { $0 == b }
    }

    /// Sets a to-one relationship whose inverse is to-many.
    mutating func set(_ a: ObjectID, relationship name: String, to b: ObjectID?, inverse: String) {
        let old = nodes[a]?.one[name]
        guard old != b else { return }
        if let old { unlink(old, by: inverse, from: a) }
        nodes[a]?.one[name] = b
        if let b { link(b, by: inverse, to: a) }
    }

    mutating func setPassport(of artist: ObjectID, to passport: ObjectID?) {
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

    static let entities = ["Artist", "Album", "Track", "Playlist", "Passport"]

    /// Returns the differences from the content that a context shows.
    func differences(from context: ManagedObjectContext) throws -> [String] {
        var problems: [String] = []
        for entity in Self.entities {
            let found = Set(try context.fetch(FetchRequest(EntityName(entity))).map(\.objectID))
            let wanted = Set(ids(entity))
            if found != wanted {
                problems.append(
                    "\(entity): missing \(wanted.subtracting(found)), superfluous \(found.subtracting(wanted))")
            }
            let count = try context.count(FetchRequest(EntityName(entity)))
            if count != wanted.count { problems.append("\(entity): the count is \(count)") }
        }
        return try problems + differences(fromObjectsOf: context)
    }

    /// Returns the differences from a context's objects, without comparing fetches.
    func differences(fromObjectsOf context: ManagedObjectContext) throws -> [String] {
        var problems: [String] = []
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

    init() {}

    /// Reads what a context shows of the objects `ids`; nil reads all fetched objects.
    init(reading context: ManagedObjectContext, ids: [ObjectID]? = nil) throws {
        let all = try ids ?? Self.entities.flatMap { try context.fetchIDs(FetchRequest(EntityName($0))) }
        for id in all {
            let object = context.object(with: id)
            let (text, number) = Self.names("\(id.entity)")
            var node = Node(entity: "\(id.entity)")
            if case .string(let value) = try object.value(text) { node.text = value }
            if let number, case .int(let value) = try object.value(number) { node.number = value }
            for name in Self.toOne(node.entity) { node.one[name] = try object.object(name)?.objectID }
            for name in Self.toMany(node.entity) {
                if Self.ordered.contains("\(node.entity).\(name)") {
                    node.many[name] = try object.orderedObjects(name).map(\.objectID)
                } else {
                    node.many[name] = try object.objects(name).map(\.objectID).sorted { $0.key < $1.key }
                }
            }
            nodes[id] = node
        }
        if let error = context.pendingError { throw error }
    }

    /// Messages about relationships whose sides differ, and about references to missing objects.
    var inconsistencies: [String] {
        let content = PlainContent(self)
        var problems = content.halfPairs.map { "\($0) has a passport or a holder that does not have it" }
        problems += content.dangling.map { "\($0) does not exist, and objects refer to it" }
        let both = content.graph
        for (id, node) in nodes {
            for name in Self.toMany(node.entity) {
                let (here, there) = (Set(node.many[name] ?? []), Set(both.nodes[id]?.many[name] ?? []))
                if here != there { problems.append("\(id).\(name) is \(here), but the other sides say \(there)") }
            }
            for track in node.entity == "Album" ? node.many["tracks"] ?? [] : []
            where nodes[track]?.one["album"] != id { problems.append("\(track) is in \(id) and has another album") }
            if node.entity == "Track", let album = node.one["album"],
                nodes[album]?.many["tracks"]?.contains(id) != true
            {
                problems.append("\(id) has \(album), which does not have it")
            }
        }
        return problems
    }

    /// Returns messages about artists whose derived attributes in a context do not fit this graph.
    func wrongDerivations(in context: ManagedObjectContext) throws -> [String] {
        try ids("Artist").filter { id in
            let object = context.object(with: id)
            let name = (nodes[id]?.text?.uppercased()).map { Value.string($0) } ?? .null
            let count = Value.int(Int64(nodes[id]?.many["albums"]?.count ?? 0))
            return try object.value("upperName") != name || object.value("albumCount") != count
        }.map { "\($0) has wrong derived attributes" }
    }
}
