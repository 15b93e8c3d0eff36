import Foundation
import Roost
import RoostFiles
import RoostSystem
import Testing

/// A wrong input ends a command with one line on standard error and an exit code, and changes
/// nothing.
@Suite("Commands on bad input")
struct BadInputTests {
    /// Expects four reading commands to refuse the store `name`.
    private func expectRefused(
        _ name: String, in place: Workplace, containing text: String = "",
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try place.names()
        for command in [["info", name], ["check", name], ["diff", name, name], ["convert", name, "sqlite:new"]] {
            try place.start(command).wait().expectError(3, containing: text, at: location)
        }
        #expect(
            try place.names().filter { !$0.hasSuffix(".lock") } == before.filter { !$0.hasSuffix(".lock") },
            sourceLocation: location)
    }

    @Test(
        "commands refuse text, an empty file, zeros or a missing file as a store",
        arguments: ["", "sqlite:", "lmdb:", "json:", "coredata:"])
    func foreignFiles(prefix: String) throws {
        let place = try Workplace()
        try place.write(Data("Dear diary, today I was not a store.\n".utf8), to: "text")
        try place.write(Data(), to: "empty")
        try place.write(Data(repeating: 0, count: 100_000), to: "zeros")
        for name in ["text", "empty", "zeros"] {
            try expectRefused(prefix + name, in: place, containing: name)
            #expect(try place.roost("info", prefix + name).errors.contains("type:path") || !prefix.isEmpty)
        }
        try expectRefused(prefix + "nothing", in: place, containing: "nothing")
        #expect(try place.bytes("text") == Data("Dear diary, today I was not a store.\n".utf8))
        #expect(try place.bytes("empty").isEmpty)
    }

    @Test(
        "commands refuse a directory, a pipe or a device as a store",
        arguments: ["", "sqlite:", "lmdb:", "json:", "coredata:"])
    func notFiles(prefix: String) throws {
        let place = try Workplace()
        try FileManager.default.createDirectory(atPath: place.file("folder"), withIntermediateDirectories: false)
        try #require(mkfifo(place.file("pipe"), 0o600) == 0)
        for name in ["folder", "pipe", "/dev/null", "/dev/zero"] {
            try expectRefused(prefix + name, in: place, containing: name)
        }
    }

    @Test("an update with an argument that is not UTF-8 exits with 2")
    func encoding() throws {
        let place = try Workplace()
        let run = try place.roost(through: [
            "/bin/sh", "-c", #"exec "$0" update store Note "$(printf -- '--set=text = "caf\351"')" --yes"#,
        ])
        run.expectError(2, containing: "argument 4 is not UTF-8")
    }

    @Test("commands refuse an LMDB store in use whose lock file was removed")
    func removedLockFile() throws {
        let place = try Workplace()
        try place.makeStore("lmdb", named: "store", objects: 50)
        let store = try StoreRegistry.standard.open(StoreLocation(type: "lmdb", path: place.file("store")))
        defer { try? store.close() }
        #expect(try place.roost("info", "store").code == 0)
        try FileManager.default.removeItem(atPath: place.file("store-lock"))
        try place.roost("info", "store").expectError(3, containing: "was removed while others have the store open")
        #expect(try !place.names().contains("store-lock"))
        try store.close()
        #expect(try place.roost("info", "store").code == 0)
    }

    @Test("commands with a mistyped, missing or read-only store type exit with 2 and a hint")
    func unknownType() throws {
        let place = try Workplace()
        try place.roost("info", "sqlit:a").expectError(2, containing: "did you mean 'sqlite'?")
        try place.makeStore("sqlite", named: "a", objects: 10)
        try place.roost("convert", "a", "lmbd:b").expectError(2, containing: "lmbd")
        try place.roost("convert", "a", "b").expectError(2, containing: "sqlite:b")
        try place.roost("convert", "a", "coredata:b").expectError(2, containing: "can only be read")
    }

    @Test("a truncated store fails its check or is refused, and is never converted", arguments: Workplace.fileTypes)
    func truncated(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "whole", objects: 500)
        let whole = try place.bytes("whole")
        for part in [1, 15, 16, 100, 1023, 4096, 5000, 8192, whole.count / 2, whole.count - 4096, whole.count - 1] {
            try place.write(whole.prefix(part), to: "cut")
            let check = try place.roost("check", "\(type):cut")
            #expect([1, 3].contains(check.code) && !check.wasKilled, "\(part) of \(whole.count) bytes: \(check)")
            let convert = try place.roost("convert", "\(type):cut", "\(type):copy")
            convert.expectError(3)
            #expect(!FileManager.default.fileExists(atPath: place.file("copy")))
            #expect(try place.bytes("cut") == whole.prefix(part))
            // Each round writes a new file, but keeps the lock file.
            try FileManager.default.removeItem(atPath: place.file("cut"))
        }
    }

    @Test(
        "a store with a flipped bit is converted correctly, or a command reports the damage",
        arguments: Workplace.fileTypes)
    func bitFlips(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "whole", objects: 500)
        let whole = try place.bytes("whole")
        let clean = try place.roost("convert", "whole", "\(type):clean", "--json").json()
        let digest = try #require(clean["digest"] as? String)
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededNumbers(seed)
        var noticed = 0
        for round in 0..<40 {
            var damaged = whole
            // The first rounds damage the start of the file, on which the rest depends.
            let offset = Int(generator.next() % UInt64(round < 15 ? min(8192, whole.count) : whole.count))
            damaged[offset] ^= 1 << UInt8(generator.next() % 8)
            try place.write(damaged, to: "flipped")
            let check = try place.roost("check", "\(type):flipped")
            #expect([0, 1, 3].contains(check.code) && !check.wasKilled, "seed \(seed), byte \(offset): \(check)")
            let convert = try place.roost("convert", "\(type):flipped", "\(type):copy", "--json")
            if convert.code == 0 {
                let isSame = try convert.json()["digest"] as? String == digest
                #expect(isSame || check.code == 1, "seed \(seed), byte \(offset): \(check)")
                try FileManager.default.removeItem(atPath: place.file("copy"))
            } else {
                convert.expectError(3)
                #expect(!FileManager.default.fileExists(atPath: place.file("copy")))
            }
            // A flipped bit in unused space may not be noticed.
            if check.code != 0 || convert.code != 0 { noticed += 1 }
            try FileManager.default.removeItem(atPath: place.file("flipped"))
        }
        #expect(noticed > 0, "seed \(seed)")
    }

    @Test("commands refuse an SQLite store of a newer format, and do not change it")
    func newerVersion() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 10)
        var bytes = try place.bytes("a")
        // user_version, the format's version, is a big-endian number at offset 60 of an SQLite
        // file.
        bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
        try place.write(bytes, to: "newer")
        try expectRefused("sqlite:newer", in: place, containing: "99")
        #expect(try place.bytes("newer") == bytes)
    }

    @Test("commands with --timeout=0 refuse a locked store and name its file", arguments: Workplace.fileTypes)
    func locked(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 10)
        let lock = try StoreLock.acquire(forStoreAt: place.file("a"), mode: .exclusive, timeoutSeconds: 10)
        for command in [["info"], ["check"], ["convert", "sqlite:b"]] {
            var arguments = command
            arguments.insert(contentsOf: ["\(type):a", "--timeout=0"], at: 1)
            try place.start(arguments).wait().expectError(3, containing: "/a'")
        }
        #expect(try !place.names().contains("b"))
        lock.release()
        #expect(try place.roost("info", "a").code == 0)
    }

    /// The words before a command that is to run without superuser rights.
    ///
    /// Nil if the superuser runs the tests and setpriv is missing.
    private static let asUser: [String]? = {
        guard geteuid() == 0 else { return [] }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") else { return nil }
        return ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    }()

    @Test(
        "the error for a missing permission or directory names the file or directory",
        .enabled(if: asUser != nil, "the superuser needs setpriv"), arguments: Workplace.fileTypes)
    func permissions(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 10)
        let user = Self.asUser ?? []
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: place.file("a"))
        try place.start(["info", "\(type):a"], through: user).wait().expectError(3, containing: "'a'")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place.file("a"))
        try FileManager.default.createDirectory(atPath: place.file("closed"), withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: place.file("closed"))
        try place.start(["convert", "\(type):a", "\(type):closed/b"], through: user).wait().expectError(
            3, containing: "closed")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.file("closed")).isEmpty)
        try place.roost("convert", "a", "\(type):nowhere/b").expectError(3, containing: "nowhere")
    }
}

/// Random numbers from a seed (SplitMix64), so that a failure can be repeated.
struct SeededNumbers {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
