import Foundation
import Roost
import RoostStores

/// A directory for one test.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("roost-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        // If the removal fails, the system removes the files.
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
    func names() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: path).sorted() }
    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file(name)))) }

    /// Writes a file, and the directories above it.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let location = URL(fileURLWithPath: file(name))
        try FileManager.default.createDirectory(
            at: location.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: location)
        return location.path
    }

    /// Writes a document into this directory under `name` and returns its configuration.
    func configuration(
        _ document: String, name: String = "roost.json", environment: [String: String] = [:]
    ) throws -> RoostConfiguration {
        try RoostConfiguration(file: try write(document, to: name), workingDirectory: path, environment: environment)
    }
}

/// The types whose stores can be written and need no server.
let writableTypes = StoreRegistry.standard.withoutServers.filter { $0.capabilities.contains(.writing) }.map(\.name)
/// The writable types whose stores are files.
let fileTypes = StoreRegistry.standard.all
    .filter { $0.capabilities.contains(.writing) && $0.capabilities.contains(.file) }.map(\.name)

func model(_ attribute: String = "name") throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [EntityDescription("Artist", attributes: [.string(attribute)])])
}

func error(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
        return nil
    } catch { return error as? StoreError }
}
