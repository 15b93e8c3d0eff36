import RoostCore
import RoostGraph

/// The content of a store: rows, pairs of friends, and lists of tracks.
struct PlainContent: Equatable {
    struct Row: Equatable {
        var entity: String
        var text: String?
        var number: Int64?
        var one: [String: ObjectID]
    }

    /// An unordered pair of objects.
    struct Pair: Hashable {
        let first: ObjectID
        let second: ObjectID

        init(_ a: ObjectID, _ b: ObjectID) { (first, second) = a.key <= b.key ? (a, b) : (b, a) }
    }

    var rows: [ObjectID: Row] = [:]
    var friends: Set<Pair> = []
    /// The tracks of playlists and of albums.
    var lists: [ObjectID: [ObjectID]] = [:]

    init() {}

    init(_ graph: PlainGraph) {
        for (id, node) in graph.nodes {
            rows[id] = Row(entity: node.entity, text: node.text, number: node.number, one: node.one)
            for friend in node.many["friends"] ?? [] { friends.insert(Pair(id, friend)) }
            if let tracks = node.many["tracks"], !tracks.isEmpty { lists[id] = tracks }
        }
    }

    /// The graph with both sides of each relationship.
    var graph: PlainGraph {
        var graph = PlainGraph()
        for (id, row) in rows {
            graph.nodes[id] = PlainGraph.Node(entity: row.entity, text: row.text, number: row.number, one: row.one)
        }
        for (id, row) in rows where row.entity == "Album" {
            if let artist = row.one["artist"] { graph.link(artist, by: "albums", to: id) }
        }
        for pair in friends {
            graph.link(pair.first, by: "friends", to: pair.second)
            graph.link(pair.second, by: "friends", to: pair.first)
        }
        for (id, tracks) in lists where rows[id] != nil {
            graph.nodes[id]?.many["tracks"] = tracks
            guard rows[id]?.entity == "Playlist" else { continue }
            for track in tracks { graph.link(track, by: "playlists", to: id) }
        }
        return graph
    }

    /// Returns the number of albums of an artist, which the artist's row stores.
    func albumCount(_ id: ObjectID) -> Int { rows.values.count { $0.entity == "Album" && $0.one["artist"] == id } }

    func hasEqualRow(_ id: ObjectID, in other: PlainContent) -> Bool {
        rows[id] == other.rows[id] && albumCount(id) == other.albumCount(id)
    }

    func list(_ id: ObjectID) -> [ObjectID] { lists[id] ?? [] }

    /// The objects with a one-to-one relationship that only one side stores.
    var halfPairs: [ObjectID] {
        rows.filter { id, row in
            if let passport = row.one["passport"], rows[passport]?.one["holder"] != id { return true }
            if let holder = row.one["holder"], rows[holder]?.one["passport"] != id { return true }
            return false
        }.map(\.key)
    }

    /// The missing objects to which others refer.
    var dangling: [ObjectID] {
        var ends = rows.values.flatMap { Array($0.one.values) }
        for pair in friends { ends += [pair.first, pair.second] }
        for (id, tracks) in lists where rows[id] != nil { ends += tracks }
        return ends.filter { rows[$0] == nil }
    }

    /// The objects of half pairs, and the passports and holders up to two references away.
    var unsettled: Set<ObjectID> {
        var found = Set(halfPairs)
        for _ in 0..<2 {
            for id in found {
                found.formUnion(["passport", "holder"].compactMap { rows[id]?.one[$0] })
            }
        }
        return found
    }

    /// The groups of albums with the same title.
    var sharing: [[ObjectID]] {
        Dictionary(grouping: rows.filter { $0.value.entity == "Album" && $0.value.text != nil }) { $0.value.text }
            .values.filter { $0.count > 1 }.map { $0.map(\.key) }
    }
}

enum PlainPolicy: Int, CaseIterable {
    case error, storeTrump, objectTrump, overwrite, rollback, sum, refuse

