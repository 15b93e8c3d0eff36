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
        if schema.form == .tagged { try appendTags(to: loader, schema) }
    }

    /// Passes the tags to a loader, which follow from their numbers and are never in memory together.
    private func appendTags(to loader: any BulkLoader, _ schema: TrackSchema) throws(StoreError) {
        let layout = try schema.model.requireEntity(TrackSchema.tagEntity).layout
        let title = try layout.requireField("title")
        let tagCount = albums.count
        var batch = RecordBatch(model: schema.model)
        for number in 0..<tagCount {
            batch.beginRecord(layout, key: Int64(number + 1), version: 1)
            try batch.set(.string(Tracks.tagTitle(number + 1)), title)
            batch.endRecord()
            try Self.flush(&batch, to: loader, whenFull: true)
        }
        try Self.flush(&batch, to: loader, whenFull: false)
        let relationship = try schema.model.requireRelationship(TrackSchema.tagsOfTrack)
        let isFlipped: Bool
        let owner: ManagedObjectModel.Relationship
        switch relationship.storage {
        case .links(let number, let flipped): (owner, isFlipped) = (schema.model.relationships[number], flipped)
        default: throw StoreError(.internalInconsistency, "The tags of tracks are no links.")
        }
        var links = LinkBatch(relationship: owner.number)
        for index in tracks.indices {
            for tag in Tracks.tags(of: index + 1, tagCount: tagCount) {
                let link = Link(Int64(index + 1), tag)
                links.links.append(isFlipped ? link.flipped : link)
            }
            guard links.isFull else { continue }
            try loader.append(links)
            links.removeAll()
        }
        if !links.isEmpty { try loader.append(links) }
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
