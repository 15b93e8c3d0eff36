package import RoostCore

/// One behavior of contexts and managed objects that can be checked on any store.
///
/// A released ID never changes. ``all`` lists every check except ``processes``. A check creates its
/// own stores, with the type and the options of a ``StoreFixture``:
///
/// ```swift
/// for check in GraphCheck.all { try await check.run(on: StoreFixture(MyStoreType())) }
/// ```
package struct GraphCheck: Sendable, CustomStringConvertible {
    /// The origin of a behavior.
    package enum Origin: String, Sendable {
        /// The behavior of Core Data.
        case apple = "A"
        /// The behavior of Roost, because Core Data defines none or differs.
        case roost = "R"
        /// A behavior with parts of both origins.
        case both = "A/R"
    }

    package enum Outcome: Sendable {
        case passed
        /// The stores lack a capability that the check needs.
        case skipped(StoreCapability)
        case failed(ConformanceFailure)
    }

    /// The stable name, `group.subject`.
    package let id: String
    /// The behavior, in one to three sentences.
    package let behavior: String
    package let origin: Origin
    /// The capabilities that stores must have for the behavior to apply.
    package let needs: [StoreCapability]
    private let body: @Sendable (GraphBench) async throws -> Void

    init(
        _ id: String, _ behavior: String, _ origin: Origin, needs: [StoreCapability] = [],
        _ body: @escaping @Sendable (GraphBench) throws -> Void
    ) {
        (self.id, self.behavior, self.origin, self.needs) = (id, behavior, origin, [.writing] + needs)
        self.body = { bench in try body(bench) }
    }

    init(
        waiting id: String, _ behavior: String, _ origin: Origin, needs: [StoreCapability] = [],
        _ body: @escaping @Sendable (GraphBench) async throws -> Void
    ) {
        (self.id, self.behavior, self.origin, self.needs) = (id, behavior, origin, [.writing] + needs)
        self.body = body
    }

    /// Runs the check in its own directory, and examines the stores that it leaves open.
    package func outcome(on fixture: StoreFixture) async -> Outcome {
        let missing = needs.first { capability in
            // Within one process, it suffices that a closed store can be reopened.
            if capability == .persistence, fixture.keepsClosedStores { return false }
            return !fixture.capabilities.contains(capability)
        }
        if let missing { return .skipped(missing) }
        do {
            let bench = GraphBench(try Workbench(fixture))
            defer { bench.workbench.discard() }
            try await body(bench)
            try bench.workbench.examineStores()
            return .passed
        } catch let mismatch as Mismatch {
            return .failed(
                ConformanceFailure(
                    check: id, store: fixture.name, expected: mismatch.expected, actual: mismatch.actual))
        } catch {
            return .failed(
                ConformanceFailure(check: id, store: fixture.name, expected: behavior, actual: "\(error)"))
        }
    }

    /// Runs the check as ``outcome(on:)`` does.
    ///
    /// - Throws: ``ConformanceFailure`` for every failure.
    package func run(on fixture: StoreFixture) async throws(ConformanceFailure) {
        if case .failed(let failure) = await outcome(on: fixture) { throw failure }
    }

    /// The ID, which becomes the name of a test case.
    package var description: String { id }

    package static func named(_ id: String) -> GraphCheck? { all.first { $0.id == id } }

    /// All checks, in the order in which reports list them.
    package static let all: [GraphCheck] = ofObjects + ofResults

    /// The checks of objects and their changes.
    package static let ofObjects: [GraphCheck] = [
        identity, faults, insertion, changing, relations, orderedRelations, deletion, validation, saving, conflicts,
        constraintConflicts, refreshing, merging, fetching, edges, flights, undoing, children,
    ].flatMap { $0 }

    /// The checks of results that follow changes.
    package static let ofResults: [GraphCheck] = results
}
