internal import Foundation
package import RoostCore
internal import RoostQuery

/// Random fetch requests on stores of several types, compared with ``PlainFetch`` and
/// ``PlainRows``.
///
/// A world is a model with random indexes and random objects. Each world gets many requests. Some
/// requests also run without indexes. For some requests, the results of related requests must
/// agree:
///
/// - A predicate and its negation divide the objects.
/// - A request with a limit and an offset gives a part of the whole result.
/// - A predicate that was printed and parsed again selects the same objects.
///
/// All stores must refuse a meaningless request with the same code.
package enum QueryCampaign {
    package struct Summary: Sendable, CustomStringConvertible {
        package internal(set) var caseCount = 0
        /// The number of requests that matched some objects, but not all, or gave several rows.
        package internal(set) var dividingCount = 0
        /// The number of invalid requests, which every store refused.
        package internal(set) var refusedCount = 0

        package var description: String {
            "\(caseCount) requests: \(dividingCount) chose some of the objects, \(refusedCount) were refused"
        }
    }

    /// Runs requests in random worlds, with new stores of all fixtures for each world.
    ///
    /// - Throws: A shrunk ``QueryFailure``, or an error of creating a store.
    package static func run(
        on fixtures: [StoreFixture], seed: UInt64, caseCount: Int, casesPerWorld: Int = 250
    ) throws -> Summary {
        try CampaignFunctions.register()
        var random = SeededGenerator(seed: seed)
        var summary = Summary()
        while summary.caseCount < caseCount {
            let worldSeed = random.next() >> 16
            let count = min(casesPerWorld, caseCount - summary.caseCount)
            do {
                try runWorld(worldSeed, on: fixtures, caseCount: count, summary: &summary)
            } catch let failure as QueryShrinker.Failure {
                throw QueryFailure(seed: seed, failure: failure)
            }
        }
        return summary
    }

    private static func runWorld(
        _ seed: UInt64, on fixtures: [StoreFixture], caseCount: Int, summary: inout Summary
    ) throws {
        let world = try QueryWorld(seed: seed, hasConstraints: fixtures.allSatisfy(\.keepsConstraints))
        let plain = try QueryOracle(world)
        var lanes: [QueryLane] = []
        defer { for lane in lanes { lane.close() } }
        for fixture in fixtures { lanes.append(try QueryLane(fixture, world: world)) }
        var generator = QueryGenerator(world, seed: seed)
        for number in 0..<caseCount {
            let isRefused = generator.random.oneIn(12)
            let isRows = !isRefused && generator.random.oneIn(7)
            let request =
                isRefused
                ? RowRequest(generator.senselessRequest())
                : (isRows ? generator.rowsRequest() : RowRequest(generator.request()))
            let expected = isRefused ? try lanes[0].answer(request) : try plain.answer(request)
            summary.caseCount += 1
            if isRefused { try requireRefusal(expected, of: request, by: lanes[0], in: world) }
            switch expected {
            case .keys(let keys):
                var all = request
                all.predicate = nil
                if !keys.isEmpty, try plain.answer(all) != expected { summary.dividingCount += 1 }
            case .rows(let rows): if rows.count > 1 { summary.dividingCount += 1 }
            case .refusal: summary.refusedCount += 1
            }
            for (index, lane) in lanes.enumerated() {
                // A fault shows in many requests, so each request gets only some of the comparisons.
                let isCounted = (index + number) % 3 == 0
                let isRelated = index == number / 3 % lanes.count && number % 3 == 0
                do {
                    try lane.compare(request, with: expected, inEveryWay: isCounted)
                    if isRelated, !isRefused, !isRows { try lane.compareRelated(request, salt: seed &+ UInt64(number)) }
                } catch let difference as QueryLane.Difference {
                    var shrinker = QueryShrinker(
                        on: isRefused && index > 0 ? [lanes[0].fixture, lane.fixture] : [lane.fixture],
                        salt: seed &+ UInt64(number), isRelated: isRelated && !isRefused && !isRows,
                        isRefused: isRefused)
                    throw shrinker.shrink(world, request: request, expected: expected, difference: difference)
                }
            }
        }
    }

    /// Requires that the first store refuses a senseless request.
    ///
    /// The others are compared only with it, so without this check all could accept the request.
    private static func requireRefusal(
        _ answer: QueryLane.Answer, of request: RowRequest, by lane: QueryLane, in world: QueryWorld
    ) throws {
        if case .refusal = answer { return }
        throw QueryShrinker.Failure(
            store: lane.fixture.name, world: world, request: request,
            difference: .init(subject: "a senseless request", expected: "an error", actual: "\(answer)"),
            answer: .refusal(.invalidRequest, ""), original: request.predicate)
    }
}

/// The results of ``PlainFetch`` and ``PlainRows`` in a world.
struct QueryOracle {
    private let fetch: PlainFetch
    private let rows: PlainRows

    init(_ world: QueryWorld) throws {
        let (graph, text) = (try world.graph(), PlainText())
        (fetch, rows) = (PlainFetch(graph, text: text), PlainRows(graph, text: text))
    }

    func answer(_ request: RowRequest) throws(StoreError) -> QueryLane.Answer {
        request.propertiesToFetch.isEmpty ? .keys(try fetch.keys(request.fetchRequest)) : .rows(try rows.rows(request))
    }
}

/// A difference between a store and plain evaluation, between two stores, or between two answers of
/// a store.
package struct QueryFailure: Error, Sendable, CustomStringConvertible {
    package let seed: UInt64
    /// The name of the fixture.
    package let store: String
    /// The shortest failing request.
    public let request: RowRequest
    /// The number of objects that the failure needs.
    package let objectCount: Int
    package let difference: String
    /// The predicate of ``request``.
    package let text: String
    /// The predicate of the original failure.
    package let original: String
    /// The failure as the body of a test.
    package let swiftCode: String

    init(seed: UInt64, failure: QueryShrinker.Failure) {
        self.seed = seed
        original = failure.original.map { (try? $0.format()) ?? "\($0)" } ?? ""
        store = failure.store
        request = failure.request
        objectCount = failure.world.objects.count
        text = failure.request.predicate.map { (try? $0.format()) ?? "\($0)" } ?? "all objects"
        difference =
            "\(failure.difference.subject): expected \(failure.difference.expected); actual \(failure.difference.actual)"
        swiftCode = failure.swiftCode
    }

    package var description: String {
        """
        \(store): \(difference)
          ROOST_QUERY_SEED=\(seed); with \(objectCount) objects, \(request.entity): \(text)
          at first: \(original)

        \(swiftCode)
        """
    }
}
