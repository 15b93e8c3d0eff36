internal import Roost
internal import RoostCore
internal import RoostQuery

/// The reads of a round through one snapshot.
struct Reading {
    let snapshot: any StoreSnapshot
    let schema: TrackSchema
    let workload: Workload
    let isProving: Bool

    /// Returns the ID of a track in the scattered sequence that the baselines read too.
    private func randomTrack(_ index: Int) -> ObjectID {
        ObjectID(TrackSchema.trackEntity, key: Tracks.randomKey(index, count: workload.trackCount))
    }

    private func randomAlbum(_ index: Int) -> ObjectID {
        ObjectID(TrackSchema.albumEntity, key: Tracks.randomKey(index, count: workload.albumCount))
    }

    /// Reads all records of a cursor; with `readingFields`, computes a checksum of every field.
    private func drain(
        _ cursor: any RecordCursor, into batch: inout RecordBatch, readingFields: Bool
    ) throws -> Outcome {
        var outcome = Outcome(unitCount: 0, checksum: readingFields ? 0 : nil)
        while try cursor.next(into: &batch) {
            outcome.unitCount += batch.count
            if readingFields {
                outcome.checksum = (outcome.checksum ?? 0) &+ schema.checksum(batch)
            }
        }
        return outcome
    }

    // MARK: Scans

