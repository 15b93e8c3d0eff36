import Foundation
import RoostAppleModels
import RoostCore
import RoostCoreData
import Testing

@Suite("Model bundles")
struct ModelBundleTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    static func contents(_ entity: String) -> String { "<model><entity name=\"\(entity)\"/></model>" }

    func makeBundle(_ versions: [String], current: String? = nil) throws -> String {
        for version in versions {
            try directory.write(
                Self.contents("E" + version.filter(\.isNumber)), to: "M.xcdatamodeld/\(version).xcdatamodel/contents")
        }
        if let current {
            try directory.write(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(current)</string></dict></plist>
                """, to: "M.xcdatamodeld/.xccurrentversion")
        }
        return directory.file("M.xcdatamodeld")
    }

    @Test("the versions of an .xcdatamodeld bundle are listed in natural order, and the current one is read by default")
    func listsVersions() throws {
        let path = try makeBundle(["M 10", "M 2", "M"], current: "M 2.xcdatamodel")
        #expect(try CoreDataModelReader.versions(at: path) == ["M", "M 2", "M 10"])
        #expect(try CoreDataModelReader.currentVersion(at: path) == "M 2")
        #expect(try CoreDataModelReader.read(at: path).model.entities.map(\.name) == ["E2"])
        #expect(try CoreDataModelReader.read(at: path, version: "M 10").model.entities.map(\.name) == ["E10"])
        #expect(try CoreDataModelReader.read(at: path + "/M.xcdatamodel").model.entities.map(\.name) == ["E"])
        let error = try failure { try CoreDataModelReader.read(at: path, version: "M 3") }
        #expect(error.code == .notFound && error.message.contains("M 2"))
    }

    @Test("only a bundle of several versions needs a current version")
    func noCurrent() throws {
        #expect(try CoreDataModelReader.read(at: makeBundle(["M"])).model.entities.map(\.name) == ["E"])
        #expect(try failure { try CoreDataModelReader.read(at: makeBundle(["M", "M 2"])) }.code == .invalidModel)
    }

    /// A regular file that has fewer bytes than the file system reports, like a file that shrinks
    /// while it is read.
    static let shortFile = "/sys/devices/system/cpu/online"

    @Test(
        "a file that becomes shorter while it is read is refused",
        .enabled(if: FileManager.default.fileExists(atPath: shortFile), "the system has no such file"))
    func shrinkingFile() throws {
        let error = try failure { try BundleDirectory.readFile(at: Self.shortFile, limit: 1 << 20) }
        #expect(error.code == .ioFailure && error.message.contains("changed while it was read"))
    }

    @Test(
        "a version name that is a path is refused",
        arguments: [
            "../Outside", "/etc/passwd", "..", "M/../../Outside", ".", "a/b",
        ])
    func traversal(name: String) throws {
        try directory.write(Self.contents("Outside"), to: "Outside.xcdatamodel/contents")
        let path = try makeBundle(["M", "M 2"], current: name)
        #expect(try failure { try CoreDataModelReader.read(at: path) }.code == .invalidModel)
        #expect(
            [.invalidModel, .notFound].contains(
                try failure { try CoreDataModelReader.read(at: path, version: name) }.code))
    }

    @Test("a symbolic link inside a model bundle is refused")
    func links() throws {
        try directory.write(Self.contents("Outside"), to: "Outside.xcdatamodel/contents")
        let path = try makeBundle(["M"])
        try FileManager.default.createSymbolicLink(
            atPath: path + "/L.xcdatamodel", withDestinationPath: directory.file("Outside.xcdatamodel"))
        #expect(try failure { try CoreDataModelReader.read(at: path, version: "L") }.code == .invalidModel)
        try FileManager.default.removeItem(atPath: path + "/M.xcdatamodel/contents")
        try FileManager.default.createSymbolicLink(
            atPath: path + "/M.xcdatamodel/contents",
            withDestinationPath: directory.file("Outside.xcdatamodel/contents"))
        #expect(try failure { try CoreDataModelReader.read(at: path, version: "M") }.code == .invalidModel)
    }

    @Test("a binary model from before Xcode 4 is unsupported, and the error says so")
    func preXcode4() throws {
        try directory.write("bplist00", to: "Old.xcdatamodel/elements")
        let error = try failure { try CoreDataModelReader.read(at: directory.file("Old.xcdatamodel")) }
        #expect(error.code == .unsupported && error.message.contains("Xcode 4"))
    }

    @Test("a missing path and an empty bundle are not found, and a file of another kind is an invalid model")
    func notAModel() throws {
        #expect(try failure { try CoreDataModelReader.read(at: directory.file("none")) }.code == .notFound)
        try FileManager.default.createDirectory(
            atPath: directory.file("empty.xcdatamodeld"), withIntermediateDirectories: true)
        #expect(
            try failure { try CoreDataModelReader.read(at: directory.file("empty.xcdatamodeld")) }.code == .notFound)
        try directory.write("<plist/>", to: "other.xml")
        #expect(try failure { try CoreDataModelReader.read(at: directory.file("other.xml")) }.code == .invalidModel)
    }
}
