import Foundation
import Roost
import RoostSystem
import Testing

@Suite("roost backup and roost compact", .serialized)
struct MaintenanceCommandTests {
    @Test("a backup is an equal store with the same UUID", arguments: Workplace.fileTypes)
    func backup(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a")
        let backup = try place.roost("backup", "a", "b")
        #expect(backup.code == 0 && backup.errors == "")
        #expect(backup.output.hasPrefix("Backed up \(type):a to \(type):b.\n"))
        #expect(try place.roost("diff", "a", "b").code == 0)
        let uuid = try place.roost("info", "a", "--json").json()["uuid"] as? String
        #expect(try place.roost("info", "b", "--json").json()["uuid"] as? String == uuid)
        #expect(try place.roost("backup", "a", "c", "--json").json()["verified"] as? Bool == true)
        #expect(try place.names().allSatisfy { !$0.contains("roost-tmp") })
    }

    @Test("a backup replaces an older one only with --overwrite", arguments: Workplace.fileTypes)
    func replacedBackup(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a")
        #expect(try place.roost("backup", "a", "b", "--quiet").code == 0)
        try place.roost("backup", "a", "\(type):b").expectError(3, containing: "exists already")
        #expect(try place.roost("backup", "a", "b", "--overwrite", "--quiet").output == "")
        #expect(try place.roost("diff", "a", "b").code == 0)
    }

    @Test("a backup over its source or into another store type is refused", arguments: Workplace.fileTypes)
    func wrongBackup(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a")
        try place.roost("backup", "a", "a").expectError(2, containing: "is the source")
        try place.roost("backup", "a", "memory:x").expectError(2, containing: "the type of its store, '\(type)'")
        #expect(try place.roost("check", "a").code == 0)
    }

    @Test(
        "a backup or a conversion to the name of a store's companion is refused", arguments: Workplace.fileTypes,
        ["a-wal", "a-shm", "a-journal", "a-lock", "a.lock"])
    func companionName(type: String, name: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a")
        for more in [[], ["--overwrite"]] {
            try place.start(["backup", "a", name] + more).wait().expectError(3, containing: "belongs to the store")
            try place.start(["convert", "a", "json:\(name)"] + more).wait()
                .expectError(3, containing: "belongs to the store")
        }
        #expect(try place.roost("check", "a").code == 0)
    }

