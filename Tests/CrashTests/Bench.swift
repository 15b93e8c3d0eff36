import Foundation
import Roost
import RoostConformance
import RoostCore

/// The writable backends that keep a store in a file.
enum FileBackends {
    static let all = names([.writing, .persistence, .file])
    /// The backends whose stores several processes may write at the same time.
    static let shared = names([.writing, .persistence, .file, .multipleProcesses])

    private static func names(_ capabilities: [StoreCapability]) -> [String] {
        return StoreRegistry.standard.all.filter { type in
            capabilities.allSatisfy { type.capabilities.contains($0) }
        }.map(\.name)
    }
}

/// The directory of one test.
final class Bench {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("roost-crash-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func location(_ type: String) -> StoreLocation {
        StoreLocation(type: type, path: directory.appendingPathComponent("store").path)
    }
}

/// Returns the seed in an environment variable, or a random seed.
func seed(named variable: String) -> UInt64 {
    ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
}
