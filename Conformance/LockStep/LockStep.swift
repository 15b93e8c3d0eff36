internal import Foundation
package import RoostCore

/// Random operations on several stores, compared with a plain model of the contract.
///
/// A seed generates the operations: change sets of all kinds, bulk loads, reserved keys, reads,
/// fetches, open snapshots and reopenings. Digests are compared after each commit and load, and the
/// whole content from time to time and at the end. A failing sequence is shrunk and printed as
/// Swift code.
public enum LockStep {
    /// The counts of a run.
    public struct Summary: Sendable, CustomStringConvertible {
        /// The number of operations, including those without an effect.
        package internal(set) var operationCount = 0
        /// The number of commits and loads that the plain model accepts, abandoned loads included.
        package internal(set) var writtenCount = 0
        /// The number of commits and loads that the plain model refuses, including abandoned loads.
        package internal(set) var refusedCount = 0
        /// The number of scans, reads, walks, fetches and compared snapshots.
        package internal(set) var readCount = 0

        /// The counts in one line.
        public var description: String {
            "\(operationCount) operations: \(writtenCount) commits and loads written, \(refusedCount) refused, \(readCount) reads"
        }

        mutating func count(_ step: LockStepStep) {
            operationCount += 1
            switch step {
            case .commit(_, let refusal, _), .load(_, let refusal, _):
                if refusal == nil { writtenCount += 1 } else { refusedCount += 1 }
            case .scan, .read, .walk, .fetch, .closeSnapshot: readCount += 1
            default: break
            }
        }
    }

    /// Runs generated operations on new stores of all fixtures side by side.
    ///
    /// - Parameters:
    ///   - fixtures: The stores; each is compared with the plain model, and so with the others.
    ///   - seed: The seed of the operations.
    ///   - operationCount: The number of operations.
    ///   - shrinkingSeconds: The time limit for shrinking a failing sequence.
    /// - Returns: The numbers of operations by kind.
    /// - Throws: ``LockStepFailure`` with the seed, the shortest failing sequence found, and its
    ///   Swift code.
    @discardableResult
    public static func run(
        on fixtures: [StoreFixture], seed: UInt64, operationCount: Int, shrinkingSeconds: Double = 120
    ) throws(LockStepFailure) -> Summary {
        var operations: [LockStepOperation] = []
        var summary = Summary()
        var failure: LockStepReplay.Failure?
        do throws(StoreError) {
            let model = try ConformanceModel.standard(for: fixtures)
            var replay = LockStepReplay(on: fixtures, model: model)
            defer { replay.discard() }
            var generator = LockStepGenerator(seed: seed)
            while failure == nil, operations.count < operationCount {
                let operation = generator.next(replay.model)
                operations.append(operation)
                failure = replay.perform(operation, comparingAll: false) { summary.count($0) }
            }
            if failure == nil { failure = replay.finish() }
        } catch {
            throw LockStepFailure(
                seed: seed, operationNumber: 0, failure: LockStepReplay.Failure(withoutModel: error).failure,
                operations: [], swiftCode: "")
        }
        guard let failure else { return summary }
        let fixture = fixtures[failure.lane]
        var shrinker = LockStepShrinker(
            on: fixture, deadline: ContinuousClock.now + .seconds(shrinkingSeconds))
        let shortest = shrinker.shrink(operations, failure: failure)
        throw LockStepFailure(
            seed: seed, operationNumber: operations.count, failure: shortest.failure.failure,
            operations: shortest.operations, swiftCode: LockStepCode.text(shortest.operations, on: fixture))
    }

    /// Returns the operations that ``run(on:seed:operationCount:shrinkingSeconds:)`` generates for
    /// stores with uniqueness constraints.
    package static func operations(seed: UInt64, count: Int) throws(StoreError) -> [LockStepOperation] {
        var model = LockStepModel(try ConformanceModel.standard.get())
        var generator = LockStepGenerator(seed: seed)
        var operations: [LockStepOperation] = []
        while operations.count < count {
            let operation = generator.next(model)
            _ = try model.step(operation)
            operations.append(operation)
        }
        return operations
    }

    /// Applies operations to new stores, and compares everything after each commit and load.
    ///
    /// - Throws: ``ConformanceFailure``.
    package static func replay(
        _ operations: [LockStepOperation], on fixtures: [StoreFixture]
    ) throws(ConformanceFailure) {
        if let failure = LockStepReplay.failure(of: operations, on: fixtures, comparingAll: true) {
            throw failure.failure
        }
    }
}

