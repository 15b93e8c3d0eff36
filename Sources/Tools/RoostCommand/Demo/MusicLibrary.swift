internal import Foundation
internal import Roost
internal import RoostCore

/// A generated music library, whose content depends only on a number of objects and a seed.
struct MusicLibrary {
    let model: ManagedObjectModel
    private let genres: Int
    private let artists: Int
    private let albums: Int
    private let playlists: Int
    private let tracks: Int
    private let seed: UInt64

    /// Creates a library; most of its objects are tracks, about nine on each album.
    init(objects: Int, seed: UInt64) throws(StoreError) {
        model = try MusicModel.make()
        genres = min(24, objects / 50)
        artists = objects * 3 / 100
        albums = objects / 10
        playlists = objects / 100
        tracks = objects - genres - artists - albums - playlists
        self.seed = seed
    }

    /// Writes the library into an empty store of ``model``.
    ///
    /// Throws `cancelled` and leaves the store empty, soon after `isCancelled` returns true.
    func write(
        into store: any PersistentStore, isCancelled: @escaping () -> Bool
    ) throws(StoreError) -> StoreTally {
        let loader = try store.concurrentBulkLoader(BulkLoadOptions())
        do throws(StoreError) {
            var random = MusicRandom(seed: seed)
            var stream = Stream(loader, model: model, isCancelled)
            try writeAlbums(&stream, random: &random)
            try writeArtists(&stream, random: &random)
            try writeGenres(&stream)
            try writePlaylists(&stream, random: &random)
            try writeTracks(&stream, random: &random)
            try stream.flush()
            try writeLinks(&stream, random: &random)
            return try loader.finish()
        } catch {
            loader.abandon()
            throw error
        }
    }

    // MARK: Objects

    private func writeArtists(_ stream: inout Stream, random: inout MusicRandom) throws(StoreError) {
        let properties = [
            "name", "country", "formed", "rating", "isActive", "website", "identifier", "biography", "fingerprint",
        ]
        let artist = try RecordWriter("Artist", properties: properties, model: model)
        let band = try RecordWriter("Band", properties: properties + ["memberCount"], model: model)
        for key in 1..<(artists + 1) {
            let values: [Value] = [
                .string(random.title(words: 1...3)), .string(["DE", "FR", "JP", "NG", "US", "BR"][random.below(6)]),
                random.oneIn(5) ? .null : .int(Int64(1950 + random.below(75))), .double(Double(random.below(50)) / 10),
                .bool(!random.oneIn(4)), .uri("https://artists.example/\(key)"), .uuid(random.uuid()),
                random.oneIn(3) ? .string(random.title(words: 20...60)) : .null, .data(random.data(count: 32)),
            ]
            if random.oneIn(3) {
                try band.append(key, values: values + [.int(Int64(2 + random.below(6)))], to: &stream.records)
            } else {
                try artist.append(key, values: values, to: &stream.records)
            }
            try stream.flushIfFull()
        }
    }

    private func writeAlbums(_ stream: inout Stream, random: inout MusicRandom) throws(StoreError) {
        let album = try RecordWriter(
            "Album",
            properties: [
                "title", "released", "price", "barcode", "cover", "label", "label.name", "label.city",
                "label.catalogueNumber", "artist",
            ], model: model)
        for key in 1..<(albums + 1) {
            let hasLabel = !random.oneIn(4)
            try album.append(
                key,
                values: [
                    .string(random.title(words: 1...4)), .date(random.date()),
                    .decimal(Decimal(499 + random.below(2500)) / 100), .int(Int64(random.below(10_000_000_000_000))),
                    .data(random.data(count: 256 + random.below(1792))), hasLabel ? .composite([:]) : .null,
                    hasLabel ? .string(random.title(words: 1...2)) : .null,
                    hasLabel && random.oneIn(2) ? .string("Köln") : .null,
                    hasLabel ? .int(Int64(random.below(100_000))) : .null,
                    artists > 0 ? .objectID(ObjectID("Artist", key: Int64(1 + random.below(artists)))) : .null,
                ], to: &stream.records)
            try stream.flushIfFull()
        }
    }

    private func writeGenres(_ stream: inout Stream) throws(StoreError) {
        let genre = try RecordWriter("Genre", properties: ["name"], model: model)
        for key in 1..<(genres + 1) {
            try genre.append(key, values: [.string("Genre \(key)")], to: &stream.records)
            try stream.flushIfFull()
        }
    }

