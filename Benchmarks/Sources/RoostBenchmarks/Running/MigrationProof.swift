internal import Roost
internal import RoostCore

/// A check that a migration added the expected values to every object.
///
/// ``Proof`` compares the other values with those of the baseline's store.
struct MigrationProof {
    private let kind: MigrationKind

    init(_ kind: MigrationKind) { self.kind = kind }

    /// Throws for the first object with a missing or unexpected value.
    func check(_ store: any PersistentStore) throws {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let performers = try performers(snapshot)
        for (entity, title) in [
            (TrackSchema.albumEntity, "title"), (TrackSchema.tagEntity, "title"), (TrackSchema.trackEntity, "name"),
        ] {
            let cursor = try snapshot.records(of: entity, after: nil)
            var batch = RecordBatch(model: store.model)
            while try cursor.next(into: &batch) {
                for index in 0..<batch.count {
                    let object = MigratedObject(id: batch.id(at: index), values: batch.values(at: index))
                    guard try isRight(object, title: title, performers: performers) else {
                        throw BenchmarkError("\(object.id) differs from the expected result of the migration.")
                    }
                }
            }
        }
    }

    private func isRight(_ object: MigratedObject, title: String, performers: [ObjectID: String]) throws -> Bool {
        let isTrack = object.entity == TrackSchema.trackEntity
        let caption = kind == .policies ? CaptionPolicy.caption(object, title: title) : nil
        guard object.string("caption") == caption else { return false }
        guard isTrack else { return true }
        let minutes = kind == .policies ? object.double("duration").map { $0 / 60 } : nil
        guard object.double("minutes") == minutes else { return false }
        guard case .objectID(let id) = object["performer"] else {
            return kind != .lookups || object.string("artist") == nil
        }
        return kind == .lookups && performers[id] != nil && performers[id] == object.string("artist")
    }

    /// Returns the names of all performers; throws if two are equal.
    private func performers(_ snapshot: any StoreSnapshot) throws -> [ObjectID: String] {
        var names: [ObjectID: String] = [:]
        let cursor = try snapshot.records(of: TrackSchema.performerEntity, after: nil)
        var batch = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count {
                let object = MigratedObject(id: batch.id(at: index), values: batch.values(at: index))
                names[object.id] = object.string("name")
            }
        }
        guard Set(names.values).count == names.count else {
            throw BenchmarkError("A performer was created more than once.")
        }
        return names
    }
}

/// An object of a migrated store, decoded.
private struct MigratedObject: CaptionedObject {
    let id: ObjectID
    let values: [String: Value]

    var entity: EntityName { id.entity }

    subscript(name: String) -> Value { values[name] ?? .null }

    func string(_ name: String) -> String? {
        guard case .string(let text) = self[name] else { return nil }
        return text
    }

    func int(_ name: String) -> Int64? {
        guard case .int(let number) = self[name] else { return nil }
        return number
    }

    func double(_ name: String) -> Double? {
        guard case .double(let number) = self[name] else { return nil }
        return number
    }
}
