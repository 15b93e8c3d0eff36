import Foundation
import RoostCore
import TestSamples
import Testing

/// Real models and stores outside the package.
///
/// Without them, tests are skipped.
enum Corpus {
    static let path = CorpusFolder.path

    static let isPresent = FileManager.default.fileExists(atPath: path + "/_derived/stores.json")

    /// The sorted paths of all model versions, relative to the corpus.
    static let models: [String] = files { $0.hasSuffix(".xcdatamodel") }

    static let bundles: [String] = files { $0.hasSuffix(".xcdatamodeld") }

    private static func files(where matches: (String) -> Bool) -> [String] {
        guard isPresent, let walk = FileManager.default.enumerator(atPath: path) else { return [] }
        return walk.compactMap { $0 as? String }.filter(matches).sorted()
    }

    /// The facts that other tools found in each store.
    static let stores: [StoreFacts] = {
        guard isPresent, let data = FileManager.default.contents(atPath: path + "/_derived/stores.json"),
            let list = try? JSONSerialization.jsonObject(with: data) as? [[String: Any]]
        else { return [] }
        return list.compactMap(StoreFacts.init)
    }()
}

/// One entry of `_derived/stores.json`.
struct StoreFacts: Sendable, CustomTestStringConvertible {
    let path: String
    /// The number of objects of each concrete entity, without Core Data's internal entities.
    let entities: [String: Int]
    let joinTables: [String: Int]
    /// The paths of the model versions whose hashes equal the store's hashes.
    let exactModels: [String]
    /// Apple's hash of each entity, in hexadecimal digits.
    let versionHashes: [String: String]

    init?(_ json: [String: Any]) {
        guard let path = json["path"] as? String, let entities = json["entities"] as? [String: Any],
            let joinTables = json["join_tables"] as? [String: Int],
            let models = json["model_exact_matches"] as? [String],
            let hashes = json["versionHashes"] as? [String: String]
        else { return nil }
        self.path = path
        self.entities = entities.compactMapValues { $0 as? Int }
        self.joinTables = joinTables
        exactModels = models
        versionHashes = hashes
    }

    var fullPath: String { Corpus.path + "/" + path }
    var testDescription: String { path.split(separator: "/").suffix(1).joined() }
}

/// A directory for one test, which is removed at the end of the process.
///
/// A store in the directory may outlive this object.
final class TemporaryDirectory: Sendable {
    private static let made: Mutex<[String]> = {
        atexit { TemporaryDirectory.removeAll() }
        return Mutex([])
    }()

    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/roost-coredata-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let path = path
        Self.made.withLock { $0.append(path) }
    }

    private static func removeAll() {
        for path in made.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }

    func file(_ name: String) -> String { path + "/" + name }

    func write(_ text: String, to name: String) throws {
        let location = URL(fileURLWithPath: file(name))
        try FileManager.default.createDirectory(
            at: location.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: location)
    }
}

/// Returns the store error that `body` throws; throws ``Missing`` if `body` succeeds.
func failure<T>(_ body: () throws -> T, sourceLocation: SourceLocation = #_sourceLocation) throws -> StoreError {
    do {
        _ = try body()
    } catch let error as StoreError {
        return error
    }
    throw Missing(sourceLocation: sourceLocation)
}

/// The error of ``failure(_:sourceLocation:)`` when its body does not throw.
struct Missing: Error { let sourceLocation: SourceLocation }
