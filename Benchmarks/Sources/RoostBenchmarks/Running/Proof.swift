internal import Roost

/// The content of a store in one number, to compare the results of both sides.
enum Proof {
    /// Returns the sum of the checksums of all objects in a store that `side` wrote.
    ///
    /// A checksum includes all fields of an object.
    ///
    /// Throws ``BenchmarkError`` for a migrated store that lacks values that the migration adds.
    static func checksum(of path: String, type: String, side: Side, operation: Operation) throws -> UInt64? {
        if side == .baseline, case .c = operation.baseline {
            let subject = try BaselineSubject("\(type)-read", workload: Workload(trackCount: 0, source: path))
            try subject.open()
            defer { subject.close() }
            return try subject.run(proving: true).checksum
        }
        let store = try StoreRegistry.standard.open(
            StoreLocation(type: type, path: path), options: StoreOptions(isReadOnly: true))
        let migration = side == .roost ? operation.migration : nil
        let sum = try checksum(of: store, form: migration == nil ? operation.source.form : .migrated)
        if let migration { try MigrationProof(migration).check(store) }
        try store.close()
        return sum
    }

    /// Returns the sum of the checksums of all objects in a store, and of the tags of tracks, if
    /// any.
    static func checksum(of store: any PersistentStore, form: TrackForm = .plain) throws -> UInt64 {
        let schema = try TrackSchema(form)
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var batch = RecordBatch(model: store.model)
        var sum: UInt64 = 0
        let albums = try snapshot.records(of: TrackSchema.albumEntity, after: nil)
        while try albums.next(into: &batch) { sum &+= schema.albumChecksum(batch) }
        let tracks = try snapshot.records(of: TrackSchema.trackEntity, after: nil)
        while try tracks.next(into: &batch) { sum &+= schema.checksum(batch) }
        guard let relationship = store.model.relationship(TrackSchema.tagsOfTrack),
            case .links(let owner, let isFlipped) = relationship.storage
        else { return sum }
        // Stores return links from the owning end, so a flipped link has the tag as its source.
        var links = LinkBatch(relationship: owner)
        let cursor = try snapshot.links(of: store.model.relationships[owner].name, after: nil)
        while try cursor.next(into: &links) {
            for var link in links.links {
                if isFlipped { link = link.flipped }
                sum &+= Tracks.tagChecksum(track: link.source, tag: link.target)
            }
        }
        return sum
    }
}
