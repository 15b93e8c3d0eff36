internal import CTracks
internal import Roost

/// All objects of the workload, in memory, as the C baselines have them before they write.
final class TrackLibrary {
    let albums: UnsafeMutableBufferPointer<album>
    let tracks: UnsafeMutableBufferPointer<track>

    init(trackCount: Int) {
        let albumCount = Tracks.albumCount(trackCount: trackCount)
        albums = .allocate(capacity: albumCount)
        tracks = .allocate(capacity: trackCount)
        albums.initialize(repeating: album())
        tracks.initialize(repeating: track())
        for index in albums.indices { album_make(Int64(index + 1), &albums[index]) }
        for index in tracks.indices { track_make(Int64(index + 1), Int64(albumCount), &tracks[index]) }
    }

    deinit {
        albums.deallocate()
        tracks.deallocate()
    }

    /// Passes all objects to a loader, in batches.
    func append(to loader: any BulkLoader, _ schema: TrackSchema) throws(StoreError) {
        var batch = RecordBatch(model: schema.model)
        for index in albums.indices {
            try schema.append(albums[index], to: &batch)
            try Self.flush(&batch, to: loader, whenFull: true)
        }
        for index in tracks.indices {
            try schema.append(tracks[index], to: &batch)
            try Self.flush(&batch, to: loader, whenFull: true)
        }
        try Self.flush(&batch, to: loader, whenFull: false)
    }

    /// Inserts all objects in durable commits of `commitCount` objects each.
    func commit(to store: any PersistentStore, _ commitCount: Int, _ schema: TrackSchema) throws(StoreError) {
        var changes = ChangeSet(model: schema.model)
        for index in albums.indices {
            try schema.append(albums[index], to: &changes.inserts)
            try Self.commit(&changes, to: store, whenAt: commitCount)
        }
        for index in tracks.indices {
            try schema.append(tracks[index], to: &changes.inserts)
            try Self.commit(&changes, to: store, whenAt: commitCount)
        }
        try Self.commit(&changes, to: store, whenAt: 1)
    }

    private static func commit(
        _ changes: inout ChangeSet, to store: any PersistentStore, whenAt count: Int
    ) throws(StoreError) {
        guard changes.inserts.count >= count else { return }
        _ = try store.commit(changes)
        changes.inserts.removeAll()
    }

    private static func flush(
        _ batch: inout RecordBatch, to loader: any BulkLoader, whenFull: Bool
    ) throws(StoreError) {
        guard !batch.isEmpty, !whenFull || batch.isFull else { return }
        try loader.append(batch)
        batch.removeAll()
    }
}
