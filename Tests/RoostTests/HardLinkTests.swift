import Foundation
import Roost
import RoostCore
import RoostFiles
import RoostMigration
import RoostStores
import Testing

@Suite("Stores whose file has two names")
struct HardLinkTests {
    enum Use: String, CaseIterable, CustomTestStringConvertible {
        case writing, compacting, migratingInPlace, replacing, moving, convertingOver, reading, readingMetadata,
            converting,
            backingUp

        static let reads: [Use] = [.reading, .readingMetadata, .converting, .backingUp]
        static let writes = allCases.filter { !reads.contains($0) }
        var testDescription: String { rawValue }
    }

    private func insert(into store: any PersistentStore) throws {
        var changes = ChangeSet(model: store.model)
        let key = try store.reserveKeys(1, for: "Artist").lowerBound
        try changes.insert(ObjectID("Artist", key: key), values: ["name": .string("a")])
        _ = try store.commit(changes)
    }

    private func count(_ store: any PersistentStore) throws -> Int {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try snapshot.count(FetchRequest("Artist"))
    }

    private func store(_ type: String, in folder: Folder, name: String = "a") throws -> StoreLocation {
        let location = StoreLocation(type: type, path: folder.file(name))
        let store = try StoreRegistry.standard.create(location, model: try model(), options: StoreOptions())
        try insert(into: store)
        try store.close()
        return location
    }

    private func link(_ name: String, to location: StoreLocation) throws -> StoreLocation {
        let other = StoreLocation(type: location.type, path: StoreFile.directory(of: location.path) + "/" + name)
        try FileManager.default.linkItem(atPath: location.path, toPath: other.path)
        return other
    }

    private func unlink(_ location: StoreLocation) throws { try FileManager.default.removeItem(atPath: location.path) }

    /// Returns the bytes of every file except the lock files.
    private func contents(_ folder: Folder) throws -> [String: [UInt8]] {
        Dictionary(
            uniqueKeysWithValues: try folder.names().filter { !$0.hasSuffix(".lock") }.map {
                ($0, try folder.bytes($0))
            })
    }

    private func attempt(_ use: Use, on location: StoreLocation, in folder: Folder, acceptsLinks: Bool) throws {
        let (registry, type) = (StoreRegistry.standard, try StoreRegistry.standard.type(named: location.type))
        let new = StoreLocation(type: location.type, path: folder.file("new"))
        var options = StoreOptions(isReadOnly: true, timeoutSeconds: 0).with { $0.acceptsLinks = acceptsLinks }
        var conversion = ConversionOptions(overwrites: true).with { $0.acceptsLinks = acceptsLinks }
        conversion.timeoutSeconds = 0
        switch use {
        case .reading:
            let store = try type.open(location, options: options)
            #expect(try count(store) == 1)
            #expect(try checkStore(store) == [])
            try store.close()
        case .readingMetadata: _ = try type.metadata(at: location, options: options)
        case .converting:
            _ = try MigrationManager(registry: registry).convert(
                from: .location(location), to: .location(new), options: conversion)
        case .backingUp:
            _ = try StoreMaintenance(registry: registry).backUp(.location(location), to: new, options: conversion)
        case .writing:
            options.isReadOnly = false
            try type.open(location, options: options).close()
        case .compacting: _ = try StoreMaintenance(registry: registry).compact(location, options: conversion)
        case .migratingInPlace:
            _ = try MigrationManager(registry: registry).migrateInPlace(
                location, model: try model("title"), options: MigrationOptions(conversion: conversion, allowsLoss: true)
            )
        case .replacing:
            try type.replace(location, with: try store(location.type, in: folder, name: "new"), overwriting: true)
        case .moving: try type.replace(new, with: location, overwriting: false)
        case .convertingOver:
            let source = try store(location.type == "json" ? "sqlite" : "json", in: folder, name: "source")
            _ = try MigrationManager(registry: registry).convert(
                from: .location(source), to: .location(location), options: conversion)
        }
    }