/// A difference between a store and the plain model.
public struct LockStepFailure: Error, Sendable, CustomStringConvertible {
    package let seed: UInt64
    /// The number of operations until the failure showed; 0 if no model could be created.
    package let operationNumber: Int
    /// The failure of the shortest sequence.
    package let failure: ConformanceFailure
    package let operations: [LockStepOperation]
    /// The shortest sequence as the body of a test.
    package let swiftCode: String

    /// The whole failure as text.
    public var description: String {
        """
        \(failure)
          ROOST_LOCKSTEP_SEED=\(seed), at operation \(operationNumber); the shortest sequence found has \(operations.count):

        \(swiftCode)
        """
    }
}

/// A running sequence: the plain model, and a ``LockStepLane`` for each store.
struct LockStepReplay {
    struct Failure {
        /// The index of the fixture.
        var lane: Int
        /// The number of the operation, from 0.
        var index: Int
        var failure: ConformanceFailure
    }

    private(set) var model: LockStepModel
    private let fixtures: [StoreFixture]
    private var lanes: [LockStepLane] = []
    private var index = 0
    private var writeCount = 0
    /// The number of writes between comparisons of contents.
    ///
    /// Comparing contents costs far more than comparing digests, and finds few more differences.
    private static let writesBetweenContents = 50

    init(on fixtures: [StoreFixture], model: ManagedObjectModel) {
        self.fixtures = fixtures
        self.model = LockStepModel(model)
    }

    /// Applies one operation to the model and all stores.
    mutating func perform(
        _ operation: LockStepOperation, comparingAll: Bool, _ report: (LockStepStep) -> Void = { _ in }
    ) -> Failure? {
        defer { index += 1 }
        if let failure = makeLanes() { return failure }
        let step: LockStepStep
        do throws(StoreError) {
            step = try model.step(operation)
        } catch {
            return failed(0, error: Mismatch(expected: "an operation of the model", actual: "\(error)"))
        }
        report(step)
        var digest: StoreDigest?
        var compares = false
        switch step {
        case .commit, .load:
            digest = model.reference.digest
            writeCount += 1
            compares = comparingAll || writeCount % Self.writesBetweenContents == 0
        default: break
        }
        return each { lane in
            try lane.perform(step, reference: model.reference, digest: digest)
            if compares { try lane.compareContents(model.reference) }
        }
    }

    /// Compares all contents once more and examines the stores.
    mutating func finish() -> Failure? {
        if let failure = makeLanes() { return failure }
        return each { lane in
            try lane.compareContents(model.reference)
            try lane.examine()
        }
    }

    func discard() { for lane in lanes { lane.discard() } }

    private mutating func makeLanes() -> Failure? {
        guard lanes.isEmpty else { return nil }
        for (number, fixture) in fixtures.enumerated() {
            do { lanes.append(try LockStepLane(fixture, model: model.reference.model)) } catch {
                return failed(number, error: error)
            }
        }
        return nil
    }

    private func each(_ body: (LockStepLane) throws -> Void) -> Failure? {
        for (number, lane) in lanes.enumerated() {
            do { try body(lane) } catch { return failed(number, error: error) }
        }
        return nil
    }

    private func failed(_ lane: Int, error: any Error) -> Failure {
        let mismatch = error as? Mismatch ?? Mismatch(expected: "no error", actual: "\(error)")
        return Failure(
            lane: lane, index: index,
            failure: ConformanceFailure(
                check: "lockstep", store: fixtures[lane].name, expected: mismatch.expected, actual: mismatch.actual))
    }

    /// Returns the first failure of the operations on new stores, if any.
    static func failure(
        of operations: [LockStepOperation], on fixtures: [StoreFixture], comparingAll: Bool
    ) -> Failure? {
        let model: ManagedObjectModel
        do throws(StoreError) { model = try ConformanceModel.standard(for: fixtures) } catch {
            return Failure(withoutModel: error)
        }
        var replay = LockStepReplay(on: fixtures, model: model)
        defer { replay.discard() }
        for operation in operations {
            if let failure = replay.perform(operation, comparingAll: comparingAll) { return failure }
        }
        return replay.finish()
    }
}

extension LockStepReplay.Failure {
    /// Creates the failure of a run for which no model can be created.
    init(withoutModel error: StoreError) {
        self.init(
            lane: 0, index: 0,
            failure: ConformanceFailure(check: "lockstep", store: "", expected: "a model", actual: "\(error)"))
    }
}
