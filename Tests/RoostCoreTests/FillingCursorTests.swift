import RoostCore
import Testing

private enum Step {
    case record(Int64)
    case damage(Int64)
    case failure
}

private final class SteppedCursor: FillingRecordCursor {
    var steps: [Step]
    var isClosed = false
    var finishCount = 0

    init(_ steps: [Step], model: ManagedObjectModel) {
        self.steps = steps
        super.init(model: model)
    }

    override func requireOpen() throws(StoreError) { if isClosed { throw StoreError(.closed, "Closed.") } }
    override func finish() { finishCount += 1 }

    override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        while !steps.isEmpty {
            switch steps.removeFirst() {
            case .record(let key): try batch.append(ObjectID("Thing", key: key), values: [:])
            case .damage(let key):
                throw StoreError(.corrupted, "Damaged.", damagedObject: ObjectID("Thing", key: key))
            case .failure: throw StoreError(.ioFailure, "Failed.")
            }
        }
        return false
    }
}

private final class SteppedLinks: FillingLinkCursor {
    var batches: [[Link]?]
    var finishCount = 0

    init(_ batches: [[Link]?]) {
        self.batches = batches
        super.init(relationship: 3)
    }

    override func finish() { finishCount += 1 }

    override func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        batch.links.append(Link(9, 9))
        guard let links = batches.removeFirst() else { throw StoreError(.corrupted, "Damaged.") }
        batch.links = links
        return !batches.isEmpty
    }
}

@Suite("Cursors that fill batches")
struct FillingCursorTests {
    private let model: ManagedObjectModel

    init() throws { model = try ManagedObjectModel(entities: [EntityDescription("Thing")]) }

    /// Returns the keys or the error code of each batch.
    private func run(_ cursor: SteppedCursor) throws -> [String] {
        var batch = RecordBatch(model: model)
        var found: [String] = []
        while found.count < 20 {
            do throws(StoreError) {
                guard try cursor.next(into: &batch) else { return found + ["end"] }
                found.append((0..<batch.count).map { "\(batch.key(at: $0))" }.joined(separator: " "))
            } catch {
                #expect(batch.isEmpty)
                found.append(error.code.description)
            }
        }
        return found
    }

    @Test("a cursor returns the records before damage, then the error, then later records")
    func damage() throws {
        let cursor = SteppedCursor(
            [.damage(1), .record(2), .record(3), .damage(4), .damage(5), .record(6)], model: model)
        #expect(try run(cursor) == ["corrupted", "2 3", "corrupted", "corrupted", "6", "end"])
        #expect(cursor.finishCount == 1)
    }

    @Test("a cursor ends at an error other than damage, with an empty batch")
    func failure() throws {
        let cursor = SteppedCursor([.record(1), .failure, .record(2)], model: model)
        #expect(try run(cursor) == ["ioFailure", "end"])
        #expect(cursor.finishCount == 1)
        var batch = RecordBatch(model: model)
        #expect(try !cursor.next(into: &batch))
        #expect(cursor.steps.count == 1)
    }

    @Test("a cursor that ends with an error first returns the records before it")
    func endWithError() throws {
        final class Ending: FillingRecordCursor {
            override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
                try batch.append(ObjectID("Thing", key: 1), values: [:])
                end(with: StoreError(.corrupted, "Out of order."))
                return true
            }
        }
        let cursor = Ending(model: model)
        var batch = RecordBatch(model: model)
        #expect(try cursor.next(into: &batch))
        #expect(throws: StoreError.self) { try cursor.next(into: &batch) }
        #expect(try !cursor.next(into: &batch))
    }

    @Test("a cursor that is closed or gets a batch of another model throws and loses no record")
    func closed() throws {
        let cursor = SteppedCursor([.record(1)], model: model)
        var other = RecordBatch(model: try ManagedObjectModel(entities: [EntityDescription("Other")]))
        #expect(throws: StoreError.self) { try cursor.next(into: &other) }
        cursor.isClosed = true
        var batch = RecordBatch(model: model)
        #expect(throws: StoreError.self) { try cursor.next(into: &batch) }
        cursor.isClosed = false
        #expect(try run(cursor) == ["1", "end"])
    }

    @Test("a link cursor ends after an error and leaves its batch empty")
    func links() throws {
        var batch = LinkBatch(relationship: 0)
        let sound = SteppedLinks([[Link(1, 2)], []])
        #expect(try sound.next(into: &batch))
        #expect(batch.links == [Link(1, 2)] && batch.relationship == 3)
        #expect(try !sound.next(into: &batch))
        #expect(sound.finishCount == 1)
        let damaged = SteppedLinks([nil, [Link(1, 2)]])
        #expect(throws: StoreError.self) { try damaged.next(into: &batch) }
        #expect(batch.isEmpty)
        #expect(try !damaged.next(into: &batch))
        #expect(damaged.batches.count == 1 && damaged.finishCount == 1)
    }
}
