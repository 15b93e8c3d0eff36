internal import Foundation
internal import Roost

/// The program that measures Roost's objects on several types of store, and objects of other
/// libraries.
@main
struct ObjectBench {
    /// Other libraries, added by hand; see ``ObjectLayer``.
    static func others(in directory: URL) throws -> [any ObjectLayer] { [] }

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("objects: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ arguments: [String]) throws {
        var (count, rounds) = (200_000, 5)
        var types: [String] = []
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts.first ?? "", parts.count == 2 ? Int(parts[1]) : nil) {
            case ("--objects", let value?) where value >= 20: count = value
            case ("--rounds", let value?) where value > 0: rounds = value
            case ("memory", nil), ("sqlite", nil), ("lmdb", nil), ("json", nil): types.append(argument)
            default:
                throw StoreError(
                    .invalidRequest,
                    "usage: ObjectBenchmarks [memory] [sqlite] [lmdb] [json] [--objects=N] [--rounds=N], not '\(argument)'"
                )
            }
        }
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "roost-objects-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var layers: [any ObjectLayer] = []
        for type in types.isEmpty ? ["memory", "sqlite", "lmdb"] : types {
            let layer = try RoostLayer(type, in: directory)
            let insert = try ContinuousClock().measure { try layer.insert(count) }
            print("\(layer.name), \(count) albums, \(rounds) rounds, medians, nanoseconds for each object")
            print(
                line(
                    "insert with 4 properties and a reference, and save", nanoseconds: nanoseconds(insert, per: count),
                    limit: nil))
            for cost in try ObjectCosts(layer, count: count, rounds: rounds).lines() {
                print(line(cost.name, nanoseconds: cost.nanoseconds, limit: cost.limit))
            }
            print("")
            layers.append(layer)
        }
        try compare(layers + others(in: directory), count: count, known: layers.count)
    }

    /// Times the operations of ``ObjectLayer`` on all layers, and requires equal results.
    private static func compare(_ layers: [any ObjectLayer], count: Int, known: Int) throws {
        for layer in layers.dropFirst(known) { try layer.insert(count) }
        let operations: [(String, (any ObjectLayer) throws -> Int)] = [
            ("read all", { try $0.readAll() }), ("read references", { try $0.readReferences() }),
            (
                "update all and save",
                {
                    try $0.updateAll(); return 0
                }
            ), ("count of a year", { try $0.count(year: 1971) }),
        ]
        for (name, operation) in operations {
            print("\(name), nanoseconds for each object of the store")
            var expected: Int?
            for layer in layers {
                var result = 0
                _ = try operation(layer)
                let time = try ContinuousClock().measure { result = try operation(layer) }
                if let expected, expected != result {
                    throw StoreError(
                        .verificationFailed, "\(layer.name) read other content than \(layers[0].name): \(name).")
                }
                expected = result
                print(line(layer.name, nanoseconds: nanoseconds(time, per: count), limit: nil))
            }
            print("")
        }
    }

    private static func nanoseconds(_ time: Duration, per count: Int) -> Double {
        (Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9) / Double(count)
    }

    private static func line(_ name: String, nanoseconds: Double, limit: Double?) -> String {
        let mark = limit.map {
            nanoseconds <= $0 ? String(format: "limit %.0f", $0) : String(format: "limit %.0f: EXCEEDED", $0)
        }
        let padded = name.padding(toLength: 52, withPad: " ", startingAt: 0)
        return "  \(padded)\(String(format: "%10.1f", nanoseconds))  \(mark ?? "")"
    }
}
