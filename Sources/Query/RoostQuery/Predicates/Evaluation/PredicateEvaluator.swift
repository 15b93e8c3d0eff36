internal import RoostCore

/// Runs a program on records, one after the other; for one thread.
///
/// An error ends the evaluation of a record: what is asked then gives false and null, and ``failure`` says what happened. So the
/// conditions that cannot fail need not be asked each time.
final class PredicateEvaluator {
    // Exclusivity of the properties below is not checked at run time: each access reads or writes a whole value, within which nothing
    // else runs, and every node of every record makes some.

    let program: PredicateProgram
    /// Where related objects are; nil where none are asked for.
    private let graph: (any ObjectGraph)?
    /// Copies of them, once one was asked for: most evaluators never do.
    @exclusivity(unchecked) private var copies: RelatedRecords?
    let memory = RowMemory()
    /// The record that is looked at; nil where an expression is evaluated without one.
    @exclusivity(unchecked) var record: RecordReader?
    /// What variables are bound to.
    @exclusivity(unchecked) var variables: [PredicateOperand]
    /// The first error since it was looked at last.
    @exclusivity(unchecked) private(set) var failure: StoreError?
    /// Arrays that no path uses just now, so that each record needs no new one.
    @exclusivity(unchecked) private var spareKeys: [[Int64]] = []
    /// The same of what paths remember.
    @exclusivity(unchecked) private var spareVisits: [VisitedObjects] = []

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - program: What is evaluated.
    ///   - graph: Where related objects are; nil where none are asked for.
    init(_ program: PredicateProgram, graph: (any ObjectGraph)?) {
        self.program = program
        self.graph = graph
        variables = [PredicateOperand](repeating: .null, count: program.variableCount)
    }

    // MARK: Records

    /// Turns to another record: what was made for the one before is gone.
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

    /// The record of an object; nil where there is none.
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

    /// Reads records that will be asked for soon, many at once.
    func load(_ keys: some Sequence<Int64>, inHierarchyOf root: Int) {
        guard root >= 0, let related else { return }
        do throws(StoreError) {
            try related.load(keys, inHierarchyOf: root)
        } catch {
            fail(error)
        }
    }

    /// As ``load(_:inHierarchyOf:)``; false instead of an error.
    func loadQuietly(_ keys: some Sequence<Int64>, inHierarchyOf root: Int) -> Bool {
        guard root >= 0, let related else { return false }
        return (try? related.load(keys, inHierarchyOf: root)) != nil
    }

    /// The record of an object if it is at hand; nothing is read.
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

    /// Runs `body` with the keys of the objects that a to-many relationship leads to; false as it does, or after an error.
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
