internal import RoostCore
internal import RoostQuery

/// Finds the keys of the objects of an access.
struct KeyCollector {
    let snapshot: KeyValueSnapshot
    let visits: VisitCount?

    /// Returns the keys in ascending order without duplicates.
    func keys(_ access: KeyAccess) throws(StoreError) -> [Int64] {
        switch access {
        case .nothing: return []
        case .keys(let keys):
            visits?.count += keys.count
            return keys
        case .entries(let entries):
            var keys: [Int64] = []
            try forEachEntry(entries) { keys.append($0) }
            return keys.inOrder()
        case .references(let number, let destinations):
            var keys: [Int64] = []
            try appendEnds(.references, number: number, of: destinations, to: &keys)
            return keys.inOrder()
        case .sources(let relationship, let request, let least):
            return try sources(of: request, by: relationship, atLeast: least)
        case .union(let members):
            var keys: [Int64] = []
            for member in members { keys += try self.keys(member) }
            return keys.inOrder()
        }
    }

    func count(_ access: KeyAccess, most: Int) throws(StoreError) -> Int {
        var count = 0
        if case .entries(let entries) = access {
            // An object has at most one entry.
            try forEachEntry(entries, most: most) { _ in count += 1 }
        } else if let source = try ReferringKeys(snapshot, access: access, visits: visits) {
            var keys: [Int64] = []
            while count < most, try source.next(into: &keys) { count += keys.count }
        } else {
            count = try keys(access).count
        }
        return min(most, count)
    }

    private func forEachEntry(_ entries: IndexEntries, most: Int = .max, _ body: (Int64) -> Void) throws(StoreError) {
        guard most > 0 else { return }
        let cursor = try snapshot.reader.cursor(in: entries.space)
        var count = 0
        defer { visits?.count += count }
        for range in entries.ranges where count < most {
            guard let start = range.start.position, try cursor.seek(to: start) else { continue }
            let end = range.end.position
            _ = try cursor.visit { (key, value) throws(StoreError) in
                guard end.map({ key.precedes($0) }) ?? true else { return false }
                let found =
                    entries.space == .unique
                    ? value.littleEndian64(at: 0).map { Int64(bitPattern: $0) } : key.lastKey
                guard let found, found > 0 else { throw .damagedEntry(entries.space) }
                count += 1
                if count.isMultiple(of: FetchCancellation.stride) { try FetchCancellation.check() }
                body(found)
                return count < most
            }
        }
    }

    // MARK: Relationships

    /// Appends the last object key of each entry whose first object key is one of `objects`.
    private func appendEnds(
        _ space: KeySpace, number: Int, of objects: [Int64], skipsSelf: Bool = false, to keys: inout [Int64]
    ) throws(StoreError) {
        let cursor = try snapshot.reader.cursor(in: space)
        let first = keys.count
        for (index, object) in objects.enumerated() {
            if index.isMultiple(of: FetchCancellation.stride) { try FetchCancellation.check() }
            let prefix = StorageKey(record: object, root: number).bytes
            guard try cursor.seek(to: prefix) else { break }
            _ = try cursor.visit { (key, _) throws(StoreError) in
                guard key.begins(with: prefix) else { return false }
                guard let end = LinkKey.end(of: key, behind: prefix.count) else { throw .damagedEntry(space) }
                if !skipsSelf || end != object { keys.append(end) }
                return true
            }
        }
        visits?.count += keys.count - first
    }

    /// Returns the keys of the objects whose relationship has at least `least` destinations that
    /// match a request.
    private func sources(
        of request: FetchRequest, by relationship: ManagedObjectModel.Relationship, atLeast least: Int
    ) throws(StoreError) -> [Int64] {
        var sources: [Int64] = []
        switch relationship.storage {
        case .field:
            try appendEnds(.references, number: relationship.number, of: try matches(request), to: &sources)
        case .derived(let inverse):
            let inverse = snapshot.model.relationships[inverse].name.name
            let fields = snapshot.model.entities.map { $0.layout.field(inverse) }
            let cursor = try snapshot.fetch(try CheckedFetchRequest(request, model: snapshot.model), visits: visits)
            var batch = RecordBatch(model: snapshot.model)
            while try cursor.next(into: &batch) {
                batch.forEachRecord { record in
                    // Objects have keys of 1 or more, but a damaged record can contain another key.
                    guard let field = fields[record.entityNumber], let source = record.reference(field), source.key > 0
                    else { return }
                    sources.append(source.key)
                }
            }
        case .links(let owner, let isFlipped):
            let objects = try matches(request)
            try appendEnds(isFlipped ? .links : .inverseLinks, number: owner, of: objects, to: &sources)
            // A relationship that is its own inverse stores each pair once, so the objects of the
            // request can be at either end.
            if relationship.isReflexive {
                try appendEnds(.links, number: owner, of: objects, skipsSelf: true, to: &sources)
            }
        }
        guard least > 1 else { return sources.inOrder() }
        sources.sort()
        var (keys, count) = ([Int64](), 0)
        for (index, key) in sources.enumerated() {
            count = index > 0 && sources[index - 1] == key ? count + 1 : 1
            if count == least { keys.append(key) }
        }
        return keys
    }

    private func matches(_ request: FetchRequest) throws(StoreError) -> [Int64] {
        let planned = try snapshot.planned(try CheckedFetchRequest(request, model: snapshot.model))
        if let choice = planned.choice, planned.isDecided, choice.isCountable { return try keys(choice.access) }
        let cursor = try snapshot.cursor(planned, visits: visits)
        var (keys, batch) = ([Int64](), RecordBatch(model: snapshot.model))
        while try cursor.next(into: &batch) { for index in 0..<batch.count { keys.append(batch.key(at: index)) } }
        return keys
    }
}
