import RoostCore

#if LMDB && os(Linux)
    import Foundation
    import RoostKeyValue
    @testable import RoostLMDB
    import Testing

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// A small file system in memory, unmounted on deallocation.
    private final class SmallDisk {
        let path = NSTemporaryDirectory() + "roost-disk-" + UUID().uuidString
        var store: String { "\(path)/store" }
        private var ballast: String { "\(path)/ballast" }

        init(byteCount: Int) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            guard mount("tmpfs", path, "tmpfs", 0, "size=\(byteCount),mode=755") == 0 else {
                throw StoreError(.permissionDenied, "cannot mount: \(errno)")
            }
        }

        deinit {
            umount2(path, Int32(MNT_DETACH))
            rmdir(path)
        }

        /// Fills this many bytes, or all free space.
        func fill(byteCount: Int = .max) throws {
            let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            defer { close(file) }
            var left = byteCount
            for size in [4096, 1] {
                while left >= size, write(file, [UInt8](repeating: 1, count: size), size) > 0 { left -= size }
            }
        }

        func makeRoom() { unlink(ballast) }

        /// Whether this process can mount a file system; containers often forbid it.
        static let isPossible: Bool = {
            guard geteuid() == 0 else { return false }
            return (try? SmallDisk(byteCount: 1 << 20)) != nil
        }()
    }

    @Suite("LMDB on a full disk", .enabled(if: SmallDisk.isPossible), .serialized)
    struct LMDBFullDiskTests {
        private func put(_ number: Int, in storage: LMDBStorage) throws {
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                try writer.put("k\(number)", String(repeating: "\(number % 10)", count: 20_000))
            }
        }

        private func openStorage(_ disk: SmallDisk, isReadOnly: Bool = false) throws -> LMDBStorage {
            try LMDBStorage.open(
                path: disk.store, options: StoreOptions(isReadOnly: isReadOnly, timeoutSeconds: 0))
        }

        @Test("an LMDB commit on a full disk loses nothing and succeeds once there is space")
        func commitsOnFullDisk() throws {
            let disk = try SmallDisk(byteCount: 2 << 20)
            let storage = try LMDBStorage.create(path: disk.store, options: StoreOptions(timeoutSeconds: 0))
            try put(0, in: storage)
            try disk.fill(byteCount: 512 << 10)
            let old = try storage.read()
            var number = 0
            var code: StoreError.Code?
            while code == nil, number < 1000 {
                number += 1
                code = errorCode { try put(number, in: storage) }
            }
            #expect(code == .noSpace)
            for _ in 0..<3 { #expect(errorCode { try put(number, in: storage) } == .noSpace) }
            #expect(try old.entries().count == 1)
            let reader = try storage.read()
            #expect(try reader.entries().count == number)
            reader.close()
            try disk.fill()
            #expect(errorCode { try put(number, in: storage) } == .noSpace)
            disk.makeRoom()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                for number in 1..<10 { try writer.delete("k\(number)") }
            }
            old.close()
            for _ in 0..<3 { try put(number, in: storage) }
            #expect(try storage.integrityFindings().isEmpty)
            try storage.close()
            #expect(try openStorage(disk).read().entries().count == number + 1 - 9)
        }

        @Test("an LMDB store on a full disk can only be opened read-only")
        func opensOnFullDisk() throws {
            let disk = try SmallDisk(byteCount: 2 << 20)
            let storage = try LMDBStorage.create(path: disk.store, options: StoreOptions(timeoutSeconds: 0))
            try put(0, in: storage)
            try storage.close()
            try disk.fill()
            #expect(errorCode { _ = try openStorage(disk) } == .noSpace)
            let reading = try openStorage(disk, isReadOnly: true)
            #expect(try reading.read().entries().count == 1)
            try reading.close()
            disk.makeRoom()
            let again = try openStorage(disk)
            try put(1, in: again)
            #expect(try again.read().entries().count == 2)
        }
    }
#endif