    var policy: MergePolicy {
        switch self {
        case .error: .error
        case .storeTrump: .mergeByPropertyStoreTrump
        case .objectTrump: .mergeByPropertyObjectTrump
        case .overwrite: .overwrite
        case .rollback: .rollback
        case .sum:
            MergePolicy("sum") { (conflict: MergeConflict) throws(StoreError) in
                guard let mine = conflict.mine, let theirs = conflict.theirs else { return .acceptTheirs }
                var values = theirs
                for name in conflict.changedHere { values[name] = mine[name] }
                if case .int(let old)? = conflict.base["rank"], case .int(let here)? = mine["rank"],
                    case .int(let there)? = theirs["rank"]
                {
                    values["rank"] = .int(here + there - old)
                }
                return .keep(values)
            } resolveConstraint: { _ in
                .keepStored
            }
        case .refuse: MergePolicy("refuse") { _ in .fail }
        }
    }

    /// Whether this context's object wins if one side deleted it.
    var isMine: Bool { self == .objectTrump || self == .overwrite }
    var fails: Bool { self == .error || self == .refuse }
}

/// The result of a save or a refresh by the documented rules.
struct PlainMerge {
    var result = PlainContent()
    /// The errors that the save can have; none if it must succeed.
    var codes: Set<StoreError.Code> = []
    /// Whether the save may succeed although `codes` has errors.
    var isOpen = false
    /// Whether the policy has a conflict to resolve.
    var isResolved = false
    /// The objects whose relationships the rules leave open.
    var loose: Set<ObjectID> = []
    /// The objects with a list whose order the rules leave open.
    var looseOrders: Set<ObjectID> = []
    /// The objects that this side changed and the store no longer has.
    var ghosts: Set<ObjectID> = []
    /// Whether one side added members to objects that the other side deleted.
    var hasLostLinks = false
    var hasChanges = false

    /// Merges what this side changed from `base` to `mine` into `stored`.
    ///
    /// A save also merges albums with equal titles.
    init(
        base: PlainContent, mine: PlainContent, stored: PlainContent, policy: PlainPolicy, isSave: Bool = true
    ) {
        result = stored
        let deleted = base.rows.keys.filter { mine.rows[$0] == nil }
        let changed = mine.rows.keys.filter { base.rows[$0] != nil && base.rows[$0] != mine.rows[$0] }
        let inserted = Set(mine.rows.keys.filter { base.rows[$0] == nil })
        hasChanges =
            !deleted.isEmpty || !changed.isEmpty || !inserted.isEmpty || base.friends != mine.friends
            || base.lists != mine.lists

        mergeRows(
            base, mine: mine, stored: stored, deleted: deleted, inserted: inserted, changed: changed, policy: policy)
        mergeLinks(base, mine: mine, stored: stored)
        if hasLostLinks { codes.insert(.objectNotFound) }
        // After the refresh reads the new members, the playlist's delete rule denies the deletion.
        if !isSave, deleted.contains(where: { id in stored.list(id).contains { result.rows[$0] != nil } }) {
            hasLostLinks = true
        }
        if isSave {
            mergeTitles(
                base: base, mine: mine, stored: stored, inserted: inserted, changed: Set(changed), policy: policy)
        }
        mergeTracks(base, mine: mine, stored: stored)

        // The rules do not define the inverse references of restored objects, or one-to-one pairs
        // that both contexts changed.
        if isResolved { loose.formUnion(result.unsettled) }
        if !loose.isEmpty {
            isOpen = isOpen || codes.isEmpty
            codes.formUnion([.deleteDenied, .objectNotFound])
        }
        if !result.dangling.isEmpty { codes.formUnion([.deleteDenied, .objectNotFound]) }
        if !result.dangling.isEmpty, loose.isEmpty { isOpen = false }
    }

    /// Merges the values and the to-one references of objects.
    ///
    /// An object that both sides deleted is not a conflict.
    private mutating func mergeRows(
        _ base: PlainContent, mine: PlainContent, stored: PlainContent, deleted: [ObjectID],
        inserted: Set<ObjectID>, changed: [ObjectID], policy: PlainPolicy
    ) {
        for id in deleted where stored.rows[id] != nil {
            guard !base.hasEqualRow(id, in: stored) else {
                result.rows[id] = nil
                continue
            }
            isResolved = true
            if policy.fails { codes.insert(.conflict) }
            if policy.isMine { result.rows[id] = nil } else { loose.insert(id) }
        }
        for id in inserted { result.rows[id] = mine.rows[id] }
        for id in changed {
            guard let old = base.rows[id], let here = mine.rows[id] else { continue }
            guard let there = stored.rows[id] else {
                isResolved = true
                ghosts.insert(id)
                if policy.fails { codes.insert(.conflict) }
                if policy.isMine { result.rows[id] = here } else { loose.insert(id) }
                continue
            }
            guard !base.hasEqualRow(id, in: stored) else {
                result.rows[id] = here
                continue
            }
            isResolved = true
            if policy.fails { codes.insert(.conflict) }
            result.rows[id] = Self.merged(old: old, here: here, there: there, policy: policy)
            // Both sides changed the track and this side moved it, so the rules do not define its
            // place.
            if old.one["album"] != here.one["album"], let album = result.rows[id]?.one["album"] {
                looseOrders.insert(album)
            }
        }
    }