    @Test("compact shrinks a store after deletions, and reports the sizes", arguments: Workplace.fileTypes)
    func compact(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "b")
        let store = try StoreRegistry.standard.open(StoreLocation(type: type, path: place.file("b")))
        var changes = ChangeSet(model: store.model)
        changes.deletes = (1...1500).map { .init(ObjectID("Track", key: Int64($0)), version: 1) }
        _ = try store.commit(changes)
        try store.close()
        let before = try place.bytes("b").count
        let report = try place.roost("compact", "b", "--json").json()
        #expect(report["bytesBefore"] as? Int == before)
        #expect(report["bytesAfter"] as? Int == (try place.bytes("b").count))
        // A JSON document has no free space.
        #expect(try place.bytes("b").count < before || type == "json")
        #expect(report["inPlace"] as? Bool == false && (report["warnings"] as? [Any])?.isEmpty == true)
        let text = try place.roost("compact", "b")
        #expect(text.code == 0 && text.output.hasPrefix("Compacted \(type):b.\n  before "))
        #expect(try place.roost("compact", "b", "--quiet").output == "")
        #expect(try place.roost("check", "b").code == 0)
        #expect(try place.names().allSatisfy { !$0.contains("roost-tmp") })
    }

    @Test("compact refuses a missing store and a store in memory")
    func wrongCompact() throws {
        let place = try Workplace()
        try place.roost("compact", "nothing").expectError(3, containing: "no such file")
        try place.roost("compact", "memory:x").expectError(3, containing: "cannot be compacted")
    }

    /// A user who may write in a directory can replace other users' files there.
    @Test(
        "compact refuses another user's store, and a backup that replaces a store gives no user more access",
        .enabled(
            if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"),
            "needs superuser rights and setpriv"), arguments: Workplace.fileTypes)
    func ownership(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 10)
        try place.makeStore(type, named: "shared", objects: 10)
        func set(_ name: String, owner: UInt32, group: UInt32, permissions: mode_t) {
            let file = name.isEmpty ? place.path : place.file(name)
            #expect(chown(file, owner, group) == 0 && chmod(file, permissions) == 0)
        }
        func run(_ arguments: String..., as user: [String]) throws -> CommandResult {
            try place.start(arguments, through: ["/usr/bin/setpriv"] + user).wait()
        }
        func rights() throws -> [Int] {
            let attributes = try FileManager.default.attributesOfItem(atPath: place.file("shared"))
            return [FileAttributeKey.ownerAccountID, .groupOwnerAccountID, .posixPermissions].map {
                (attributes[$0] as? NSNumber)?.intValue ?? -1
            }
        }
        for name in try place.names() where name.hasSuffix(".lock") {
            try? FileManager.default.removeItem(atPath: place.file(name))
        }
        set("", owner: 65534, group: 4321, permissions: 0o755)
        set("a", owner: 65534, group: 4321, permissions: 0o644)
        set("shared", owner: 1234, group: 4321, permissions: 0o664)
        let member = ["--reuid=65534", "--regid=65534", "--groups=4321"]
        let stranger = ["--reuid=65534", "--regid=65534", "--clear-groups"]
        let before = try place.bytes("shared")
        try run("compact", "shared", as: member).expectError(3, containing: "belongs to another user")
        #expect(try place.bytes("shared") == before && rights() == [1234, 4321, 0o664])
        // A backup may replace an older one, whose group keeps the right to read and write.
        #expect(try run("backup", "a", "shared", "--overwrite", "--quiet", as: member).code == 0)
        #expect(try rights() == [65534, 4321, 0o664])
        set("shared", owner: 1234, group: 4321, permissions: 0o676)
        #expect(try run("backup", "a", "shared", "--overwrite", "--quiet", as: stranger).code == 0)
        #expect(try rights() == [65534, 65534, 0o666])
        #expect(try place.names().allSatisfy { !$0.contains("roost-tmp") })
    }

    @Test(
        "backup and compact leave no temporary file after Ctrl-C",
        arguments: Workplace.fileTypes, ["backup", "compact"])
    func stopped(type: String, command: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 6000)
        let arguments = command == "backup" ? ["backup", "a", "b", "--quiet"] : ["compact", "a", "--quiet"]
        let clock = ContinuousClock()
        let start = clock.now
        try #require(try place.start(arguments).wait().code == 0)
        let microseconds = (clock.now - start) / .microseconds(1)
        let digest = try place.roost("info", "a", "--json").json()["digest"] as? String
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededNumbers(seed)
        var stopped = 0
        for round in 0..<16 {
            if command == "backup" { try? FileManager.default.removeItem(atPath: place.file("b")) }
            let run = try place.start(arguments)
            // Sleeps, because the signal's time is random on purpose.
            usleep(UInt32(Double(numbers.next() % 1000) / 1000 * microseconds))
            kill(run.process.processIdentifier, SIGINT)
            let result = try run.wait()
            #expect(result.wasKilled || [0, 130].contains(result.code), "seed \(seed), round \(round): \(result)")
            if result.code == 130, !result.wasKilled { stopped += 1 }
            #expect(try place.names().filter { $0.contains("roost-tmp") } == [], "seed \(seed), round \(round)")
            if command == "backup" {
                let exists = FileManager.default.fileExists(atPath: place.file("b"))
                #expect(exists == (!result.wasKilled && result.code == 0), "seed \(seed), round \(round): \(result)")
            }
            let info = try place.roost("info", "a", "--json")
            #expect(try info.json()["digest"] as? String == digest, "seed \(seed), round \(round)")
        }
        #expect(stopped > 0, "seed \(seed)")
        #expect(try place.roost("check", "a").code == 0)
    }

    #if os(Linux)
        @Test("LMDB stores are filled, copied and compacted in a small address space")
        func limitedAddressSpace() throws {
            let place = try Workplace()
            try place.makeStore("sqlite", named: "a")
            let limit = ["/bin/sh", "-c", "ulimit -v 4000000 && exec \"$@\"", "sh"]
            for arguments in [
                ["convert", "sqlite:a", "lmdb:b"], ["backup", "lmdb:b", "lmdb:c"], ["compact", "lmdb:c"],
                ["check", "lmdb:c"],
            ] {
                let result = try place.start(arguments, through: limit).wait()
                #expect(result.code == 0, "\(arguments): \(result.errors)")
            }
        }
    #endif
}
