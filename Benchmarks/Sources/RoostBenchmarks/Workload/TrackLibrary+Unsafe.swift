internal import CTracks
internal import Roost
import RoostCore

/// All objects of the workload, created in memory before the write, as in the C baselines.
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
    func append(to loader: any BulkLoader, schema: TrackSchema) throws(StoreError) {
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
        if schema.form == .tagged { try appendTags(to: loader, schema: schema) }
    }

    /// Passes the tags and their links with tracks to a loader.
    private func appendTags(to loader: any BulkLoader, schema: TrackSchema) throws(StoreError) {
        let layout = try schema.model.requireEntity(TrackSchema.tagEntity).layout
        let title = try layout.requireField("title")
        let tagCount = albums.count
        var batch = RecordBatch(model: schema.model)
        for number in 0..<tagCount {
            batch.beginRecord(layout, key: Int64(number + 1), version: 1)
            try batch.set(.string(Tracks.tagTitle(number + 1)), for: title)
            batch.endRecord()
            try Self.flush(&batch, to: loader, whenFull: true)
        }
        try Self.flush(&batch, to: loader, whenFull: false)
        let relationship = try schema.model.requireRelationship(TrackSchema.tagsOfTrack)
        guard case .links(let owner, let isFlipped) = relationship.storage else {
            throw StoreError(.internalInconsistency, "the tags of tracks are not links")
        }
        var links = LinkBatch(relationship: owner)
        // Links in the order of their owning end are appended without a search.
        for pair in isFlipped ? tracksByTag(tagCount) : tagsByTrack(tagCount) {
            links.links.append(Link(pair.source, pair.target))
            guard links.isFull else { continue }
            try loader.append(links)
            links.removeAll()
        }
        if !links.isEmpty { try loader.append(links) }
    }

    /// Returns a pair for each tag of each track, ordered by track.
    private func tagsByTrack(_ tagCount: Int) -> any Sequence<(source: Int64, target: Int64)> {
        tracks.indices.lazy.flatMap { index in
            Tracks.tags(of: index + 1, tagCount: tagCount).map { (Int64(index + 1), $0) }
        }
    }

    /// Returns a pair for each track of each tag, ordered by tag.
    private func tracksByTag(_ tagCount: Int) -> any Sequence<(source: Int64, target: Int64)> {
        var tracksOfTags = [[Int64]](repeating: [], count: tagCount)
        for index in tracks.indices {
            for tag in Tracks.tags(of: index + 1, tagCount: tagCount) {
                tracksOfTags[Int(tag) - 1].append(Int64(index + 1))
            }
        }
        return tracksOfTags.indices.lazy.flatMap { tag in
            tracksOfTags[tag].map { (Int64(tag + 1), $0) }
        }
    }

    /// Inserts all objects in durable commits of `commitCount` objects each.
    func commit(to store: any PersistentStore, commitCount: Int, schema: TrackSchema) throws(StoreError) {
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
