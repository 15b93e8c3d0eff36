import CampaignSupport
import Foundation
import Roost
import Testing

/// Reading a damaged file never crashes, hangs, changes the file, or returns other content without
/// an error.
///
/// The normal run tries a few files. `ROOST_CAMPAIGN_FILES` sets their total number for all types,
/// and `ROOST_CAMPAIGN_SEED` repeats a run. `CampaignChild reproduce` creates one file again.
@Suite("Damaged stores", .serialized)
struct DamageCampaignTests {
    static let types = StoreRegistry.standard.all
        .filter { $0.capabilities.contains(.writing) && $0.capabilities.contains(.file) }.map(\.name)

    @Test("a damaged store is refused or gives its old content, and reading changes no file", arguments: types)
    func damage(type: String) throws {
        let place = try Place()
        let location = StoreLocation(type: type, path: place.file("base"))
        let store = try StoreRegistry.standard.create(location, model: try CampaignContent.model())
        try CampaignContent.fill(store)
        try store.close()
        let seed = CampaignNumbers.seed
        let count = CampaignNumbers.count("ROOST_CAMPAIGN_FILES", usually: 120) / Self.types.count
        let results = DamageCampaign(type: type, base: location.path, count: count, seed: seed).run()
        print(results.table("damage of \(type), ROOST_CAMPAIGN_SEED=\(seed)"))

        let place2 = "\(type), seed \(seed)"
        #expect(results.failures == [])
        #expect(results.count == count)
        #expect(results.crashes == [])
        #expect(results.hangs == [])
        for operation in ["dump", "convert", "backup"] {
            #expect(
                results.numbers(of: operation, with: .different) == [], "\(operation) gave other content: \(place2)")
        }
        #expect(results.remarks["changed", default: []] == [], "reading changed the file: \(place2)")
        #expect(results.remarks["check-missed", default: []] == [], "check missed it: \(place2)")
        #expect(results.remarks.keys.filter { $0.hasPrefix("left:") } == [], "files were left: \(place2)")
        // A campaign proves nothing if the damage rarely hits live bytes, or if `check` never finds damage.
        #expect(results.trials.count { $0.hitsLive } > count / 3)
        #expect(!results.numbers(of: "check", with: .found).isEmpty)
    }

    @Test("a store whose live bytes are all inverted cannot be read", arguments: types)
    func liveBytes(type: String) throws {
        let place = try Place()
        let location = StoreLocation(type: type, path: place.file("base"))
        let store = try StoreRegistry.standard.create(location, model: try CampaignContent.model())
        try CampaignContent.fill(store)
        try store.close()
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: location.path)))
        let live = LiveBytes(of: type, in: bytes)
        #expect(live.count > bytes.count / 5 && live.count < bytes.count)
        // Names of persons are in live cells.
        for key in [1, 128, 255] {
            let name = Array("Person \(key)".utf8)
            #expect(live.cells.contains { $0.contains { bytes[$0].firstRange(of: name) != nil } }, "\(key)")
        }
        for cell in live.cells { for piece in cell { for index in piece { bytes[index] ^= 0xFF } } }
        try Data(bytes).write(to: URL(fileURLWithPath: location.path))
        #expect(throws: StoreError.self) {
            let store = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: true))
            _ = try store.snapshot().computeTally()
        }
    }
}

/// The directory of one test.
final class Place: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("roost-campaign-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        // If the removal fails, the system removes the files.
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
    func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: path)) }
    func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file(name))) }
    func remove(_ name: String) { try? FileManager.default.removeItem(atPath: file(name)) }
}
