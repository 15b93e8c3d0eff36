import Foundation
import Roost
import RoostFiles
import RoostMigration
import RoostStores
import RoostSystem
import Testing

@Suite("Foreign files under names that stores use")
struct CompanionTests {
    /// The file that a test puts at a companion file's path.
    enum Kind: String, CaseIterable {
        case text, pages, store, otherStore, pipe, directory, symbolicLink, danglingLink, hardLink
    }

    enum Use: String, CaseIterable {
        case reading, writing, metadata, destroying, replacing, moving, compacting, migrating, convertingOver
    }

    struct Place: CustomTestStringConvertible {
        let type: String
        let suffix: String
        let kind: Kind
        var testDescription: String { "\(kind) at x\(suffix) of \(type)" }
    }

    static let places = StoreRegistry.standard.all.filter { fileTypes.contains($0.name) }.flatMap { type in
        (type.companionSuffixes + [".lock"]).flatMap { suffix in
            Kind.allCases.map { Place(type: type.name, suffix: suffix, kind: $0) }
        }
    }

    private func store(_ type: String, at path: String) throws {
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: path), model: try model(), options: StoreOptions())
        var changes = ChangeSet(model: store.model)
        try changes.insert(ObjectID("Artist", key: 1), values: ["name": .string("a")])
        _ = try store.commit(changes)
        try store.close()
        try? FileManager.default.removeItem(atPath: path + ".lock")
    }

    private func plant(_ place: Place, in folder: Folder) throws {
        let path = folder.file("x" + place.suffix)
        switch place.kind {
        case .text: try folder.write("precious\n", to: "x" + place.suffix)
        // SQLite's log index can also be 32 KiB long.
        case .pages: try folder.write(String(repeating: "precious", count: 4096), to: "x" + place.suffix)
        case .store: try store(place.type, at: path)
        case .otherStore: try store(place.type == "json" ? "sqlite" : "json", at: path)
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .directory: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .symbolicLink:
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file("victim"))
        case .danglingLink:
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file("nothing"))
        case .hardLink: try FileManager.default.linkItem(atPath: folder.file("victim"), toPath: path)
        }
    }

    private func attempt(_ use: Use, on location: StoreLocation, source: StoreLocation) throws {
        let type = try StoreRegistry.standard.type(named: location.type)
        let options = StoreOptions(isReadOnly: use != .writing, timeoutSeconds: 0)
        switch use {
        case .reading, .writing: try type.open(location, options: options).close()
        case .metadata: _ = try type.metadata(at: location, options: options)
        case .destroying: try type.destroy(location)
        case .replacing: try type.replace(location, with: source, overwriting: true)
        case .moving:
            try type.replace(
                StoreLocation(type: location.type, path: source.path + "2"), with: location, overwriting: false)
        case .compacting: _ = try StoreMaintenance(registry: .standard).compact(location)
        case .migrating:
            _ = try MigrationManager(registry: .standard).migrateInPlace(
                location, model: try model("title"), options: MigrationOptions(allowsLoss: true))
        case .convertingOver:
            _ = try MigrationManager(registry: .standard).convert(
                from: .location(source), to: .location(location), options: ConversionOptions(overwrites: true))
        }
    }

    /// Returns the bytes or kind of every entry except genuine lock files.
    private func entries(_ folder: Folder, around place: Place) throws -> [String: [UInt8]] {
        var result: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            guard !name.hasSuffix(".lock") || place.suffix == ".lock" && name == "x.lock" else { continue }
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            let isFile = attributes[.type] as? FileAttributeType == .typeRegular
            result[name] = isFile ? try folder.bytes(name) : Array("\(attributes[.type] ?? "")".utf8)
        }
        return result
    }

    @Test(
        "a foreign file under a companion's name is refused, named and left unchanged", arguments: places, Use.allCases)
    func foreign(place: Place, use: Use) throws {
        let folder = try Folder()
        let (location, source) = (
            StoreLocation(type: place.type, path: folder.file("x")),
            StoreLocation(type: place.type, path: folder.file("source"))
        )
        try store(place.type, at: location.path)
        try store(place.type, at: source.path)
        try folder.write("precious", to: "victim")
        try plant(place, in: folder)
        let before = try entries(folder, around: place)
        let refusal = error { try attempt(use, on: location, source: source) }
        #expect(refusal?.code == .notAStore, "\(refusal?.message ?? "was done")")
        #expect(refusal?.message.contains("x\(place.suffix)'") == true, "\(refusal?.message ?? "")")
        #expect(refusal?.message.contains(" away") == true, "\(refusal?.message ?? "")")
        #expect(try entries(folder, around: place) == before)
        try FileManager.default.removeItem(atPath: folder.file("x" + place.suffix))
        try attempt(use, on: location, source: source)
    }

    @Test(
        "a companion file that is empty or all zeros belongs to the store",
        arguments: StoreRegistry.standard.all.filter { fileTypes.contains($0.name) }.flatMap { type in
            type.companionSuffixes.map { (type.name, $0) }
        }, [0, 32 << 10])
    func empty(own: (type: String, suffix: String), byteCount: Int) throws {
        let folder = try Folder()
        let location = StoreLocation(type: own.type, path: folder.file("x"))
        for isReadOnly in [true, false] {
            try? FileManager.default.removeItem(atPath: location.path)
            try store(own.type, at: location.path)
            try Data(count: byteCount).write(to: URL(fileURLWithPath: location.path + own.suffix))
            let store = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: isReadOnly))
            // A JSON journal of zeros causes only a warning: the commit never reached the disk.
            #expect(try checkStore(store).filter { $0.severity == .damage } == [])
            try store.close()
        }
        try StoreRegistry.standard.type(named: own.type).destroy(location)
        #expect(try folder.names() == [])
    }

    /// SQLite truncates the index of an unused log to three bytes, and extends it in pages.
    @Test(
        "an SQLite log index that is cut or growing belongs to the store",
        arguments: [3, 4096, 12 << 10, 32 << 10, 64 << 10])
    func unfinishedIndex(byteCount: Int) throws {
        let folder = try Folder()
        let location = StoreLocation(type: "sqlite", path: folder.file("x"))
        try store("sqlite", at: location.path)
        for beginning: [UInt8] in [[0x18, 0xE2, 0x2D], [0x00, 0x2D, 0xE2]] {
            let bytes = beginning + [UInt8](repeating: 0, count: byteCount - beginning.count)
            try Data(bytes).write(to: URL(fileURLWithPath: location.path + "-shm"))
            let store = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: true))
            #expect(try checkStore(store) == [])
            try store.close()
            #expect(try folder.names() == ["x", "x.lock"])
        }
    }

    @Test("a store ignores files under companion names of other types", arguments: fileTypes)
    func othersNames(type: String) throws {
        let folder = try Folder()
        let location = StoreLocation(type: type, path: folder.file("x"))
        try store(type, at: location.path)
        let own = try StoreRegistry.standard.type(named: type).companionSuffixes
        let others = ["-wal", "-shm", "-journal", "-lock"].filter { !own.contains($0) }
        for suffix in others { try folder.write("precious", to: "x" + suffix) }
        _ = try StoreMaintenance(registry: .standard).compact(location)
        _ = try MigrationManager(registry: .standard).migrateInPlace(
            location, model: try model("title"),
            options: MigrationOptions(allowsLoss: true).with { $0.keepsBackup = true })
        try StoreRegistry.standard.open(location).close()
        try StoreRegistry.standard.type(named: type).destroy(location)
        for suffix in others { #expect(try folder.bytes("x" + suffix) == Array("precious".utf8)) }
    }
}
