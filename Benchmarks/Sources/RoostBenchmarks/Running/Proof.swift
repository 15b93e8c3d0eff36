internal import Roost

/// What a store holds in one number, to compare what both sides wrote.
enum Proof {
    /// The sum of the checksums of all objects in a store that `side` wrote, from all of their fields.
    static func checksum(of path: String, _ type: String, _ side: Side) throws -> UInt64? {
        if side == .baseline {
            let subject = try BaselineSubject("\(type)-read", Workload(trackCount: 0, source: path))
            try subject.open()
            defer { subject.close() }
            return try subject.run(proving: true).checksum
        }
        let store = try StoreRegistry.builtIn.open(
            StoreURL(type: type, path: path), options: StoreOptions(isReadOnly: true))
        let sum = try checksum(of: store)
        try store.close()
        return sum
    }

    /// The sum of the checksums of all objects in a store.
    static func checksum(of store: any PersistentStore) throws -> UInt64 {
        let schema = try TrackSchema()
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var batch = RecordBatch(model: store.model)
        var sum: UInt64 = 0
        let albums = try snapshot.records(of: TrackSchema.albumEntity, after: nil)
        while try albums.next(into: &batch) { sum &+= schema.albumChecksum(batch) }
        let tracks = try snapshot.records(of: TrackSchema.trackEntity, after: nil)
        while try tracks.next(into: &batch) { sum &+= schema.checksum(batch) }
        return sum
    }
}
