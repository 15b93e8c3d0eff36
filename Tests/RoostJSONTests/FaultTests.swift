import Foundation
import RoostCore
import RoostFiles
import RoostKeyValue
import Testing

@testable import RoostJSON

#if os(Linux)
    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// A small file system in memory, unmounted on deallocation.
    private final class SmallDisk {
        let path = NSTemporaryDirectory() + "roost-json-disk-" + UUID().uuidString
        var location: StoreLocation { StoreLocation(type: "json", path: "\(path)/store") }
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

        func fill() throws {
            let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            defer { close(file) }
            for size in [4096, 1] { while write(file, [UInt8](repeating: 1, count: size), size) > 0 {} }
        }

        func makeRoom() { unlink(ballast) }

        /// Whether this process can mount a file system; containers often forbid it.
        static let isPossible: Bool = {
            guard geteuid() == 0 else { return false }
            return (try? SmallDisk(byteCount: 1 << 20)) != nil
        }()
    }

    @Suite("JSON on a full disk", .enabled(if: SmallDisk.isPossible), .serialized)
    struct JSONFullDiskTests {
        @Test("a JSON commit on a full disk loses nothing and succeeds once there is space")
        func commitsOnFullDisk() throws {
            let type = JSONStoreType()
            let disk = try SmallDisk(byteCount: 1 << 20)
            let store = try type.create(
                disk.location, model: try libraryModel(), options: StoreOptions(timeoutSeconds: 0))
            try store.fill()
            func add(_ key: Int64) throws {
                try store.change {
                    try $0.insert(ObjectID("Book", key: key), values: ["cover": .data(Data(repeating: 7, count: 3000))])
                }
            }
            var key: Int64 = 10
            var code: StoreError.Code?
            while code == nil, key < 1000 {
                key += 1
                do { try add(key) } catch let error as StoreError { code = error.code }
            }
            #expect(code == .noSpace)
            let state = try store.state()
            #expect(state.digest.objectCount == Int(key) - 11 + 8)
            try disk.fill()
            for _ in 0..<3 {
                let error = #expect(throws: StoreError.self) { try add(key) }
                #expect(error?.code == .noSpace)
            }
            let reader = try type.open(disk.location, options: StoreOptions(isReadOnly: true))
            #expect(try reader.state() == state)
            try reader.close()
            // Closing cannot merge the journal into the document, but the journal keeps every commit.
            let error = #expect(throws: StoreError.self) { try store.close() }
            #expect(error?.code == .noSpace)
            disk.makeRoom()
            let again = try type.open(disk.location, options: StoreOptions())
            #expect(try again.state() == state)
            try again.change { try $0.insert(ObjectID("Tag", key: 50), values: [:]) }
            let last = try again.state()
            let small = try FileManager.default.contentsOfDirectory(atPath: disk.path)
            #expect(!small.contains { $0.contains("roost-tmp") }, "\(small)")
            try? again.close()
            let final = try type.open(disk.location, options: StoreOptions(isReadOnly: true))
            #expect(try final.state() == last)
            try final.close()
        }

        @Test("a JSON store leaves no file if its creation lacks space, or if it is destroyed after a failed load")
        func createsOnFullDisk() throws {
            let type = JSONStoreType()
            let disk = try SmallDisk(byteCount: 1 << 20)
            try disk.fill()
            let error = #expect(throws: StoreError.self) {
                _ = try type.create(disk.location, model: try libraryModel(), options: StoreOptions())
            }
            #expect(error?.code == .noSpace)
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["ballast"])
            disk.makeRoom()
            let store = try type.create(
                disk.location, model: try libraryModel(), options: StoreOptions().with { $0.isUnpublished = true })
            let loader = try store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: store.model)
            for key in Int64(1)...30 {
                try batch.append(
                    ObjectID("Book", key: key), values: ["cover": .data(Data(repeating: 7, count: 60_000))])
            }
            try loader.append(batch)
            let full = #expect(throws: StoreError.self) { _ = try loader.finish() }
            #expect(full?.code == .noSpace)
            try? store.close()
            try type.destroy(disk.location)
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
        }
    }
#endif

@Suite("Slow and failing disks of JSON stores")
struct JSONFailingFilesTests {
    @Test("a JSON snapshot does not wait for a commit that waits for the disk")
    func snapshotIgnoresSlowDisk() throws {
        let bench = try Bench()
        try bench.create().close()
        let options = StoreOptions()
        let storage = try JSONOpening(bench.location(), options: options).open()
        let store = try KeyValueStore(opening: storage, type: bench.type, location: bench.location(), options: options)
        try store.fill()
        let (isWaiting, mayGoOn, isOver) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            try? storage.withFiles { (_) throws(StoreError) in
                isWaiting.signal()
                mayGoOn.wait()
            }
            isOver.signal()
        }
        isWaiting.wait()
        let count = Mutex<Int?>(nil)
        let hasRead = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let read = try? store.state().digest.objectCount
            count.withLock { $0 = read }
            hasRead.signal()
        }
        #expect(hasRead.wait(timeout: .now() + 60) == .success)
        mayGoOn.signal()
        isOver.wait()
        #expect(count.withLock { $0 } == 8)
        try store.close()
    }

    @Test("after a failed journal flush, the next JSON commit writes a new document")
    func recoversFromFailedFlush() throws {
        let bench = try Bench()
        try bench.create().close()
        let options = StoreOptions()
        let storage = try JSONOpening(bench.location(), options: options).open()
        let store = try KeyValueStore(opening: storage, type: bench.type, location: bench.location(), options: options)
        try store.fill()
        let journal = try bench.bytes("store-journal")
        try storage.withFiles { (files) throws(StoreError) in
            files.journal?.failure = StoreError(.ioFailure, "as if a flush had failed")
        }
        // Adds bytes of the failed commit after the journal's last frame.
        try bench.write(journal + [1, 2, 3], to: "store-journal")
        let other = try bench.open(readOnly: true)
        #expect(try other.state() == store.state())
        try other.close()
        try store.setPages(7, version: 1)
        #expect(try !bench.names.contains("store-journal"))
        let reader = try bench.open(readOnly: true)
        #expect(try reader.state() == store.state())
        try reader.close()
        try store.setPages(8, version: 2)
        #expect(try bench.names.contains("store-journal"))
        try store.close()
    }
}