    /// Merges friends and the tracks of playlists, as sets.
    private mutating func mergeLinks(_ base: PlainContent, mine: PlainContent, stored: PlainContent) {
        let rows = result.rows
        func exists(_ id: ObjectID) -> Bool { rows[id] != nil }
        let added = mine.friends.subtracting(base.friends)
        result.friends = stored.friends.subtracting(base.friends.subtracting(mine.friends)).union(added)
        result.friends = result.friends.filter { pair in
            added.contains(pair) || exists(pair.first) && exists(pair.second)
        }
        for id in result.rows.keys where result.rows[id]?.entity == "Playlist" {
            let (old, here, there) = (base.list(id), mine.list(id), stored.list(id))
            let gone = Set(old).subtracting(here)
            let new = here.filter { !old.contains($0) }
            if old == there {
                result.lists[id] = here.filter { new.contains($0) || exists($0) }
            } else {
                result.lists[id] = there.filter { !gone.contains($0) && exists($0) }
                for track in new where !result.list(id).contains(track) { result.lists[id, default: []].append(track) }
                if old != here { looseOrders.insert(id) }
            }
        }
        for id in mine.rows.keys where mine.rows[id]?.entity == "Playlist" && !exists(id) {
            hasLostLinks = hasLostLinks || mine.list(id).contains { !base.list(id).contains($0) }
        }
    }

    /// Merges the tracks of albums, which follow from the rows of the tracks.
    private mutating func mergeTracks(_ base: PlainContent, mine: PlainContent, stored: PlainContent) {
        for id in result.rows.keys where result.rows[id]?.entity == "Album" {
            let members = result.rows.filter { $0.value.one["album"] == id }.map(\.key)
            let (old, here, there) = (base.list(id), mine.list(id), stored.list(id))
            let order = old == there ? here : there
            result.lists[id] =
                order.filter { members.contains($0) }
                + members.filter { !order.contains($0) }.sorted { $0.key < $1.key }
            if old != there && old != here || Set(order) != Set(members) { looseOrders.insert(id) }
        }
        let rows = result.rows
        result.lists = result.lists.filter { rows[$0.key] != nil && !$0.value.isEmpty }
    }

    private static func merged(
        old: PlainContent.Row, here: PlainContent.Row, there: PlainContent.Row, policy: PlainPolicy
    ) -> PlainContent.Row {
        func pick<Value: Equatable>(_ path: (PlainContent.Row) -> Value) -> Value {
            let (old, here, there) = (path(old), path(here), path(there))
            switch policy {
            case .storeTrump: return there != old ? there : here
            case .objectTrump, .sum, .error, .refuse: return here != old ? here : there
            case .overwrite: return here
            case .rollback: return there
            }
        }
        var row = here
        row.text = pick(\.text)
        row.number = pick(\.number)
        if policy == .sum, let old = old.number, let here = here.number, let there = there.number {
            row.number = here + there - old
        }
        for name in PlainGraph.toOne(row.entity) { row.one[name] = pick { $0.one[name] } }
        return row
    }

