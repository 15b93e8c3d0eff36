import Testing

@testable import RoostCore
@testable import RoostQuery

@Suite("Links of damaged stores")
struct DamagedLinkTests {
    @Test("a scan for an object's links fails at a damaged record, because the record may have a link")
    func damagedDestination() throws {
        let snapshot = DamagedSnapshot(try RowSamples.library(), damaged: ObjectID("Track", key: 2))
        let error = #expect(throws: StoreError.self) {
            try snapshot.links(of: RelationshipName("Album", name: "tracks"), from: ObjectID("Album", key: 1))
        }
        #expect(error?.code == .corrupted)
        // The error names no damaged object, because a caller must not continue after it.
        #expect(error?.damagedObject == nil)
        // The records of other hierarchies are not read.
        let albums = try snapshot.links(
            of: RelationshipName("Artist", name: "albums"), from: ObjectID("Artist", key: 1))
        var batch = LinkBatch(relationship: 0)
        #expect(try albums.next(into: &batch))
        #expect(batch.links.map(\.target) == [1])
    }
}

private final class DamagedSnapshot: ScanningSnapshot {
    let model: ManagedObjectModel
    private let base: BatchSnapshot
    private let damaged: ObjectID

    init(_ base: BatchSnapshot, damaged: ObjectID) { (self.base, model, self.damaged) = (base, base.model, damaged) }

    func requireOpen() throws(StoreError) {}
    func close() {}

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        let cursor = try base.records(of: entity, after: id)
        guard entity == damaged.entity else { return cursor }
        return Cursor(cursor, damaged: damaged)
    }

    private final class Cursor: RecordCursor {
        private let base: any RecordCursor
        private let damaged: ObjectID
        private var hasFailed = false

        init(_ base: any RecordCursor, damaged: ObjectID) { (self.base, self.damaged) = (base, damaged) }

        func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
            guard hasFailed else {
                hasFailed = true
                batch.removeAll()
                throw StoreError(.corrupted, "damaged", damagedObject: damaged)
            }
            return try base.next(into: &batch)
        }
    }
}