    /// Reads every track into batches.
    func scan() throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        return try drain(
            try snapshot.records(of: TrackSchema.trackEntity, after: nil), into: &batch, readingFields: isProving)
    }

    /// Reads every field of every track in place.
    func scanFields() throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        return try drain(
            try snapshot.records(of: TrackSchema.trackEntity, after: nil), into: &batch, readingFields: true)
    }

    /// Decodes every field of every track into a value.
    func scanValues() throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        var outcome = Outcome(unitCount: 0, checksum: isProving ? 0 : nil)
        let cursor = try snapshot.records(of: TrackSchema.trackEntity, after: nil)
        var notNull = 0
        while try cursor.next(into: &batch) {
            outcome.unitCount += batch.count
            batch.forEachRecord { record in
                for field in schema.trackLayout.fields where !record.value(field).isNull { notNull += 1 }
            }
            if isProving { outcome.checksum = (outcome.checksum ?? 0) &+ schema.checksum(batch) }
        }
        guard notNull >= outcome.unitCount * 7 else { throw BenchmarkError("Values are missing.") }
        return outcome
    }

    // MARK: Single objects

    /// Reads scattered tracks, one call for each, with every field.
    func pointReads() throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        var outcome = Outcome(unitCount: 0, checksum: 0)
        for index in 0..<workload.repetitions {
            guard try snapshot.record(with: randomTrack(index), into: &batch) else {
                throw BenchmarkError("A track is missing.")
            }
            outcome.unitCount += 1
            outcome.checksum = (outcome.checksum ?? 0) &+ schema.checksum(batch)
        }
        return outcome
    }

    /// Reads scattered tracks, one call for each, and decodes the title.
    func pointReadValues() throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        var outcome = Outcome(unitCount: 0, checksum: isProving ? 0 : nil)
        for index in 0..<workload.repetitions {
            guard try snapshot.record(with: randomTrack(index), into: &batch) else {
                throw BenchmarkError("A track is missing.")
            }
            guard !(try batch.value("title", at: 0).isNull) else { throw BenchmarkError("A title is missing.") }
            outcome.unitCount += 1
            if isProving {
                outcome.checksum = (outcome.checksum ?? 0) &+ schema.checksum(batch)
            }
        }
        return outcome
    }

    /// Reads scattered tracks, a thousand with each call.
    func pointReadsTogether() throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        var outcome = Outcome(unitCount: 0, checksum: 0)
        for start in stride(from: 0, to: workload.repetitions, by: 1000) {
            let ids = (start..<min(start + 1000, workload.repetitions)).map { randomTrack($0) }
            let part = try drain(try snapshot.records(with: ids), into: &batch, readingFields: true)
            outcome.unitCount += part.unitCount
            outcome.checksum = (outcome.checksum ?? 0) &+ (part.checksum ?? 0)
        }
        return outcome
    }

    // MARK: Fetches

    /// Fetches the tracks of scattered albums by the index over the album.
    func indexLookups() throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        var outcome = Outcome(unitCount: 0, checksum: 0)
        for index in 0..<workload.repetitions {
            let request = FetchRequest(
                TrackSchema.trackEntity, where: .path("album") == randomAlbum(index))
            let part = try drain(try snapshot.fetch(request), into: &batch, readingFields: true)
            outcome.unitCount += part.unitCount
            outcome.checksum = (outcome.checksum ?? 0) &+ (part.checksum ?? 0)
        }
        return outcome
    }

    /// Fetches the tracks of scattered ranges of titles by the index over titles.
    func indexRanges() throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        var outcome = Outcome(unitCount: 0, checksum: 0)
        for index in 0..<workload.repetitions {
            let (lower, upper) = Tracks.titleRange(index, trackCount: workload.trackCount)
            let request = FetchRequest(
                TrackSchema.trackEntity,
                where: .path("title") >= lower && .path("title") < upper)
            let part = try drain(try snapshot.fetch(request), into: &batch, readingFields: true)
            outcome.unitCount += part.unitCount
            outcome.checksum = (outcome.checksum ?? 0) &+ (part.checksum ?? 0)
        }
        return outcome
    }

    /// Fetches the tracks that were played often and whose titles begin with a prefix.
    ///
    /// The unit is an examined track.
    func filterScan() throws -> Outcome {
        try fetch(
            FetchRequest(
                TrackSchema.trackEntity, where: .path("title").beginsWith("Mid") && .path("playCount") > 1000
            ))
    }

    /// Fetches the first hundred tracks by title; the unit is an examined track.
    func sortWithLimit() throws -> Outcome {
        try fetch(FetchRequest(TrackSchema.trackEntity, sortedBy: [.init("title")], limit: 100))
    }

    private func fetch(_ request: FetchRequest) throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        var outcome = try drain(try snapshot.fetch(request), into: &batch, readingFields: true)
        outcome.unitCount = workload.trackCount
        return outcome
    }

    func count() throws -> Outcome { try count(.path("loved") == true) }

    func oneFieldFilter() throws -> Outcome { try count(.path("playCount") > 1000) }

    private func count(_ predicate: FetchRequest.Predicate) throws -> Outcome {
        let count = try snapshot.count(FetchRequest(TrackSchema.trackEntity, where: predicate))
        return Outcome(unitCount: workload.trackCount, checksum: UInt64(count))
    }

    /// Counts the tracks with a word in their title, without regard to case and diacritics.
    func containsFolded() throws -> Outcome {
        try count(
            .comparison(
                .init(
                    left: .keyPath(["title"]), operator: .contains, right: .constant("naive"),
                    options: [.caseInsensitive, .diacriticInsensitive])))
    }

    /// Sums the play counts of all tracks; the unit is the track.
    func sum() throws -> Outcome {
        var request = RowRequest(FetchRequest(TrackSchema.trackEntity))
        request.propertiesToFetch = [.init("sum", expression: .function(.sum, [.keyPath(["playCount"])]))]
        var rows = RowBatch()
        guard try snapshot.rows(request).next(into: &rows), case .int(let sum) = rows[0, 0] else {
            throw BenchmarkError("A sum is missing.")
        }
        return Outcome(unitCount: workload.trackCount, checksum: UInt64(sum))
    }

    func toOnePath() throws -> Outcome { try count(.path("album.year") >= 2020) }

    /// Counts the albums with a track that was played very often; the unit is the track.
    func anyToMany() throws -> Outcome {
        try countAlbums(
            .comparison(
                .init(
                    left: .keyPath(["tracks", "playCount"]), operator: .greater, right: .constant(.int(4800)),
                    modifier: .any)))
    }

    /// Counts the albums with at least four loved tracks; the unit is the track.
    func subquery() throws -> Outcome {
        let loved = FetchRequest.Predicate.comparison(
            .init(left: .path(of: .variable("t"), ["loved"]), operator: .equal, right: .constant(.bool(true))))
        let tracks = FetchRequest.Expression.subquery(.keyPath(["tracks"]), variable: "t", loved)
        return try countAlbums(
            .comparison(
                .init(left: .path(of: tracks, ["@count"]), operator: .greaterOrEqual, right: .constant(.int(4)))))
    }

    private func countAlbums(_ predicate: FetchRequest.Predicate) throws -> Outcome {
        let count = try snapshot.count(FetchRequest(TrackSchema.albumEntity, where: predicate))
        return Outcome(unitCount: workload.trackCount, checksum: UInt64(count))
    }

    // MARK: Links

    /// Reads the IDs of the tracks of scattered albums.
    func linksToMany() throws -> Outcome {
        let relationship = try schema.model.requireRelationship(TrackSchema.tracksOfAlbum)
        var links = LinkBatch(relationship: relationship.number)
        var outcome = Outcome(unitCount: 0, checksum: 0)
        for index in 0..<workload.repetitions {
            let cursor = try snapshot.links(of: TrackSchema.tracksOfAlbum, from: randomAlbum(index))
            while try cursor.next(into: &links) {
                outcome.unitCount += links.count
                for link in links.links { outcome.checksum = (outcome.checksum ?? 0) &+ UInt64(link.target) }
            }
        }
        return outcome
    }

    /// Reads the IDs of the tracks of scattered albums, 1 000 albums with each call.
    func linksToManyTogether() throws -> Outcome {
        let relationship = try schema.model.requireRelationship(TrackSchema.tracksOfAlbum)
        var links = LinkBatch(relationship: relationship.number)
        var outcome = Outcome(unitCount: 0, checksum: 0)
        for start in stride(from: 0, to: workload.repetitions, by: 1000) {
            let albums = (start..<min(start + 1000, workload.repetitions)).map(randomAlbum)
            let cursor = try snapshot.links(of: TrackSchema.tracksOfAlbum, from: albums)
            while try cursor.next(into: &links) {
                outcome.unitCount += links.count
                for link in links.links { outcome.checksum = (outcome.checksum ?? 0) &+ UInt64(link.target) }
            }
        }
        return outcome
    }

    /// Reads scattered tracks, and then the album of each.
    func linksToOne() throws -> Outcome {
        var batch = RecordBatch(model: schema.model)
        var outcome = Outcome(unitCount: 0, checksum: 0)
        for index in 0..<workload.repetitions {
            guard try snapshot.records(with: [randomTrack(index)]).next(into: &batch) else {
                throw BenchmarkError("A track is missing.")
            }
            let album = batch.withRecord(at: 0) { $0.integer(schema.trackFields.album) }
            guard try snapshot.records(with: [ObjectID(TrackSchema.albumEntity, key: album)]).next(into: &batch) else {
                throw BenchmarkError("An album is missing.")
            }
            outcome.unitCount += 1
            outcome.checksum = (outcome.checksum ?? 0) &+ schema.albumChecksum(batch)
        }
        return outcome
    }
}
