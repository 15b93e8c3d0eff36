import RoostCore

#if os(Linux)
    import Foundation
    import Roost
    import RoostMigration
    import Testing

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// A small file system in memory, which only the superuser can mount.
    private final class SmallDisk {
        let path = NSTemporaryDirectory() + "roost-disk-" + UUID().uuidString

        init(byteCount: Int) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            guard mount("tmpfs", path, "tmpfs", 0, "size=\(byteCount),mode=755") == 0 else {
                rmdir(path)
                throw StoreError(.permissionDenied, "cannot mount: \(errno)")
            }
        }

        deinit {
            umount2(path, Int32(MNT_DETACH))
            rmdir(path)
        }

        func fill() throws {
            let file = open("\(path)/ballast", O_WRONLY | O_CREAT | O_APPEND, 0o600)
            defer { close(file) }
            for size in [4096, 1] { while write(file, [UInt8](repeating: 1, count: size), size) > 0 {} }
        }

        func makeRoom() { unlink("\(path)/ballast") }

        /// Returns the names of all files except the ballast and the store's lock file.
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: path).filter { !["ballast", "s.lock"].contains($0) }
                .sorted()
        }

        /// Whether this process may mount a file system, which containers often forbid.
        static let isPossible: Bool = {
            guard geteuid() == 0 else { return false }
            return (try? SmallDisk(byteCount: 1 << 20)) != nil
        }()
    }

    @Suite("Stores on a full disk", .enabled(if: SmallDisk.isPossible, "mounting is not allowed here"), .serialized)
    struct FullDiskTests {
        private func makeDisk(_ type: String, in place: Workplace, fills: Bool = true) throws -> SmallDisk {
            try place.makeStore(type, named: "a", objects: 300)
            let disk = try SmallDisk(byteCount: 16 << 20)
            try FileManager.default.copyItem(atPath: place.file("a"), toPath: "\(disk.path)/s")
            if fills { try disk.fill() }
            return disk
        }

        @Test(
            "a store on a full disk is read, converted and backed up without new files on that disk",
            arguments: Workplace.fileTypes)
        func reading(type: String) throws {
            let place = try Workplace()
            let disk = try makeDisk(type, in: place)
            let store = "\(type):\(disk.path)/s"
            for command in [
                ["info", store], ["check", store], ["dump", store], ["fetch", store, "Track", "--count"],
                ["convert", store, "lmdb:elsewhere"],
                ["backup", store, "\(type):backup"],
            ] {
                let result = try place.start(command).wait()
                #expect(result.code == 0, "\(command): \(result)")
                #expect(try disk.names() == ["s"], "\(command)")
            }
            for copy in ["elsewhere", "backup"] { #expect(try place.roost("diff", "a", copy).code == 0) }
        }

        @Test(
            "a store on a full disk can have several readers, and a writer after them", arguments: Workplace.fileTypes)
        func together(type: String) throws {
            let place = try Workplace()
            let disk = try makeDisk(type, in: place)
            let location = StoreLocation(type: type, path: "\(disk.path)/s")
            let readers = try (0..<3).map { _ in
                try StoreRegistry.standard.open(location, options: StoreOptions(isReadOnly: true, timeoutSeconds: 5))
            }
            let info = try place.roost("info", "\(location)", "--timeout=5")
            #expect(info.code == 0, "\(info)")
            if type == "sqlite" {
                disk.makeRoom()
                let update = try place.roost(
                    "update", "\(location)", "Track", "--set=title = \"x\"", "--yes", "--timeout=0")
                #expect(update.code == 3, "\(update)")
            }
            for reader in readers { try reader.close() }
            #expect(try disk.names() == ["s"])
            disk.makeRoom()
            let update = try place.roost("update", "\(location)", "Track", "--set=title = \"x\"", "--yes")
            #expect(update.code == 0, "\(update)")
            #expect(try place.roost("check", "\(location)").code == 0)
        }

        @Test("commands that write to a full disk fail and leave no new file", arguments: Workplace.fileTypes)
        func writing(type: String) throws {
            let place = try Workplace()
            let disk = try makeDisk(type, in: place)
            let before = try Data(contentsOf: URL(fileURLWithPath: "\(disk.path)/s"))
            let store = "\(type):\(disk.path)/s"
            for command in [
                ["compact", store], ["update", store, "Track", "--set=title = \"x\"", "--yes"],
                ["convert", "a", "\(type):\(disk.path)/new"],
                ["convert", "a", "\(type):\(disk.path)/s", "--overwrite"],
                ["backup", "a", "\(type):\(disk.path)/new"],
            ] {
                let result = try place.start(command).wait()
                #expect(
                    result.code == 3 && (result.errors.contains("space") || result.errors.contains("full")),
                    "\(command): \(result)")
                #expect(try disk.names() == ["s"], "\(command)")
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(disk.path)/s")) == before)
            disk.makeRoom()
            #expect(try place.roost("compact", store).code == 0)
            #expect(try place.roost("diff", "a", store).code == 0)
        }

        /// The disk becomes full at different points of the operation.
        @Test(
            "a disk that fills up during a conversion, backup or load keeps no partial store",
            arguments: Workplace.fileTypes)
        func filling(type: String) throws {
            let place = try Workplace()
            try place.makeStore(type, named: "a", objects: 300)
            try #require(try place.roost("dump", "a").code == 0)
            try place.write(Data(try place.roost("dump", "a").output.utf8), to: "dump")
            var failures = 0
            for kilobytes in stride(from: 8, through: 1200, by: 61) {
                let disk = try SmallDisk(byteCount: kilobytes << 10)
                for command in [["convert", "a"], ["backup", "a"], ["load"]] {
                    let arguments = command + ["\(type):\(disk.path)/s"]
                    let result = try place.start(arguments, through: ["/bin/sh", "-c", "exec \"$@\" < dump", "sh"])
                        .wait()
                    if result.code != 0 { failures += 1 }
                    let names = try disk.names()
                    #expect(
                        names == (result.code == 0 ? ["s"] : []),
                        "\(kilobytes) KB, \(arguments): \(names), \(result.errors)")
                    if result.code == 0 {
                        try StoreRegistry.standard.type(named: type).destroy(
                            StoreLocation(type: type, path: "\(disk.path)/s"))
                    }
                }
            }
            #expect(failures > 0)
        }

        @Test(
            "a store with a leftover log on a full disk is not read, and the error names the missing space",
            .enabled(if: Workplace.fileTypes.contains("sqlite")))
        func leftoverLog() throws {
            let place = try Workplace()
            let disk = try makeDisk("sqlite", in: place, fills: false)
            let location = StoreLocation(type: "sqlite", path: place.file("a"))
            let store = try StoreRegistry.standard.open(location)
            var changes = ChangeSet(model: store.model)
            changes.userMetadata["x"] = .some(.int(1))
            _ = try store.commit(changes)
            try FileManager.default.copyItem(atPath: place.file("a-wal"), toPath: "\(disk.path)/s-wal")
            try store.close()
            try disk.fill()
            try place.roost("info", "sqlite:\(disk.path)/s").expectError(3, containing: "no room for reading its log")
            #expect(try disk.names() == ["s", "s-wal"])
            disk.makeRoom()
            let info = try place.roost("info", "sqlite:\(disk.path)/s", "--verbose")
            #expect(info.code == 0 && info.output.contains("keep both files together"), "\(info)")
            let check = try place.roost("check", "sqlite:\(disk.path)/s")
            #expect(check.code == 0 && check.output.contains("keep both files together"), "\(check)")
        }
    }
#endif
