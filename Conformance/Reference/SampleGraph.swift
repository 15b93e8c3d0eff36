internal import Foundation
package import RoostCore

/// A music library that a seed generates: artists, albums, tracks, playlists, genres, listeners,
/// and specimens of every attribute type.
///
/// Every object depends only on its entity, its key, the seed and the number of objects. So a
/// library of any size can be generated in batches, in constant memory. The library has features
/// that a copy must preserve:
///
/// - inheritance and composites
/// - ordered and unordered many-to-many relationships
/// - a relationship that is its own inverse, and one without inverse
/// - ordered and unordered to-many relationships with a to-one inverse
package struct SampleGraph: Sendable {
    package let seed: UInt64
    package let objectCount: Int
    package let model: ManagedObjectModel
    private let counts: Counts

    /// Creates the description of a library with typical proportions and at least 10 objects.
    ///
    /// The objects satisfy the uniqueness constraints even without `hasConstraints`.
    package init(seed: UInt64, objectCount: Int, hasConstraints: Bool = true) throws(StoreError) {
        self.seed = seed
        self.objectCount = max(10, objectCount)
        model = try hasConstraints ? Self.model.get() : Self.makeModel(hasConstraints: false)
        counts = Counts(self.objectCount)
    }

    struct Counts {
        let artists, listeners, albums, genres, playlists, specimens, tracks: Int

        init(_ count: Int) {
            artists = max(1, count / 25)
            listeners = max(2, count / 25)
            albums = max(1, count / 8)
            genres = max(1, min(40, count / 20))
            playlists = max(1, count / 50)
            specimens = max(1, count / 20)
            tracks = count - artists - listeners - albums - genres - playlists - specimens
        }

        var parties: Int { artists + listeners }
    }

    package static let model: Result<ManagedObjectModel, StoreError> = {
        do throws(StoreError) { return .success(try makeModel()) } catch { return .failure(error) }
    }()

    /// Returns a generator that depends on the seed, the object's entity and its key.
    private func generator(_ salt: UInt64, key: Int64) -> SeededGenerator {
        var generator = SeededGenerator(
            seed: seed ^ (salt &* 0x9E37_79B9_7F4A_7C15) ^ UInt64(bitPattern: key) &* 0xD6E8_FEB8_6659_FD93)
        _ = generator.next()
        return generator
    }

    // MARK: Streams

    /// Calls `body` with all records in batches, hierarchy by hierarchy, by ascending key.
    package func forEachRecordBatch(_ body: (RecordBatch) throws -> Void) throws {
        var batch = RecordBatch(model: model)
        let hierarchies: [(Int, (Int64) throws(StoreError) -> (EntityName, [String: Value]))] = [
            (counts.parties, party), (counts.albums, album), (counts.genres, genre), (counts.playlists, playlist),
            (counts.specimens, specimen),
            (counts.tracks, track),
        ]
        for (count, make) in hierarchies where count > 0 {
            for key in 1...Int64(count) {
                let (entity, values) = try make(key)
                try batch.append(ObjectID(entity, key: key), version: 1, values: values)
                if batch.isFull {
                    try body(batch)
                    batch.removeAll()
                }
            }
        }
        if !batch.isEmpty { try body(batch) }
    }

    /// Calls `body` with all links in batches, each link once.
    package func forEachLinkBatch(_ body: (LinkBatch) throws -> Void) throws {
        let streams: [(RelationshipName, Int, (Int64) -> [Link])] = [
            (RelationshipName("Playlist", name: "tracks"), counts.playlists, playlistTracks),
            (RelationshipName("Track", name: "genres"), counts.tracks, trackGenres),
            (RelationshipName("Listener", name: "friends"), counts.listeners, friends),
            (RelationshipName("Specimen", name: "picks"), counts.specimens, picks),
        ]
        for (name, count, make) in streams where count > 0 {
            let (owner, isFlipped) = try model.requireLinkRelationship(name)
            let relationship = model.relationships[owner]
            var batch = LinkBatch(relationship: owner)
            for key in 1...Int64(count) {
                batch.links += make(key).map { relationship.normalized(isFlipped ? $0.flipped : $0) }
                if batch.isFull {
                    try body(batch)
                    batch.removeAll()
                }
            }
            if !batch.isEmpty { try body(batch) }
        }
    }

    /// The digest of a store with only the library.
    package var digest: StoreDigest {
        get throws {
            var tally = StoreTally(model: model)
            try forEachRecordBatch { tally.add($0) }
            try forEachLinkBatch { tally.add($0) }
            return tally.digest
        }
    }

    // MARK: Filling a store

    /// Loads the library into a store with ``model``, and returns the tally of the whole store.
    @discardableResult
    package func load(into store: any PersistentStore) throws -> StoreTally {
        let loader = try store.bulkLoader(BulkLoadOptions())
        do {
            try forEachRecordBatch { try loader.append($0) }
            try forEachLinkBatch { try loader.append($0) }
            return try loader.finish()
        } catch {
            loader.abandon()
            throw error
        }
    }

    /// Writes the library into a store by commits of at most `objectsPerCommit` objects or links.
    package func commit(into store: any PersistentStore, objectsPerCommit: Int) throws {
        precondition(objectsPerCommit > 0, "a commit needs at least one object")
        var changes = ChangeSet(model: store.model)
        try forEachRecordBatch { batch in
            for index in 0..<batch.count {
                changes.inserts.append(batch, at: index)
                if changes.inserts.count >= objectsPerCommit {
                    _ = try store.commit(changes)
                    changes = ChangeSet(model: store.model)
                }
            }
        }
        _ = try store.commit(changes)
        try forEachLinkBatch { batch in
            for start in stride(from: 0, to: batch.count, by: objectsPerCommit) {
                var changes = ChangeSet(model: store.model)
                let links = Array(batch.links[start..<min(batch.count, start + objectsPerCommit)])
                changes.addedLinks = [LinkBatch(relationship: batch.relationship, links: links)]
                _ = try store.commit(changes)
            }
        }
    }

    // MARK: Objects

    private func party(_ key: Int64) -> (EntityName, [String: Value]) {
        var random = generator(1, key: key)
        var values: [String: Value] = [
            "name": .string(Self.words(2, random: &random)),
            "joined": .date(Date(timeIntervalSinceReferenceDate: Double(random.below(700_000_000)) + 0.125)),
        ]
        if key <= Int64(counts.artists) {
            values["biography"] = random.oneIn(3) ? .null : .string(Self.words(20 + random.below(40), random: &random))
            values["homepage"] = .uri("https://example.org/artists/\(key)")
            return ("Artist", values)
        }
        values["email"] = random.oneIn(10) ? .null : .string("listener\(key)@example.org")
        values["address"] =
            random.oneIn(4)
            ? .null
            : .composite([
                "street": .string(Self.words(2, random: &random)),
                "city": random.oneIn(5) ? .null : .string(Self.words(1, random: &random)),
                "position": .composite([
                    "north": .double(Double(random.below(180)) - 90), "east": .double(Double(random.below(360)) / 7),
                ]),
            ])
        return ("Listener", values)
    }

    private func album(_ key: Int64) -> (EntityName, [String: Value]) {
        var random = generator(2, key: key)
        let cents = Decimal(random.below(5000)) / 100
        return (
            "Album",
            [
                "title": .string(Self.words(1 + random.below(4), random: &random)),
                "released": .date(Date(timeIntervalSinceReferenceDate: Double(random.below(1 << 30)) - 5e8)),
                "price": random.oneIn(6) ? .null : .decimal(cents),
                "cover": random.oneIn(3) ? .null : .data(Self.bytes(100 + random.below(1500), random: &random)),
                "catalogue": .uuid(Self.uuid(&random)),
                "artist": .objectID(ObjectID("Artist", key: Int64(random.below(counts.artists)) + 1)),
            ]
        )
    }

    private func genre(_ key: Int64) -> (EntityName, [String: Value]) { ("Genre", ["name": .string("genre \(key)")]) }

    private func playlist(_ key: Int64) -> (EntityName, [String: Value]) {
        var random = generator(4, key: key)
        let owner = Int64(counts.artists + random.below(counts.listeners)) + 1
        return (
            "Playlist",
            [
                "title": .string(Self.words(3, random: &random)),
                "owner": random.oneIn(9) ? .null : .objectID(ObjectID("Listener", key: owner)),
            ]
        )
    }

    private func track(_ key: Int64) -> (EntityName, [String: Value]) {
        var random = generator(5, key: key)
        var values: [String: Value] = [
            "title": .string(Self.words(1 + random.below(5), random: &random)),
            "seconds": .double(Double(random.below(600_000)) / 1000),
            "plays": .int(Int64(random.below(1_000_000))), "year": .int(Int64(1950 + random.below(76))),
            "explicit": .bool(random.oneIn(5)),
            "gain": .double(Double(Float(random.below(2000)) / 100 - 10)),
        ]
        if !random.oneIn(3) { values["rating"] = .int(Int64(random.below(6))) }
        if !random.oneIn(20) {
            values["album"] = .objectID(ObjectID("Album", key: Int64(random.below(counts.albums)) + 1))
            values["album#order"] = .int(Int64(random.below(30)) * 1000)
        }
        return ("Track", values)
    }

    private func specimen(_ key: Int64) throws(StoreError) -> (EntityName, [String: Value]) {
        var random = generator(6, key: key)
        let entity = try model.requireEntity("Specimen")
        var values = Self.randomValues(for: entity, using: &random, nullOneIn: 4)
        let party = Int64(random.below(counts.parties)) + 1
        values["relative"] =
            random.oneIn(4)
            ? .null : .objectID(ObjectID(party <= Int64(counts.artists) ? "Artist" : "Listener", key: party))
        return ("Specimen", values)
    }

    // MARK: Links

    private func distinct(_ count: Int, below limit: Int, random: inout SeededGenerator) -> [Int64] {
        var (seen, list) = (Set<Int64>(), [Int64]())
        for _ in 0..<count {
            let key = Int64(random.below(limit)) + 1
            if seen.insert(key).inserted { list.append(key) }
        }
        return list
    }

    private func playlistTracks(_ key: Int64) -> [Link] {
        var random = generator(7, key: key)
        guard counts.tracks > 0 else { return [] }
        return distinct(random.below(30), below: counts.tracks, random: &random).enumerated().map {
            Link(key, $1, order: Int64($0 * 10))
        }
    }

    private func trackGenres(_ key: Int64) -> [Link] {
        var random = generator(8, key: key)
        return distinct(random.below(4), below: counts.genres, random: &random).map { Link(key, $0) }
    }

    private func friends(_ index: Int64) -> [Link] {
        var random = generator(9, key: index)
        let (key, others) = (Int64(counts.artists) + index, counts.listeners - Int(index))
        guard others > 0 else { return [] }
        return distinct(random.below(4), below: others, random: &random).map { Link(key, key + $0) }
    }

    private func picks(_ key: Int64) -> [Link] {
        var random = generator(10, key: key)
        guard counts.tracks > 0 else { return [] }
        return distinct(random.below(5), below: counts.tracks, random: &random).map { Link(key, $0) }
    }
}
