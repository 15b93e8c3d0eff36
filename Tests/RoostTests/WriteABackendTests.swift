import CSV
import Foundation
import Roost
import RoostMigration
import SortedFile
import Testing

/// The claims of `docs/write-a-backend.md` about third-party backends.
@Suite("Third-party backends")
struct WriteABackendTests {
    private let cities = "name,people\nParis,2103000\nLyon,522250\n"

    @Test("a third-party backend opens through a registry, by URL or by file")
    func registering() throws {
        let folder = try Folder()
        let path = try folder.write(cities, to: "cities.csv")
        let registry = StoreRegistry([CSVStoreType(), SortedFileStoreType()])
        let store = try registry.open(try registry.resolve(path))
        #expect(try store.snapshot().count(FetchRequest("Row", where: .path("name") == "Lyon")) == 1)
        #expect(try registry.resolve("csv:\(path)") == store.location)
        try registry.create(StoreLocation(type: "sorted", path: folder.file("new")), model: store.model).close()
        #expect(try registry.resolve(folder.file("new")).type == "sorted")
        try store.close()
    }

    @Test("a third-party backend supports verified conversions in both directions")
    func converting() throws {
        let folder = try Folder()
        let (path, copy) = (try folder.write(cities, to: "cities.csv"), folder.file("cities.json"))
        // Not the shared registry, because other tests examine its contents.
        let registry = StoreRegistry(StoreRegistry.standard.all)
        registry.register(CSVStoreType())
        let report = try MigrationManager(registry: registry).convert(
            from: .location(StoreLocation(type: "csv", path: path)), to: .location(.json(copy)))
        #expect(report.objects == 2)

        registry.register(SortedFileStoreType())
        let sorted = StoreLocation(type: "sorted", path: folder.file("cities"))
        let back = try MigrationManager(registry: registry).convert(
            from: .location(StoreLocation(type: "json", path: copy)), to: .location(sorted))
        #expect(back.digest == report.digest)
        let store = try registry.open(sorted)
        #expect(try checkStore(store).isEmpty)
        #expect(try store.snapshot().count(FetchRequest("Row")) == 2)
        try store.close()
        #expect(try folder.names().filter { $0.contains("tmp") } == [])
    }

    @Test("docs/write-a-backend.md quotes only code that is compiled and run")
    func quotations() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/write-a-backend.md"), encoding: .utf8)
        let quoted = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(quoted.count >= 8)

        let examples = root.appendingPathComponent("Examples/Backends")
        var files = [URL(fileURLWithPath: #filePath), examples.appendingPathComponent("Package.swift")]
        for folder in ["Sources", "Tests"] {
            let found = FileManager.default.enumerator(
                at: examples.appendingPathComponent(folder), includingPropertiesForKeys: nil)
            for case let file as URL in try #require(found) where file.pathExtension == "swift" { files.append(file) }
        }
        let sources = try files.map { Self.squeezed(try String(contentsOf: $0, encoding: .utf8)) }
        for code in quoted {
            #expect(sources.contains { $0.contains(Self.squeezed(code)) }, "\(code)")
        }
    }

    @Test("the example backends are as short as docs/write-a-backend.md says")
    func lengths() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func lineCount(_ path: String) throws -> Int {
            try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false
            ).count - 1
        }
        #expect(try lineCount("Examples/Backends/Sources/SortedFile/SortedFileStorage.swift") < 200)
        #expect(try lineCount("Examples/Backends/Sources/CSV/CSVStore.swift") < 150)
    }

    /// Returns the text without white space, which the formatter changes.
    private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}
