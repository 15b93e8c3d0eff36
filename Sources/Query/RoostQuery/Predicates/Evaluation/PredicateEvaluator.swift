internal import RoostCore

/// Runs a program on records, one after another; for one thread.
///
/// After an error, the evaluation of the record only gives false and null, and ``failure`` has the
/// error. So the conditions that cannot fail need no check each time.
final class PredicateEvaluator {
    // Exclusivity of the properties below is not checked at run time: each access reads or writes a
    // whole value, within which nothing else runs, and every node of every record makes some.

    let program: PredicateProgram
    /// The source of related objects; nil if predicates cannot use any.
    private let graph: (any ObjectGraph)?
    /// Copies of them, created at the first use: most evaluators never need any.
    @exclusivity(unchecked) private var copies: RelatedRecords?
    let memory = RowMemory()
    /// The record that is looked at; nil where an expression is evaluated without one.
    @exclusivity(unchecked) var record: RecordReader?
    /// The values that variables are bound to.
    @exclusivity(unchecked) var variables: [PredicateOperand]
    /// The first error since it was looked at last.
    @exclusivity(unchecked) private(set) var failure: StoreError?
    /// Arrays that no path is using, so that a record needs no new one.
    @exclusivity(unchecked) private var spareKeys: [[Int64]] = []
    /// The same for what paths remember.
    @exclusivity(unchecked) private var spareVisits: [VisitedObjects] = []

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - program: The program to run.
    ///   - graph: The source of related objects; nil if predicates cannot use any.
    init(_ program: PredicateProgram, graph: (any ObjectGraph)?) {
        self.program = program
        self.graph = graph
        variables = [PredicateOperand](repeating: .null, count: program.variableCount)
    }

    // MARK: Records

    /// Begins another record and discards what was made for the previous one.
    func begin(_ record: RecordReader?) {
        memory.removeAll()
        copies?.beginRecord()
        self.record = record
    }

    /// Whether a record meets a condition; throws what makes that impossible to say.
    func isTrue(_ node: PredicateProgram.Index, of record: RecordReader?) throws(StoreError) -> Bool {
        begin(record)
        let isTrue = isTrue(node)
        try requireSuccess()
        return isTrue
    }

    /// Throws the error that an evaluation has met, once.
    func requireSuccess() throws(StoreError) {
        guard let failure else { return }
        self.failure = nil
        throw failure
    }

    /// Keeps the first error.
    func fail(_ error: StoreError) { if failure == nil { failure = error } }

    /// Whether an error was met, so that nothing more need be looked at.
    var hasFailed: Bool { failure != nil }

    // MARK: Related objects

    private var related: RelatedRecords? {
        if copies == nil { copies = graph.map { RelatedRecords($0, model: program.model) } }
        return copies
    }

    /// Returns the record of an object; nil if it does not exist, or after an error.
    func relatedRecord(_ key: Int64, inHierarchyOf root: Int) -> RecordReader? {
        guard root >= 0 else { return nil }
        guard let related else {
            fail(StoreError(.unsupported, "This store does not show related objects to predicates."))
            return nil
        }
        do throws(StoreError) {
            return try related.record(key, inHierarchyOf: root)
        } catch {
            fail(error)
            return nil
        }
    }

    /// Reads records that will be needed soon, many at once.
    func load(_ keys: some Sequence<Int64>, inHierarchyOf root: Int) {
        guard root >= 0, let related else { return }
        do throws(StoreError) {
            try related.load(keys, inHierarchyOf: root)
        } catch {
            fail(error)
        }
    }

    /// Reads as ``load(_:inHierarchyOf:)`` does; returns false instead of an error.
    func loadQuietly(_ keys: some Sequence<Int64>, inHierarchyOf root: Int) -> Bool {
        guard root >= 0, let related else { return false }
        return (try? related.load(keys, inHierarchyOf: root)) != nil
    }

    /// Returns the record of an object if it was read before.
    func loadedRecord(_ key: Int64, inHierarchyOf root: Int) -> RecordReader? {
        copies?.loadedRecord(key, inHierarchyOf: root)
    }

    /// Runs `body` with something that remembers objects, and nothing yet.
    func withVisitedObjects(_ body: (VisitedObjects) -> Bool) -> Bool {
        let visited = spareVisits.popLast() ?? VisitedObjects()
        defer { spareVisits.append(visited) }
        visited.begin()
        return body(visited)
    }

    /// Runs `body` with the keys of the destinations of a to-many relationship; false if `body`
    /// returns false, or after an error.
    func withDestinations(
        of relationship: Int, from key: Int64, _ body: ([Int64]) -> Bool
    ) -> Bool {
        guard let related else {
            fail(StoreError(.unsupported, "This store does not show related objects to predicates."))
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
