internal import RoostCore

/// An evaluator that runs a program on one record after another.
///
/// Use an evaluator from one thread at a time.
///
/// An error is stored in ``failure`` until ``requireSuccess()`` throws it. Most code does not check
/// for errors, so all results between an error and that call are undefined.
final class PredicateEvaluator {
    // The exclusivity of some properties is not checked, because every node accesses them for every
    // record. Each access reads or writes a whole value without running other code.

    let program: PredicateProgram
    /// The source of related objects; nil if related objects are not available.
    private let graph: (any ObjectGraph)?
    /// Copies of related objects; created on first use, because most evaluators need none.
    @exclusivity(unchecked) private var copies: RelatedRecords?
    let memory = RowMemory()
    /// The current record; nil while an expression is evaluated without a record.
    @exclusivity(unchecked) var record: RecordReader?
    @exclusivity(unchecked) var variables: [PredicateOperand]
    /// The first error since the last call of ``requireSuccess()``.
    @exclusivity(unchecked) private(set) var failure: StoreError?
    @exclusivity(unchecked) private var spareKeys: [[Int64]] = []
    @exclusivity(unchecked) private var spareVisits: [VisitedObjects] = []

    init(_ program: PredicateProgram, graph: (any ObjectGraph)?) {
        self.program = program
        self.graph = graph
        variables = [PredicateOperand](repeating: .null, count: program.variableCount)
    }

    // MARK: Records

    /// Begins the next record, and discards the values that were created for the previous record.
    func begin(_ record: RecordReader?) {
        memory.removeAll()
        copies?.beginRecord()
        self.record = record
    }

    func isTrue(_ node: PredicateProgram.Index, of record: RecordReader?) throws(StoreError) -> Bool {
        begin(record)
        let isTrue = isTrue(node)
        try requireSuccess()
        return isTrue
    }

    /// Throws and clears the stored error, if any.
    func requireSuccess() throws(StoreError) {
        guard let failure else { return }
        self.failure = nil
        throw failure
    }

    func fail(_ error: StoreError) { if failure == nil { failure = error } }

    var hasFailed: Bool { failure != nil }

    // MARK: Related objects

    private var related: RelatedRecords? {
        if copies == nil { copies = graph.map { RelatedRecords($0, model: program.model) } }
        return copies
    }

    /// Returns the record of an object; nil if the object does not exist, or after an error.
    func relatedRecord(_ key: Int64, inHierarchyOf root: Int) -> RecordReader? {
        guard root >= 0 else { return nil }
        guard let related else {
            fail(StoreError(.unsupported, "This store does not support predicates on related objects."))
            return nil
        }
        do throws(StoreError) {
            return try related.record(key, inHierarchyOf: root)
        } catch {
            fail(error)
            return nil
        }
    }

    /// Reads records that will be needed soon, in few calls.
    func load(_ keys: some Sequence<Int64>, inHierarchyOf root: Int) {
        guard root >= 0, let related else { return }
        do throws(StoreError) {
            try related.load(keys, inHierarchyOf: root)
        } catch {
            fail(error)
        }
    }

    /// Reads like ``load(_:inHierarchyOf:)``, but stores no error; returns false after a failure.
    func loadQuietly(_ keys: some Sequence<Int64>, inHierarchyOf root: Int) -> Bool {
        guard root >= 0, let related else { return false }
        return (try? related.load(keys, inHierarchyOf: root)) != nil
    }

    func loadedRecord(_ key: Int64, inHierarchyOf root: Int) -> RecordReader? {
        copies?.loadedRecord(key, inHierarchyOf: root)
    }

    func withVisitedObjects(_ body: (VisitedObjects) -> Bool) -> Bool {
        let visited = spareVisits.popLast() ?? VisitedObjects()
        defer { spareVisits.append(visited) }
        visited.begin()
        return body(visited)
    }

    /// Runs `body` with the keys of the destinations of a to-many relationship; returns false if
    /// `body` does, or after an error.
    func withDestinations(
        of relationship: Int, from key: Int64, _ body: ([Int64]) -> Bool
    ) -> Bool {
        guard let related else {
            fail(StoreError(.unsupported, "This store does not support predicates on related objects."))
            return false
        }
        var keys = spareKeys.popLast() ?? []
        defer {
            keys.removeAll(keepingCapacity: true)
            spareKeys.append(keys)
        }
        do throws(StoreError) {
            try related.appendDestinations(of: program.model.relationships[relationship], from: key, to: &keys)
        } catch {
            fail(error)
            return false
        }
        return body(keys)
    }
}
