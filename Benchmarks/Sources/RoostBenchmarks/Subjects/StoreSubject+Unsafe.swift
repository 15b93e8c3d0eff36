internal import CTracks
internal import Foundation
internal import Roost
import RoostCore

/// Works on a store through `Store`, as programs do.
final class StoreSubject: Subject {
    enum Work: Sendable {
        /// Reads every track as a record.
        case records
        /// Reads every track as a `Codable` struct.
        case structs
        /// Inserts rows durably; if `isRuled`, the model has validation rules.
        case rows(isRuled: Bool)
        /// Inserts `Codable` structs durably.
        case encoded
    }

    /// A track as programs declare it.
    private struct TrackValue: Codable {
        var title: String
        var artist: String?
        var duration: Double
        var playCount: Int64
        var loved: Bool
        var date: Date
        var uuid: UUID
        var thumb: Data?
        var album: ObjectID
    }

    private let type: String
    private let workload: Workload
    private let work: Work
    private let schema: TrackSchema
    private var store: Store?

    init(_ type: String, workload: Workload, work: Work) throws {
        (self.type, self.workload, self.work) = (type, workload, work)
        schema = try TrackSchema()
    }

    func open() throws {
        let model = if case .rows(true) = work { try Self.ruled(schema.model) } else { schema.model }
        store = try Store(try openStore(type, workload: workload, schema: schema), model: model, registry: .standard)
    }

    func close() throws {
        try store?.close()
        store = nil
    }

    /// Returns the model with validation rules, which do not change the version hashes.
    private static func ruled(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: model.entityDescriptions.map { entity in
                entity.with { entity in
                    for index in entity.attributes.indices {
                        entity.attributes[index] = entity.attributes[index].with { attribute in
                            switch attribute.name {
                            case "title":
                                attribute.validation = AttributeValidation(
                                    minimumLength: 1, maximumLength: 80, regularExpression: ".*")
                            case "playCount": attribute.validation = AttributeValidation(minimum: 0)
                            case "duration":
                                attribute.validation = AttributeValidation(
                                    minimum: .double(-1e9), maximum: .double(1e9))
                            default: break
                            }
                        }
                    }
                }
            })
    }

    func run(proving: Bool) throws -> Outcome {
        guard let store else { throw BenchmarkError("The store is not open.") }
        switch work {
        case .records:
            var outcome = Outcome(unitCount: 0, checksum: proving ? 0 : nil)
            var batch = RecordBatch(model: schema.model)
            try store.forEach(FetchRequest(TrackSchema.trackEntity)) { record in
                outcome.unitCount += 1
                guard proving else { return }
                batch.removeAll()
                batch.append(record)
                outcome.checksum = (outcome.checksum ?? 0) &+ schema.checksum(batch)
            }
            return outcome
        case .structs:
            var outcome = Outcome(unitCount: 0, checksum: proving ? 0 : nil)
            try store.forEach(TrackValue.self, of: TrackSchema.trackEntity) { track in
                outcome.unitCount += 1
                if track.title.isEmpty { throw BenchmarkError("A title is missing.") }
            }
            // The structs have no keys, so a proof takes the checksum of the records.
            if proving {
                outcome.checksum = try store.read { view in
                    var (sum, batch) = (UInt64(0), RecordBatch(model: schema.model))
                    for record in try view.fetch(TrackSchema.trackEntity) {
                        batch.removeAll()
                        batch.append(record)
                        sum &+= schema.checksum(batch)
                    }
                    return sum
                }
            }
            return outcome
        case .rows, .encoded: return try insert(store)
        }
    }

    /// Commits transactions of new tracks, each durable before the next begins.
    private func insert(_ store: Store) throws -> Outcome {
        var outcome = Outcome(unitCount: 0, checksum: 0)
        var value = track()
        var number = Int64(workload.trackCount)
        for _ in 0..<workload.repetitions {
            var values: [TrackValue] = []
            for _ in 0..<workload.batchSize {
                number += 1
                let checksum = Tracks.make(number, albumCount: workload.albumCount, into: &value)
                outcome.checksum = (outcome.checksum ?? 0) &+ checksum
                values.append(Self.value(of: value))
            }
            if case .encoded = work {
                try store.insert(values, into: TrackSchema.trackEntity)
            } else {
                try store.insert(TrackSchema.trackEntity, rows: values.lazy.map(Self.row))
            }
            outcome.unitCount += 1
        }
        return outcome
    }

    private static func row(_ track: TrackValue) -> [String: Value] {
        [
            "title": .string(track.title), "artist": track.artist.map { .string($0) } ?? .null,
            "duration": .double(track.duration), "playCount": .int(track.playCount), "loved": .bool(track.loved),
            "date": .date(track.date), "uuid": .uuid(track.uuid), "thumb": track.thumb.map { .data($0) } ?? .null,
            "album": .objectID(track.album),
        ]
    }

    private static func value(of track: borrowing track) -> TrackValue {
        func text(_ bytes: some BitwiseCopyable, length: Int16) -> [UInt8] {
            withUnsafeBytes(of: bytes) { Array($0.prefix(Int(length))) }
        }
        return TrackValue(
            title: String(decoding: text(track.title, length: track.title_length), as: UTF8.self),
            artist: track.artist_length < 0
                ? nil : String(decoding: text(track.artist, length: track.artist_length), as: UTF8.self),
            duration: track.duration, playCount: track.play_count, loved: track.loved != 0,
            date: Date(timeIntervalSinceReferenceDate: track.date), uuid: UUID(uuid: track.uuid),
            thumb: track.thumb_length < 0 ? nil : Data(text(track.thumb, length: track.thumb_length)),
            album: ObjectID(TrackSchema.albumEntity, key: track.album))
    }
}
