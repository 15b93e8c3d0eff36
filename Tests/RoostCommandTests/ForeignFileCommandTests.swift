import Foundation
import RoostSystem
import Testing

@Suite("Stores with several names, and foreign files beside stores")
struct ForeignFileCommandTests {
    private static let reads: [[String]] = [["info", "a"], ["check", "a"], ["dump", "a"], ["fetch", "a", "Genre"]]
    private static let writes: [[String]] = [
        ["update", "a", "Artist", "--set=biography='x'", "--yes"], ["delete", "a", "Genre", "--yes"], ["compact", "a"],
    ]

    private func link(_ name: String, as other: String, in place: Workplace) throws {
        try FileManager.default.linkItem(atPath: place.file(name), toPath: place.file(other))
    }

    @Test(
        "a store with a hard link is never written, and reading requires --accept-links",
        arguments: Workplace.fileTypes)
    func links(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 100)
        try link("a", as: "b", in: place)
        let before = try place.bytes("a")
        for command in Self.reads {
            try place.start(command).wait().expectError(3, containing: "--accept-links")
            #expect(try place.start(command + ["--accept-links"]).wait().code == 0)
        }
        for command in Self.writes {
            for more in [[], ["--accept-links"]] {
                try place.start(command + more).wait().expectError(3, containing: "(hard links): 'b'")
            }
        }
        try place.roost("convert", "a", "json:new").expectError(3, containing: "--accept-links")
        #expect(try place.roost("convert", "a", "json:new", "--accept-links", "--quiet").code == 0)
        #expect(try place.roost("diff", "a", "b", "--accept-links").code == 0)
        try place.roost("convert", "new", "\(type):a", "--overwrite").expectError(3, containing: "(hard links): 'b'")
        #expect(try place.bytes("a") == before)
        #expect(try place.names().filter { !$0.hasSuffix(".lock") } == ["a", "b", "new"])
        try FileManager.default.removeItem(atPath: place.file("b"))
        for command in Self.writes { #expect(try place.start(command + ["--quiet"]).wait().code == 0) }
    }

    @Test(
        "commands refuse and keep a foreign file with the name of a store's -wal, -shm or -journal file",
        arguments: ["-wal", "-shm", "-journal"], ["pipe", "link", "store"])
    func companions(suffix: String, kind: String) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 100)
        try place.write(Data("precious".utf8), to: "victim")
        switch kind {
        case "pipe": try #require(mkfifo(place.file("a" + suffix), 0o600) == 0)
        case "link": try link("victim", as: "a" + suffix, in: place)
        default: try FileManager.default.copyItem(atPath: place.file("a"), toPath: place.file("a" + suffix))
        }
        let before = try place.names()
        let (store, file) = (try place.bytes("a"), kind == "pipe" ? Data() : try place.bytes("a" + suffix))
        for command in Self.reads + Self.writes {
            try place.start(command + ["--timeout=60"]).wait().expectError(3, containing: "a\(suffix)'")
        }
        #expect(try place.names() == before)
        #expect(try place.bytes("a") == store)
        #expect(try place.bytes("victim") == Data("precious".utf8))
        if kind != "pipe" { #expect(try place.bytes("a" + suffix) == file) }
    }

    @Test("the error for a foreign file says if the file is an SQLite database")
    func otherDatabase() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 50)
        // These bytes are the application ID in SQLite's header.
        var bytes = try place.bytes("a")
        bytes.replaceSubrange(68..<72, with: [0, 0, 0, 0])
        try place.write(bytes, to: "other.db")
        try place.roost("info", "other.db")
            .expectError(3, containing: "other.db' is an SQLite database of some other program")
        try place.write(Data("text".utf8), to: "text")
        try place.roost("info", "text").expectError(3, containing: "write type:path to name the type")
    }

    @Test("commands on a file that is not a store leave no lock file", arguments: Workplace.fileTypes)
    func noLockFile(type: String) throws {
        let place = try Workplace()
        try place.write(Data("root:x:0:0::/root:/bin/sh\n".utf8), to: "passwd")
        try FileManager.default.createSymbolicLink(
            atPath: place.file("link"), withDestinationPath: place.file("passwd"))
        try place.write(Data(#"{"formatVersion": 1, "entities": {}}"#.utf8), to: "model.json")
        for name in ["passwd", "link"] {
            for command in Self.reads + Self.writes + [["migrate", "a", "--in-place", "--to=model.json"]] {
                let arguments = command.map { $0 == "a" ? "\(type):\(name)" : $0 }
                try place.start(arguments).wait().expectError(3)
            }
        }
        #expect(try place.names() == ["link", "model.json", "passwd"])
    }
}
