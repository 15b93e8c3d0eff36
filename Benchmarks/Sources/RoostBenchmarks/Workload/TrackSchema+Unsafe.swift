internal import CTracks
internal import Roost
import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension TrackSchema {
    /// Appends a track of the workload field by field, without decoded values.
    func append(_ value: borrowing track, version: UInt32 = 1, to batch: inout RecordBatch) throws(StoreError) {
        let fields = trackFields
        batch.beginRecord(trackLayout, key: value.id, version: version)
        if fields.playCount.kind == .integer64 {
            batch.setInteger64(value.play_count, for: fields.playCount)
        } else {
            try batch.setInteger(value.play_count, for: fields.playCount)
        }
        batch.setInteger64(value.album, for: fields.album)
        try batch.setDouble(value.duration, for: fields.duration)
        try batch.setDouble(value.date, for: fields.date)
        try batch.setInteger(Int64(value.loved), for: fields.loved)
        // The other fields follow in the layout's order: the UUID, texts by name, then data.
        try withUnsafeBytes(of: value.uuid) { (bytes) throws(StoreError) in try batch.setUUID(bytes, for: fields.uuid) }
        try Self.set(value.artist, length: value.artist_length, field: fields.artist, in: &batch)
        try Self.set(value.title, length: value.title_length, field: fields.title, in: &batch)
        try Self.set(value.thumb, length: value.thumb_length, field: fields.thumb, in: &batch)
        batch.endRecord()
    }

    /// Appends the record of a track with the changes of the benchmark "update" at `index`.
    ///
    /// As in C, copies the record and replaces two values.
    func appendUpdate(of record: RecordReader, at index: Int, to batch: inout RecordBatch) throws(StoreError) {
        let fields = trackFields
        batch.beginRecord(copying: record)
        try batch.setInteger(track_updated_play_count(record.integer(fields.playCount)), for: fields.playCount)
        try batch.setDouble(track_updated_date(UInt64(index)), for: fields.date)
        batch.endRecord()
    }

    func append(_ value: borrowing album, to batch: inout RecordBatch) throws(StoreError) {
        batch.beginRecord(albumLayout, key: value.id, version: 1)
        batch.setInteger64(value.year, for: albumFields.year)
        try Self.set(value.title, length: value.title_length, field: albumFields.title, in: &batch)
        batch.endRecord()
    }

    private static func set<Storage: BitwiseCopyable>(
        _ storage: Storage, length: Int16, field: RecordLayout.Field, in batch: inout RecordBatch
    ) throws(StoreError) {
        guard length >= 0 else { return }
        try withUnsafeBytes(of: storage) { (bytes) throws(StoreError) in
            try batch.setBytes(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(length))), for: field)
        }
    }

    /// Reads every field of a track's record, as the baselines read every column.
    func read(_ record: RecordReader, into out: inout track) {
        let fields = trackFields
        out.id = record.key
        out.play_count = record.integer(fields.playCount)
        out.album = record.integer(fields.album)
        out.duration = record.double(fields.duration)
        out.date = record.double(fields.date)
        out.loved = record.boolean(fields.loved) ? 1 : 0
        withUnsafeMutableBytes(of: &out.uuid) { $0.copyMemory(from: record.bytes(fields.uuid)) }
        out.title_length = Self.copy(record, field: fields.title, to: &out.title)
        out.artist_length = Self.copy(record, field: fields.artist, to: &out.artist)
        out.thumb_length = Self.copy(record, field: fields.thumb, to: &out.thumb)
    }

    func read(_ record: RecordReader, into out: inout album) {
        out.id = record.key
        out.year = record.integer(albumFields.year)
        out.title_length = Self.copy(record, field: albumFields.title, to: &out.title)
    }

    private static func copy<Storage: BitwiseCopyable>(
        _ record: RecordReader, field: RecordLayout.Field, to storage: inout Storage
    ) -> Int16 {
        guard !record.isNull(field) else { return -1 }
        let bytes = record.bytes(field)
        return withUnsafeMutableBytes(of: &storage) { storage in
            let count = min(bytes.count, storage.count)
            if count > 0, let target = storage.baseAddress, let source = bytes.baseAddress {
                // SAFETY: both have at least `count` bytes.
                memcpy(target, source, count)
            }
            return Int16(truncatingIfNeeded: count)
        }
    }

    /// Returns the sum of the checksums of a batch of tracks.
    func checksum(_ batch: RecordBatch) -> UInt64 {
        var value = track()
        var sum: UInt64 = 0
        batch.forEachRecord { record in
            read(record, into: &value)
            sum &+= track_checksum(&value)
        }
        return sum
    }

    /// Returns the sum of the checksums of a batch of albums.
    func albumChecksum(_ batch: RecordBatch) -> UInt64 {
        var value = album()
        var sum: UInt64 = 0
        batch.forEachRecord { record in
            read(record, into: &value)
            sum &+= album_checksum(&value)
        }
        return sum
    }
}
