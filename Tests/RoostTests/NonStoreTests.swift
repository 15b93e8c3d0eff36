import Foundation
import Roost
import RoostFiles
import RoostMigration
import RoostStores
import RoostSystem
import Testing

@Suite("Files that are not stores")
struct NonStoreTests {
    enum Kind: String, CaseIterable {
        case text, empty, zeros, noise, foreignDatabase, cutSQLite, cutLMDB, cutJSON, otherStore, directory, pipe,
            linkToText, linkToNothing, linkToDevice, nothing
    }

    enum Use: String, CaseIterable {
        case reading, writing, metadata, recognizing, destroying, replacing, moving, compacting, migrating, planning,
            convertingOver, converting, backingUp, backingUpOver
    }

    private func store(_ type: String, at path: String) throws {
        try StoreRegistry.standard.create(
            StoreLocation(type: type, path: path), model: try model(), options: StoreOptions()
        ).close()
        try FileManager.default.removeItem(atPath: path + ".lock")
    }

    private func make(_ kind: Kind, for type: String, in folder: Folder) throws {
        func cut(_ type: String, to count: Int) throws {
            try store(type, at: folder.file("x"))
            let bytes = try folder.bytes("x").prefix(count)
            try Data(bytes).write(to: URL(fileURLWithPath: folder.file("x")))
        }
        let path = folder.file("x")
        switch kind {
        case .text: try folder.write("root:x:0:0::/root:/bin/sh\n", to: "x")
        case .empty: try folder.write("", to: "x")
        case .zeros: try Data(count: 100_000).write(to: URL(fileURLWithPath: path))
        case .noise:
            try Data((0..<100_000).map { _ in UInt8.random(in: 1...255) }).write(to: URL(fileURLWithPath: path))
        case .foreignDatabase:
            // A database with another program's application ID.
            try store("sqlite", at: path)
            var bytes = try folder.bytes("x")
            bytes[68] ^= 0xFF
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        case .cutSQLite: try cut("sqlite", to: 80)
        case .cutLMDB: try cut("lmdb", to: 120)
        case .cutJSON: try cut("json", to: 20)
        case .otherStore: try store(type == "json" ? "lmdb" : "json", at: path)
        case .directory: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .linkToText:
            try folder.write("precious", to: "text")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file("text"))
        case .linkToNothing: try #require(symlink("missing", path) == 0)
        case .linkToDevice: try #require(symlink("/dev/null", path) == 0)
        case .nothing: break
        }
    }

    private func attempt(_ use: Use, on location: StoreLocation, source: StoreLocation) throws {
        let (registry, type) = (StoreRegistry.standard, try StoreRegistry.standard.type(named: location.type))
        let manager = MigrationManager(registry: registry)
        let options = StoreOptions(isReadOnly: use != .writing, timeoutSeconds: 0)
        let new = StoreLocation(type: location.type, path: source.path + "2")
        switch use {
        case .reading, .writing: try type.open(location, options: options).close()
        case .metadata: _ = try type.metadata(at: location, options: options)
        case .recognizing: if !type.recognizes(fileAt: location.path) { throw StoreError(.notAStore, "") }
        case .destroying:
            try type.destroy(location)
            if !StoreFile.hasEntry(at: location.path) || StoreFile.resolvingLink(location.path) == location.path {
                throw StoreError(.notFound, "")
            }
        case .replacing: try type.replace(location, with: source, overwriting: true)
        case .moving: try type.replace(new, with: location, overwriting: false)
        case .compacting: _ = try StoreMaintenance(registry: registry).compact(location)
        case .migrating: _ = try manager.migrateInPlace(location, model: try model("title"))
        case .planning: _ = try manager.planMigrationInPlace(location, model: try model("title"))
        case .convertingOver:
            _ = try manager.convert(
                from: .location(source), to: .location(location), options: ConversionOptions(overwrites: true))
        case .converting: _ = try manager.convert(from: .location(location), to: .location(new))
        case .backingUp: _ = try StoreMaintenance(registry: registry).backUp(.location(location), to: new)
        case .backingUpOver:
            _ = try StoreMaintenance(registry: registry).backUp(
                .location(source), to: location, options: ConversionOptions(overwrites: true))
        }
    }

    struct Place: CustomTestStringConvertible {
        let type: String
        let kind: Kind
        var testDescription: String { "\(kind), \(type)" }
    }

    static let places = fileTypes.flatMap { type in Kind.allCases.map { Place(type: type, kind: $0) } }

    @Test("a file that is not a store is refused, and nothing is created beside it", arguments: places, Use.allCases)
    func refusesWithoutTrace(place: Place, use: Use) throws {
        let folder = try Folder()
        let source = try Folder()
        try store(place.type, at: source.file("source"))
        try make(place.kind, for: place.type, in: folder)
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let (location, good) = (
            StoreLocation(type: place.type, path: folder.file("x")),
            StoreLocation(type: place.type, path: source.file("source"))
        )
        if place.kind == .nothing, [.replacing, .convertingOver, .backingUpOver].contains(use) {
            // Nothing exists at the path, so these uses can create a store there.
            return try attempt(use, on: location, source: good)
        }
        #expect(error { try attempt(use, on: location, source: good) } != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }
}