    /// Merges new albums into stored albums with the same titles.
    private mutating func mergeTitles(
        base: PlainContent, mine: PlainContent, stored: PlainContent, inserted: Set<ObjectID>,
        changed: Set<ObjectID>, policy: PlainPolicy
    ) {
        for group in result.sharing {
            isResolved = true
            let survivors = group.filter { !inserted.contains($0) }
            guard policy != .error, policy != .refuse, group.count == 2, let survivor = survivors.first,
                survivors.count == 1, let new = group.first(where: { inserted.contains($0) }),
                stored.rows[survivor] != nil
            else {
                codes.insert(.constraintViolation)
                continue
            }
            // If this side also changed or deleted the stored album, the rules do not define which
            // change is applied first.
            if changed.contains(survivor) || mine.rows[survivor] == nil && base.rows[survivor] != nil {
                isOpen = true
                codes.formUnion([.constraintViolation, .conflict, .objectNotFound, .deleteDenied])
            }
            loose.formUnion([survivor, new])
            let dropped = result.rows.removeValue(forKey: new)
            if policy.isMine, let artist = dropped?.one["artist"] { result.rows[survivor]?.one["artist"] = artist }
            for id in result.rows.keys {
                if result.rows[id]?.one["album"] == new { result.rows[id]?.one["album"] = survivor }
                if result.rows[id]?.one["favorite"] == new { result.rows[id]?.one["favorite"] = survivor }
            }
            looseOrders.insert(survivor)
        }
    }

    /// Returns the differences from the result, except differences that the rules leave open.
    func differences(from actual: PlainContent) -> [String] {
        var problems: [String] = []
        for id in Set(actual.rows.keys).union(result.rows.keys).sorted(by: { $0.key < $1.key }) {
            guard let found = actual.rows[id], let wanted = result.rows[id] else {
                if !isOpen || !loose.contains(id) {
                    problems.append(actual.rows[id] == nil ? "\(id) is missing" : "\(id) is superfluous")
                }
                continue
            }
            if isOpen, loose.contains(id) { continue }
            if found.text != wanted.text {
                problems.append("the text of \(id) is \(found.text ?? "nil"), not \(wanted.text ?? "nil")")
            }
            if found.number != wanted.number {
                problems.append("the number of \(id) is \(found.number ?? -1), not \(wanted.number ?? -1)")
            }
            guard !loose.contains(id) else { continue }
            for name in PlainGraph.toOne(wanted.entity) where found.one[name] != wanted.one[name] {
                if [found.one[name], wanted.one[name]].contains(where: { $0.map(loose.contains) ?? false }) {
                    continue
                }
                problems.append(
                    "\(id).\(name) is \(found.one[name]?.description ?? "nil"), not \(wanted.one[name]?.description ?? "nil")"
                )
            }
        }
        for pair in actual.friends.symmetricDifference(result.friends)
        where !loose.contains(pair.first) && !loose.contains(pair.second) {
            problems.append("\(pair.first) and \(pair.second) are friends on one side only")
        }
        for id in Set(actual.lists.keys).union(result.lists.keys) where !loose.contains(id) {
            let found = actual.list(id).filter { !loose.contains($0) }
            let wanted = result.list(id).filter { !loose.contains($0) }
            if looseOrders.contains(id) ? Set(found) != Set(wanted) : found != wanted {
                problems.append("the tracks of \(id) are \(found), not \(wanted)")
            }
        }
        return problems
    }

    static func report(_ base: PlainContent, mine: PlainContent, stored: PlainContent) -> String {
        func text(_ content: PlainContent, of id: ObjectID) -> String {
            guard let row = content.rows[id] else { return "-" }
            let references = row.one.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            let parts = [row.text ?? "nil", row.number.map { "\($0)" } ?? "nil"] + references
            return "\(parts.joined(separator: ", ")) \(content.list(id)) \(content.albumCount(id))"
        }
        let ids = Set(base.rows.keys).union(mine.rows.keys).union(stored.rows.keys)
        var lines = ids.sorted { ("\($0.entity)", $0.key) < ("\($1.entity)", $1.key) }.compactMap { id in
            let texts = [base, mine, stored].map { text($0, of: id) }
            return Set(texts).count == 1 ? nil : "\(id): read \(texts[0]); here \(texts[1]); there \(texts[2])"
        }
        func pairs(of pairs: Set<PlainContent.Pair>, notIn others: Set<PlainContent.Pair>) -> [[ObjectID]] {
            pairs.subtracting(others).map { [$0.first, $0.second] }
        }
        for (name, other) in [("here", mine), ("there", stored)] where other.friends != base.friends {
            let (added, removed) = (
                pairs(of: other.friends, notIn: base.friends), pairs(of: base.friends, notIn: other.friends)
            )
            lines.append("friends added \(name) \(added), removed \(removed)")
        }
        return lines.joined(separator: "\n")
    }
}
