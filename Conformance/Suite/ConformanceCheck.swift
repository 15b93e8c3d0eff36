package import RoostCore

/// One behavior of the store contract that can be checked on any backend.
///
/// The ID never changes once released, because exclusions and bug reports refer to it.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
    /// The stable name: `group.subject` or `group.subject.detail`.
    public let id: String
    /// The behavior of a store, in one to three sentences.
    public let behavior: String
    /// The capabilities that a store needs for the behavior to apply.
    ///
    /// If one is missing, the opposite is checked; ``missingCapability(on:)`` makes two exceptions.
    package let needs: [StoreCapability]
    private let stores: Stores
    private let body: @Sendable (Workbench) throws -> Void

    enum Stores {
        /// Stores that the check creates and writes itself.
        case new
        /// A sample, which a fixture may provide.
        case sample
        case none
    }

    init(
        _ id: String, _ behavior: String, on stores: Stores = .new, needs: [StoreCapability] = [],
        _ body: @escaping @Sendable (Workbench) throws -> Void
    ) {
        self.id = id
        self.behavior = behavior
        self.stores = stores
        self.needs = (stores == .none ? [] : [.writing]) + needs
        self.body = body
    }

    private var isAboutProcesses: Bool { id.hasPrefix("processes.") }

    /// Returns the first needed capability that the stores lack, or nil if the check runs as
    /// written.
    package func missingCapability(on fixture: StoreFixture) -> StoreCapability? {
        needs.first { capability in
            switch capability {
            // A check within one process needs only stores that can be closed and reopened.
            case .persistence where fixture.keepsClosedStores && !isAboutProcesses:
                false
            // A check that only reads can run on a fixture's sample instead of a new store.
            case .writing where stores == .sample && fixture.sample != nil: false
            default: !fixture.capabilities.contains(capability)
            }
        }
    }

    /// Runs the check in its own directory, or the opposite check if the stores lack a capability.
    ///
    /// Afterwards, unless the opposite ran, open stores must have no damage, and recorded tallies
    /// must equal computed ones. A check that the fixture excludes must fail; see
    /// ``ConformanceExclusion``.
    /// - Throws: ``ConformanceFailure`` if the check fails without an exclusion or passes despite
    ///   one, or if an exclusion of the fixture is invalid.
    public func run(on fixture: StoreFixture) throws(ConformanceFailure) {
        if case .failed(let failure) = result(on: fixture).outcome { throw failure }
    }

    /// Runs the check as ``run(on:)`` does and returns its result.
    package func result(on fixture: StoreFixture) -> ConformanceResult {
        let clock = ContinuousClock()
        let start = clock.now
        let outcome = outcome(on: fixture)
        return ConformanceResult(
            self, store: fixture.name, outcome: outcome, seconds: (clock.now - start) / .seconds(1))
    }

    private func outcome(on fixture: StoreFixture) -> ConformanceResult.Outcome {
        do throws(ConformanceFailure) { try fixture.requireSoundExclusions() } catch { return .failed(error) }
        let exclusion = fixture.exclusions.first { $0.check == id }
        do throws(ConformanceFailure) {
            try execute(on: fixture)
        } catch {
            return exclusion.map { .excluded($0, error) } ?? .failed(error)
        }
        if let exclusion {
            return .failed(
                ConformanceFailure(
                    check: id, store: fixture.name,
                    expected: "a failure, as the exclusion says: \(exclusion.reason)",
                    actual: "it passes: remove the exclusion"))
        }
        return missingCapability(on: fixture).map { .passedAsOpposite($0) } ?? .passed
    }

    private func execute(on fixture: StoreFixture) throws(ConformanceFailure) {
        do {
            let bench = try Workbench(fixture)
            defer { bench.discard() }
            if let missing = missingCapability(on: fixture) {
                try Self.runOpposite(of: missing, on: bench)
            } else {
                try body(bench)
                try bench.examineStores()
            }
        } catch let mismatch as Mismatch {
            throw ConformanceFailure(
                check: id, store: fixture.name, expected: mismatch.expected, actual: mismatch.actual)
        } catch {
            throw ConformanceFailure(check: id, store: fixture.name, expected: behavior, actual: "\(error)")
        }
    }

    /// The ID, which becomes the name of a test case.
    public var description: String { id }

    /// Returns the check with this ID, or nil.
    public static func named(_ id: String) -> ConformanceCheck? { all.first { $0.id == id } }

    /// Every check, in the order of reports.
    public static let all: [ConformanceCheck] = ofContents + ofReads + ofQueries + ofOperations

    /// The checks of the content of stores: records, links and single commits.
    package static let ofContents: [ConformanceCheck] = [
        opening, metadata, values, identity, changes, versions, references, constraints, links, derived, inheritance,
    ].flatMap { $0 }

    /// The checks of snapshots, cursors and simple requests.
    package static let ofReads: [ConformanceCheck] = [
        snapshots, cursors, reading, fetching, fetchingByType, sorting,
    ].flatMap { $0 }

    /// The checks of predicates and rows.
    package static let ofQueries: [ConformanceCheck] = [
        queries, queriesThroughRelationships, hostileQueries, rows,
    ].flatMap { $0 }

    /// The checks of batches, loads, whole stores, history and other processes.
    package static let ofOperations: [ConformanceCheck] = [
        batchInserts, batchUpdates, batchDeletes, bulkLoading, digests, replacing, closing, secrecy, damage,
        compaction, history, historyTokens, historyKeeping, processes, noticesOfProcesses, notices,
    ].flatMap { $0 }
}

/// The failure of a check on a store.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The ID of the check.
    package let check: String
    /// The name of the fixture.
    package let store: String
    package let expected: String
    package let actual: String

    package init(check: String, store: String, expected: String, actual: String) {
        (self.check, self.store, self.expected, self.actual) = (check, store, expected, actual)
    }

    /// The whole failure as text.
    public var description: String { "\(check) on \(store)\n  expected: \(expected)\n  actual:   \(actual)" }
}

/// A failed expectation of a check, without the check's ID.
struct Mismatch: Error, CustomStringConvertible {
    let expected: String
    let actual: String
    var description: String { "expected: \(expected); actual: \(actual)" }
}
