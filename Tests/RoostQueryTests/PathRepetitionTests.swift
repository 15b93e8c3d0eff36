import Foundation
import Testing

@testable import RoostCore
@testable import RoostQuery

/// Layers of nodes with many paths: each node is connected to all nodes of the next layer.
private struct Layers {
    static let width = 4
    static let depth = 6
    let model: ManagedObjectModel
    private let records: RecordBatch
    let graph: BatchGraph

    init() throws {
        model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Node", attributes: [.init("number", type: .integer64)],
                relationships: [
                    .toMany("next", to: "Node", inverse: "previous"), .toMany("previous", to: "Node", inverse: "next"),
                ])
        ])
        var records = RecordBatch(model: model)
        var next: [Int64: [Int64]] = [:]
        for layer in 0...Self.depth {
            for index in 0..<Self.width {
                let key = Int64(layer * Self.width + index + 1)
                try records.append(ObjectID("Node", key: key), values: ["number": .int(key)])
                guard layer < Self.depth else { continue }
                next[key] = (0..<Self.width).map { Int64((layer + 1) * Self.width + $0 + 1) }
            }
        }
        self.records = records
        graph = BatchGraph(records, links: [RelationshipName("Node", name: "next"): next])
    }

    /// Returns the names in a path through `count` layers.
    static func path(_ count: Int = depth, rest: [String] = ["number"]) -> [String] {
        Array(repeating: "next", count: count) + rest
    }

    /// Whether the first node meets a predicate.
    func holds(_ predicate: FetchRequest.Predicate) throws -> Bool {
        let matcher = try RecordFilter(FetchRequest("Node", where: predicate), model: model).matcher(over: graph)
        return try records.withRecord(at: 0) { (record) throws(StoreError) in try matcher.matches(record) }
    }

    func holds(_ text: String) throws -> Bool {
        try holds(FetchRequest.Predicate(text, for: "Node", model: model))
    }
}

@Suite("Converging paths")
struct PathRepetitionTests {
    /// The path through all layers, without a field.
    private static let far = Layers.path(Layers.depth, rest: []).joined(separator: ".")
    /// The number of nodes that paths leave: the first node and the inner layers.
    private static let nodeCount = 1 + (Layers.depth - 1) * Layers.width
    private static let last = Int64((Layers.depth + 1) * Layers.width)

    @Test(
        "a condition whose result ignores repetitions reads each object of converging paths once",
        arguments: [
            ("ANY \(far).number > 1000", false), ("ANY \(far).number == \(last)", true),
            ("ALL \(far).number > 20", true), ("NONE \(far).number == 7", true),
            ("\(far) CONTAINS 7", false), ("7 IN \(far)", false), ("\(last) IN \(far)", true),
            ("SUBQUERY(\(far), $n, $n.number > 1000).@count > 0", false),
            ("ANY SUBQUERY(\(far), $n, $n.number > 0).number > 1000", false),
            ("\(last) IN \(far).@distinctUnionOfObjects.number", true),
            ("\(far).@max.number == \(last)", true), ("\(far).@min.number == \(last - 3)", true),
            ("max(\(far).number) == \(last)", true),
            ("(\(far) UNION \(far))[SIZE] == 4", true), ("(\(far) MINUS \(far))[SIZE] == 0", true),
        ])
    func once(_ text: String, expected: Bool) throws {
        let layers = try Layers()
        #expect(try layers.holds(text) == expected)
        // Each path reads a node once, and a set operation has two paths.
        #expect(layers.graph.linkReadCount <= Self.nodeCount * (text.contains("(\(Self.far) ") ? 2 : 1), "\(text)")
    }

    @Test("a condition on objects that many paths reach is evaluated once for each object")
    func conditions() throws {
        let layers = try Layers()
        let (near, rest) = (Layers.path(3, rest: []).joined(separator: "."), Layers.path(3).joined(separator: "."))
        #expect(try !layers.holds("SUBQUERY(\(near), $n, ANY $n.\(rest) > 1000).@count > 0"))
        // One path goes to the middle layer, and one path starts at each of its nodes.
        let (toMiddle, fromMiddle) = (1 + 2 * Layers.width, 1 + 2 * Layers.width)
        #expect(layers.graph.linkReadCount <= toMiddle + Layers.width * fromMiddle)
        // A path that continues after SUBQUERY also reads each node once.
        let second = try Layers()
        #expect(try !second.holds("ANY SUBQUERY(\(near), $n, $n.number > 0).\(rest) > 1000"))
        #expect(second.graph.linkReadCount <= Self.nodeCount)
    }

    @Test("counts, sums and averages follow every path to an object")
    func everyWay() throws {
        let layers = try Layers()
        let ways = (0..<Layers.depth).reduce(1) { count, _ in count * Layers.width }
        let sum = ways / Layers.width * (0..<Layers.width).reduce(0) { $0 + Int(Self.last) - $1 }
        for text in [
            "\(Self.far).@count == \(ways)", "\(Self.far)[SIZE] == \(ways)", "count(\(Self.far).number) == \(ways)",
            "\(Self.far).@sum.number == \(sum)", "sum(\(Self.far).number) == \(sum)",
            "\(Self.far).@avg.number == \(Double(sum) / Double(ways))",
            "SUBQUERY(\(Self.far), $n, $n.number > 0).@count == \(ways)",
            "SUBQUERY(\(Self.far), $n, $n.number > 0).@count > \(ways - 1)",
            "count(\(Self.far).@unionOfObjects.number) == \(ways)",
            "count(\(Self.far).@distinctUnionOfObjects.number) == \(Layers.width)",
        ] { #expect(try layers.holds(text), "\(text)") }
    }

    @Test("objects beyond the memory limit of VisitedObjects count as not visited")
    func memory() {
        let visited = VisitedObjects(mostPlaces: 256)
        visited.begin()
        for key in 0..<Int64(1000) { #expect(visited.insert(key, at: 3)) }
        let remembered = (0..<Int64(1000)).filter { !visited.insert($0, at: 3) }
        #expect(remembered == Array(0..<128))
        visited.begin()
        #expect(visited.insert(5, at: 3) && !visited.insert(5, at: 3) && visited.insert(5, at: 4))
    }
}