    @Test(
        "readers refuse a hard-linked store, and with acceptsLinks read it under both names",
        arguments: fileTypes, Use.reads)
    func reading(type: String, use: Use) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let other = try link("b", to: location)
        let before = try contents(folder)
        for name in [location, other] {
            let refusal = error { try attempt(use, on: name, in: folder, acceptsLinks: false) }
            #expect(refusal?.code == .hasOtherNames)
            #expect(refusal?.message.contains(name == location ? "'b'" : "'a'") == true, "\(refusal?.message ?? "")")
            #expect(try contents(folder) == before)
            try attempt(use, on: name, in: folder, acceptsLinks: true)
            try? FileManager.default.removeItem(atPath: folder.file("new"))
            #expect(try contents(folder) == before)
        }
    }

    @Test("writers refuse to change a hard-linked store until one name is removed", arguments: fileTypes, Use.writes)
    func writing(type: String, use: Use) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let other = try link("b", to: location)
        let before = try contents(folder)
        for name in [location, other] {
            for acceptsLinks in [false, true] {
                let refusal = error { try attempt(use, on: name, in: folder, acceptsLinks: acceptsLinks) }
                #expect(refusal?.code == .hasOtherNames, "\(refusal?.message ?? "was done")")
                for (file, bytes) in before { #expect(try folder.bytes(file) == bytes) }
                for file in ["new", "source"] { try? FileManager.default.removeItem(atPath: folder.file(file)) }
                #expect(try contents(folder) == before)
            }
        }
        try unlink(other)
        try attempt(use, on: location, in: folder, acceptsLinks: false)
    }

    @Test(
        "a writer notices a hard link at its next commit, before writing",
        arguments: fileTypes)
    func linkWhileOpen(type: String) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let store = try StoreRegistry.standard.open(location, options: StoreOptions(timeoutSeconds: 0))
        try insert(into: store)
        let other = try link("b", to: location)
        let before = try contents(folder)
        #expect(error { try insert(into: store) }?.code == .hasOtherNames)
        #expect(try contents(folder) == before)
        // Opening the store again in this process fails too, under either name.
        for name in [location, other] {
            for isReadOnly in [true, false] {
                let options = StoreOptions(isReadOnly: isReadOnly, timeoutSeconds: 0)
                #expect(
                    error { try StoreRegistry.standard.open(name, options: options).close() }?.code
                        == (type == "json" && name == location && !isReadOnly ? .busy : .hasOtherNames))
            }
        }
        try unlink(other)
        try insert(into: store)
        #expect(try count(store) == 3)
        try store.close()
        let again = try StoreRegistry.standard.open(location)
        #expect(try count(again) == 3)
        #expect(try checkStore(again) == [])
        try again.close()
    }

    @Test("a bulk load fails if the store gets a hard link during the load", arguments: fileTypes)
    func linkDuringLoad(type: String) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let store = try StoreRegistry.standard.open(location)
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: store.model)
        try batch.append(ObjectID("Artist", key: 7), version: 1, values: ["name": .string("z")])
        try loader.append(batch)
        let other = try link("b", to: location)
        let before = try contents(folder)
        #expect(error { _ = try loader.finish() }?.code == .hasOtherNames)
        loader.abandon()
        #expect(try contents(folder).keys == before.keys)
        #expect(try folder.bytes("a") == before["a"])
        #expect(try count(store) == 1)
        try unlink(other)
        try insert(into: store)
        try store.close()
        let again = try StoreRegistry.standard.open(location)
        #expect(try count(again) == 2)
        #expect(try checkStore(again) == [])
        try again.close()
    }

    @Test("a JSON store with a hard link keeps its commits in the journal on close")
    func fold() throws {
        let folder = try Folder()
        let location = try store("json", in: folder)
        let store = try StoreRegistry.standard.open(location)
        try insert(into: store)
        let other = try link("b", to: location)
        let before = try contents(folder)
        let refusal = error { try store.close() }
        #expect(refusal?.code == .hasOtherNames && refusal?.message.contains("safe in the journal") == true)
        #expect(try contents(folder) == before)
        try unlink(other)
        let again = try StoreRegistry.standard.open(location)
        #expect(try count(again) == 2)
        try again.close()
    }

    @Test("an SQLite writer closes a hard-linked store with every commit in the file")
    func settledClosing() throws {
        let folder = try Folder()
        let location = try store("sqlite", in: folder)
        let store = try StoreRegistry.standard.open(location)
        try insert(into: store)
        let other = try link("b", to: location)
        try store.close()
        let reader = try StoreRegistry.standard.open(
            other, options: StoreOptions(isReadOnly: true).with { $0.acceptsLinks = true })
        #expect(try count(reader) == 2)
        try reader.close()
    }

    @Test("readers open a hard-linked store beside its writer in one process", arguments: fileTypes)
    func oneProcess(type: String) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let writer = try StoreRegistry.standard.open(location)
        let other = try link("b", to: location)
        let options = StoreOptions(isReadOnly: true, timeoutSeconds: 0).with { $0.acceptsLinks = true }
        let second = try StoreRegistry.standard.open(other, options: options)
        let third = try StoreRegistry.standard.open(other, options: options)
        #expect(try count(second) == 1)
        #expect(try count(third) == 1)
        try second.close()
        #expect(try count(third) == 1)
        #expect(try count(writer) == 1)
        #expect(error { try insert(into: writer) }?.code == .hasOtherNames)
        try third.close()
        try unlink(other)
        // Closing the readers did not release the writer's locks.
        try insert(into: writer)
        try writer.close()
        #expect(try folder.names().filter { !$0.hasSuffix(".lock") } == ["a"])
    }

    @Test("a reader refuses a hard-linked store that changed under the other name", arguments: ["sqlite", "lmdb"])
    func changedUnderOtherName(type: String) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let other = try link("b", to: location)
        let reader = try StoreRegistry.standard.open(
            other, options: StoreOptions(isReadOnly: true).with { $0.acceptsLinks = true })
        let snapshot = try reader.snapshot()
        #expect(try snapshot.count(FetchRequest("Artist")) == 1)
        // Changes the file like a program that ignores links.
        let bytes = try FileHandle(forUpdating: URL(fileURLWithPath: location.path))
        try bytes.truncate(atOffset: try bytes.seekToEnd() + 4096)
        try bytes.close()
        #expect(error { _ = try snapshot.count(FetchRequest("Artist")) }?.code == .storeReplaced)
        #expect(error { try reader.snapshot().close() }?.code == .storeReplaced)
        snapshot.close()
        try reader.close()
    }

    // MARK: Names that Roost adds

    @Test(
        "opening a store removes the names that an interrupted replacement left",
        arguments: fileTypes, [true, false])
    func leftover(type: String, isReadOnly: Bool) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        try StoreFile.addName(StoreFile.temporarySibling(of: location.path), toFileAt: location.path)
        try StoreFile.addName(StoreFile.backupSibling(of: location.path), toFileAt: location.path)
        let store = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: isReadOnly))
        #expect(try folder.names() == (try folder.names().filter { !$0.contains("tmp") && !$0.contains("backup") }))
        if !isReadOnly { try insert(into: store) }
        #expect(try count(store) == (isReadOnly ? 1 : 2))
        try store.close()
        #expect(try Set(folder.names()).isSubset(of: ["a", "a.lock"]))
    }

    @Test(
        "writers accept a store with names that an interrupted replacement left", arguments: fileTypes,
        Use.writes)
    func leftoverReplaced(type: String, use: Use) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        try StoreFile.addName(StoreFile.temporarySibling(of: location.path), toFileAt: location.path)
        try StoreFile.addName(StoreFile.backupSibling(of: location.path), toFileAt: location.path)
        try attempt(use, on: location, in: folder, acceptsLinks: false)
        #expect(try folder.names().filter { $0.contains("tmp") || $0.contains("backup") } == [])
    }

    @Test(
        "opening a backup removes the temporary name that a crash left", arguments: fileTypes)
    func leftoverOfBackup(type: String) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let backup = StoreLocation(type: type, path: StoreFile.backupSibling(of: location.path))
        try FileManager.default.moveItem(atPath: location.path, toPath: backup.path)
        try StoreFile.addName(StoreFile.temporarySibling(of: location.path), toFileAt: backup.path)
        _ = try store(type, in: folder)
        let old = try StoreRegistry.standard.open(backup)
        try insert(into: old)
        try old.close()
        #expect(try folder.names().filter { $0.contains("tmp") } == [])
    }

    @Test("a store is readable while a leftover name cannot be removed", arguments: fileTypes)
    func leftoverInReadOnlyDirectory(type: String) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let sibling = StoreFile.temporarySibling(of: location.path)
        try StoreFile.addName(sibling, toFileAt: location.path)
        // The lock keeps the name from being removed, as a missing permission would.
        let lock = try StoreLock.acquire(forStoreAt: sibling, mode: .exclusive, timeoutSeconds: 0)
        let reader = try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: true))
        #expect(try count(reader) == 1)
        try reader.close()
        #expect(error { try StoreRegistry.standard.open(location).close() }?.code == .hasOtherNames)
        lock.release()
        try StoreRegistry.standard.open(location).close()
    }

    @Test(
        "compaction and migration refuse a store that is hard-linked meanwhile", arguments: fileTypes,
        [true, false])
    func linkDuringReplacement(type: String, compacts: Bool) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let before = try folder.bytes("a")
        let conversion = ConversionOptions(onProgress: { progress in
            guard progress.phase == .verifying else { return }
            try? FileManager.default.linkItem(atPath: location.path, toPath: folder.file("b"))
        })
        let refusal = error {
            if compacts {
                _ = try StoreMaintenance(registry: .standard).compact(location, options: conversion)
            } else {
                // For every type, a migration that keeps a backup replaces the old file with a new one.
                _ = try MigrationManager(registry: .standard).migrateInPlace(
                    location, model: try model("title"),
                    options: MigrationOptions(conversion: conversion, allowsLoss: true).with { $0.keepsBackup = true }
                )
            }
        }
        #expect(refusal?.code == .hasOtherNames, "\(refusal?.message ?? "was done")")
        #expect(try folder.bytes("a") == before)
        #expect(StoreFile.sameFile(folder.file("a"), folder.file("b")))
        #expect(try folder.names().filter { !$0.hasSuffix(".lock") } == ["a", "b"])
    }

    @Test("a migration that keeps a backup leaves each file with one name", arguments: fileTypes)
    func backup(type: String) throws {
        let folder = try Folder()
        let location = try store(type, in: folder)
        let report = try MigrationManager(registry: .standard).migrateInPlace(
            location, model: try model("title"),
            options: MigrationOptions(allowsLoss: true).with { $0.keepsBackup = true })
        let backup = StoreLocation(type: type, path: try #require(report.backup))
        for name in [location, backup] {
            #expect(try FileIdentity(at: name.path).linkCount == 1)
            try StoreRegistry.standard.open(name).close()
        }
    }
}
