import Foundation
import Roost
import RoostMigration
import RoostSystem

/// The files in `Tests/Fixtures`, in a directory for each version of each format, like `sqlite-2`.
enum KeptFiles {
    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures").path

    /// The digest of the kept content, as a program that wrote format version 2 computed it.
    static let digest = "1848815c460f5110-44-33"

    /// The directories that hold stores, with their type and version.
    static let stores: [KeptStore] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().compactMap { name in
            let parts = name.split(separator: "-")
            guard parts.count == 2, let version = Int(parts[1]), fileTypes.contains(String(parts[0])) else {
                return nil
            }
            return KeptStore(type: String(parts[0]), version: version)
        }
    }()

    static func path(_ name: String) -> String { "\(directory)/\(name)" }
    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }
    static func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
}

/// A store that a program of one format version wrote.
struct KeptStore: Sendable, CustomStringConvertible {
    let type: String
    let version: Int

    var description: String { "\(type)-\(version)" }
    var kind: any PersistentStoreType {
        get throws { try StoreRegistry.standard.type(named: type) }
    }

    /// Copies the store and any log into a directory, and returns the location of the copy.
    func copy(_ name: String = "store", to folder: Folder) throws -> StoreLocation {
        for suffix in ["", "-wal", "-journal"] where KeptFiles.exists("\(self)/\(name)\(suffix)") {
            try FileManager.default.copyItem(
                atPath: KeptFiles.path("\(self)/\(name)\(suffix)"), toPath: folder.file(name + suffix))
        }
        return StoreLocation(type: type, path: folder.file(name))
    }
}

/// The types whose stores are files that can be written.
let fileTypes = StoreRegistry.standard.all
    .filter { $0.capabilities.contains(.writing) && $0.capabilities.contains(.file) }.map(\.name)

/// The directory of one test.
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
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file(name)))) }
    func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: file(name))) }
}

func error(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
        return nil
    } catch { return error as? StoreError }
}

func dump(_ store: any PersistentStore) throws -> (text: [UInt8], digest: String) {
    let text = Text()
    let digest = try MigrationManager(registry: .standard).dump(store) { bytes throws(StoreError) in text.append(bytes)
    }
    return (text.bytes, "\(digest)")
}

func load(_ bytes: [UInt8], into destination: ConversionEndpoint) throws {
    let source = Text()
    source.append(bytes)
    _ = try MigrationManager(registry: .standard).load(into: destination, from: "a kept dump") {
        buffer throws(StoreError) in
        source.take(into: buffer)
    }
}

/// Bytes that are written and read in parts.
final class Text: Sendable {
    private let content = Mutex<(bytes: [UInt8], position: Int)>(([], 0))

    var bytes: [UInt8] { content.withLock { $0.bytes } }
    func append(_ bytes: [UInt8]) { content.withLock { $0.bytes += bytes } }
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        content.withLock { content in
            let count = min(buffer.count, content.bytes.count - content.position)
            buffer.copyBytes(from: content.bytes[content.position..<content.position + count])
            content.position += count
            return count
        }
    }
}