    private func writePlaylists(_ stream: inout Stream, random: inout MusicRandom) throws(StoreError) {
        let playlist = try RecordWriter("Playlist", properties: ["name", "created", "pinned"], model: model)
        for key in 1..<(playlists + 1) {
            try playlist.append(
                key,
                values: [
                    .string(random.title(words: 1...3)), .date(random.date()),
                    .objectID(ObjectID("Track", key: Int64(1 + random.below(tracks)))),
                ], to: &stream.records)
            try stream.flushIfFull()
        }
    }

    private func writeTracks(_ stream: inout Stream, random: inout MusicRandom) throws(StoreError) {
        let track = try RecordWriter(
            "Track",
            properties: [
                "title", "number", "durationSeconds", "gain", "playCount", "isExplicit", "lastPlayed", "recording",
                "lyrics",
                "album", RecordLayout.orderFieldName(of: "album"),
            ], model: model)
        var (lastAlbum, place) = (0, 0)
        for key in 1..<(tracks + 1) {
            let album = albums > 0 ? 1 + (key - 1) * albums / tracks : 0
            place = album == lastAlbum ? place + 1 : 0
            lastAlbum = album
            try track.append(
                key,
                values: [
                    .string(random.title(words: 1...4)), .int(Int64(place % 1000 + 1)),
                    .double(60 + random.fraction() * 400),
                    .double(Double(random.below(200)) / 16 - 6), .int(Int64(random.below(5000))),
                    .bool(random.oneIn(9)),
                    random.oneIn(2) ? .date(random.date()) : .null, .uuid(random.uuid()),
                    random.oneIn(4) ? .uri("https://lyrics.example/\(key)") : .null,
                    album > 0 ? .objectID(ObjectID("Album", key: Int64(album))) : .null,
                    album > 0 ? .int(Int64(place)) : .null,
                ], to: &stream.records)
            try stream.flushIfFull()
        }
    }

    // MARK: Links

    private func writeLinks(_ stream: inout Stream, random: inout MusicRandom) throws(StoreError) {
        if genres > 0 {
            try stream.write(to: RelationshipName("Album", name: "genres"), from: albums) { key in
                let first = random.below(genres)
                return genres > 1 && random.oneIn(2) ? [first, (first + 1) % genres].sorted() : [first]
            }
        }
        try stream.write(to: RelationshipName("Artist", name: "influences"), from: artists) { key in
            let other = random.below(artists)
            return random.oneIn(2) && other != key - 1 ? [other] : []
        }
        try stream.write(to: RelationshipName("Playlist", name: "tracks"), from: playlists) { key in
            var seen: Set<Int> = []
            return (0..<min(tracks, 20 + random.below(61))).map { _ in random.below(tracks) }
                .filter { seen.insert($0).inserted }
        }
    }

    private struct Stream {
        let loader: any BulkLoader
        var records: RecordBatch
        private let isCancelled: () -> Bool

        init(_ loader: any BulkLoader, model: ManagedObjectModel, _ isCancelled: @escaping () -> Bool) {
            self.loader = loader
            self.isCancelled = isCancelled
            records = RecordBatch(model: model)
        }

        mutating func flushIfFull() throws(StoreError) { if records.isFull { try flush() } }

        mutating func flush() throws(StoreError) {
            guard !records.isEmpty else { return }
            try checkCancellation()
            try loader.append(records)
            records.removeAll()
        }

        private func checkCancellation() throws(StoreError) {
            if isCancelled() { throw StoreError(.cancelled, "The demonstration was cancelled; its store was removed.") }
        }

        /// Writes links from the objects with the keys 1 … `count`.
        ///
        /// `targets` takes such a key, and returns the keys of the linked objects, each minus 1.
        func write(
            to name: RelationshipName, from count: Int, _ targets: (Int) -> [Int]
        ) throws(StoreError) {
            let (owner, isFlipped) = try records.model.requireLinkRelationship(name)
            let relationship = records.model.relationships[owner]
            var batch = LinkBatch(relationship: owner)
            for key in 1..<(count + 1) {
                for (place, target) in targets(key).enumerated() {
                    let link = Link(Int64(key), Int64(target + 1), order: Int64(place))
                    batch.links.append(relationship.normalized(isFlipped ? link.flipped : link))
                }
                if batch.isFull {
                    try checkCancellation()
                    try loader.append(batch)
                    batch.removeAll()
                }
            }
            if !batch.isEmpty { try loader.append(batch) }
        }
    }
}
