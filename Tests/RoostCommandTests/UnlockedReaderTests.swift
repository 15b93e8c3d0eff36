import Foundation
import Roost
import RoostCore
import Testing

#if canImport(Glibc)
    import Glibc

    /// Commands of a user who may read and write a store and its directory, but not open its lock
    /// file.
    @Suite("Readers that cannot set locks")
    struct UnlockedReaderTests {
        private static let canBecomeNobody =
            geteuid() == 0
            && ["/usr/bin/", "/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + "setpriv") }

        @Test(
            "a reader without locks refuses a damaged log and reads a sound one",
            .enabled(if: canBecomeNobody, "needs superuser rights and setpriv"), arguments: [true, false])
        func log(isDamaged: Bool) throws {
            let place = try Workplace()
            try place.makeStore("sqlite", named: "live", objects: 20)
            let store = try StoreRegistry.standard.open(StoreLocation(type: "sqlite", path: place.file("live")))
            var log: [UInt8] = []
            for key in Int64(1001)...1004 {
                var changes = ChangeSet(model: store.model)
                try changes.insert(ObjectID("Track", key: key), values: [:])
                _ = try store.commit(changes)
                log = Array(try place.bytes("live-wal"))
            }
            // The files that a killed process leaves.
            try place.write(Data(try place.bytes("live")), to: "s")
            try store.close()
            try place.write(Data(), to: "s.lock")
            try FileManager.default.copyItem(atPath: try #require(Workplace.program), toPath: place.file("roost"))
            for name in [".", "s", "roost"] { try #require(chown(place.file(name), 65534, 65534) == 0) }
            try #require(chmod(place.file("s.lock"), 0o600) == 0)
            func run(_ arguments: String...) throws -> CommandResult {
                try? FileManager.default.removeItem(atPath: place.file("s-shm"))
                let user = ["/usr/bin/env", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
                return try RunningCommand(user + [place.file("roost")] + arguments, in: place.path).wait()
            }
            // Damages a frame of the log's first commit.
            if isDamaged { log[100] ^= 4 }
            try place.write(Data(log), to: "s-wal")
            try #require(chown(place.file("s-wal"), 65534, 65534) == 0)
            #expect(try run("info", "sqlite:s").code == (isDamaged ? 3 : 0))
            #expect(try run("fetch", "sqlite:s", "Track", "--count").code == (isDamaged ? 3 : 0))
        }
    }
#endif
