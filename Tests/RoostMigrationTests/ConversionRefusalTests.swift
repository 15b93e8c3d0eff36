import Foundation
import Roost
import RoostFiles
import RoostMigration
import Testing

@Suite("Refused conversions")
struct ConversionRefusalTests {
    private let manager = MigrationManager(registry: .standard)

    private func refusal(
        from source: StoreLocation, to destination: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) throws -> StoreError {
        try #require(throws: StoreError.self) {
            try manager.convert(from: .location(source), to: .location(destination), options: options)
        }
    }

    @Test("a conversion refuses an existing destination by default", arguments: Sample.writingTypes)
    func existingDestination(type: String) throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (
            StoreLocation(type: type, path: directory.file("a")), StoreLocation(type: type, path: directory.file("b"))
        )
        try Sample.store(type, at: a.path, people: 5).close()
        try Sample.store(type, at: b.path, people: 3).close()
        #expect(try refusal(from: a, to: b).code == .alreadyExists)
        let plan = try manager.plan(from: .location(a), to: .location(b))
        #expect(plan.refusals.count == 1)
        #expect(plan.objects == 20)
    }

    @Test(
        "a conversion into its own source is refused for every path that names the source",
        arguments: Sample.fileTypes, [false, true])
    func sameStore(type: String, overwrites: Bool) throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: type, path: directory.file("a"))
        try Sample.store(type, at: a.path, people: 5).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: a.path))
        try FileManager.default.createSymbolicLink(atPath: directory.file("symbolic"), withDestinationPath: a.path)
        try FileManager.default.linkItem(atPath: a.path, toPath: directory.file("hard"))
        let names = ["a", "./a", "../\(try #require(directory.path.split(separator: "/").last))/a", "symbolic", "hard"]
        for name in names {
            let error = try refusal(
                from: a, to: StoreLocation(type: type, path: directory.file(name)),
                options: ConversionOptions(overwrites: overwrites))
            #expect(error.code == .invalidRequest, "\(name): \(error)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: a.path)) == before)
    }

    @Test(
        "a conversion that may overwrite does not replace a text, an empty file or a folder",
        arguments: Sample.fileTypes, ["text", "empty", "folder"])
    func foreignFile(type: String, name: String) throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: type, path: directory.file("a"))
        try Sample.store(type, at: a.path, people: 5).close()
        let path = directory.file(name)
        if name == "folder" {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        } else {
            try Data((name == "text" ? "precious text" : "").utf8).write(to: URL(fileURLWithPath: path))
        }
        let error = try refusal(
            from: a, to: StoreLocation(type: type, path: path), options: ConversionOptions(overwrites: true))
        #expect(error.code == .notAStore, "\(error)")
        if name == "text" {
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious text".utf8))
        }
        #expect(try directory.names().filter { $0.contains("roost-tmp") } == [])
    }

    @Test("a conversion refuses a dangling symbolic link as its destination", arguments: Sample.fileTypes)
    func danglingLink(type: String) throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: type, path: directory.file("a"))
        try Sample.store(type, at: a.path, people: 5).close()
        let link = directory.file("dangling")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.file("nothing"))
        #expect(try refusal(from: a, to: StoreLocation(type: type, path: link)).code == .alreadyExists)
        #expect(try directory.names().filter { $0.contains("roost-tmp") } == [])
    }

    @Test(
        "a conversion is refused when the disk has not enough space",
        arguments: Sample.fileTypes, [1 << 60, Int.max])
    func noSpace(type: String, reservedBytes: Int) throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: type, path: directory.file("a"))
        try Sample.store(type, at: a.path, people: 5).close()
        let error = try refusal(
            from: a, to: StoreLocation(type: type, path: directory.file("b")),
            options: ConversionOptions().with { $0.reservedBytes = reservedBytes })
        #expect(error.code == .noSpace)
        #expect(try directory.names() == ["a"])
    }

    @Test("a conversion is refused when the directory of its destination is missing", arguments: Sample.fileTypes)
    func missingDirectory(type: String) throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: type, path: directory.file("a"))
        try Sample.store(type, at: a.path, people: 5).close()
        let error = try refusal(from: a, to: StoreLocation(type: type, path: directory.file("nowhere/b")))
        #expect(error.code == .missingDirectory)
    }

    @Test("a conversion from or to an unregistered store type throws unknownStoreType")
    func unknownType() throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: "memory", path: directory.file("a"))
        try Sample.store("memory", at: a.path, people: 5).close()
        #expect(try refusal(from: a, to: StoreLocation(type: "memroy", path: "x")).code == .unknownStoreType)
        let error = try refusal(from: StoreLocation(type: "memroy", path: "x"), to: a)
        #expect(error.code == .unknownStoreType)
        #expect(error.message.contains("'memory'"))
    }

    @Test("a conversion of a missing source throws notFound and creates nothing", arguments: Sample.writingTypes)
    func missingSource(type: String) throws {
        let directory = try TemporaryDirectory()
        let error = try refusal(
            from: StoreLocation(type: type, path: directory.file("a")),
            to: StoreLocation(type: type, path: directory.file("b")))
        #expect(error.code == .notFound)
        #expect(try directory.names() == [])
    }

    @Test("a conversion refuses its own source as the open destination")
    func openSource() throws {
        let directory = try TemporaryDirectory()
        let source = try Sample.store("memory", at: directory.file("a"), people: 5)
        let error = #expect(throws: StoreError.self) { try manager.convert(from: .store(source), to: .store(source)) }
        #expect(error?.code == .invalidRequest)
    }

    @Test("a conversion refuses an open destination that is not empty")
    func fullDestination() throws {
        let directory = try TemporaryDirectory()
        let source = try Sample.store("memory", at: directory.file("a"), people: 5)
        let full = try Sample.store("memory", at: directory.file("b"), people: 2)
        let error = #expect(throws: StoreError.self) { try manager.convert(from: .store(source), to: .store(full)) }
        #expect(error?.code == .invalidRequest)
    }

    @Test("a conversion refuses an open destination with another model")
    func otherModel() throws {
        let directory = try TemporaryDirectory()
        let source = try Sample.store("memory", at: directory.file("a"), people: 5)
        let other = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: ""),
            model: try ManagedObjectModel(entities: [EntityDescription("Person")]))
        let error = #expect(throws: StoreError.self) { try manager.convert(from: .store(source), to: .store(other)) }
        #expect(error?.code == .modelMismatch)
    }

    @Test("a plan of a conversion counts objects, estimates bytes and writes nothing", arguments: Sample.writingTypes)
    func plans(type: String) throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: type, path: directory.file("a"))
        try Sample.store(type, at: a.path).close()
        let before = try directory.names()
        let plan = try manager.plan(
            from: .location(a), to: .location(StoreLocation(type: type, path: directory.file("b"))))
        #expect(plan.objects == 4505)
        #expect(plan.links == 4499)
        #expect(plan.entities.first { $0.name == "Book" }?.count == 3000)
        #expect(plan.bytesNeeded > 0)
        #expect(plan.refusals == [])
        #expect(try directory.names() == before)
    }
}
