import CSQLite
import Foundation
import RoostCore
import Testing

@testable import RoostSQLite

/// Power cuts and damage, applied to copies of a log from each step of a workload.
@Suite("Write-ahead log reader")
struct WriteAheadLogTests {
    /// The log after a step, and the number of committed transactions in it.
    private struct Image {
        let log: [UInt8]
        let commits: Int
    }

    private let directory: TemporaryDirectory
    private static let pageByteCount = 1024
    private static let frameByteCount = pageByteCount + 24

    init() throws { directory = try TemporaryDirectory() }

    /// Returns the log after each step of a workload: commits of many sizes, rollbacks after
    /// writes to the log, and restarts of the log.
    private func images(_ seed: UInt64, steps: Int = 40) throws -> [Image] {
        var random = SeededRandom(seed)
        let path = directory.file("raw")
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        try #require(sqlite3_open(path, &connection) == SQLITE_OK)
        func run(_ sql: String) throws {
            try #require(
                sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK,
                "\(String(cString: sqlite3_errmsg(connection)))")
        }
        // A cache of few pages, so that large transactions are written before they end.
        try run(
            """
            PRAGMA page_size = \(Self.pageByteCount); PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 4; CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB);
            """)
        var images: [Image] = []
        var (commits, rows) = (1, 0)
        func keep() throws { images.append(Image(log: try directory.bytes("raw-wal"), commits: commits)) }
        try keep()
        for step in 0..<steps {
            switch Int.random(in: 0..<10, using: &random) {
            case 0 where step > 10:
                // Later commits overwrite the log from its beginning.
                try run("PRAGMA wal_checkpoint(RESTART)")
                commits = 0
                try run("INSERT INTO t (b) VALUES (randomblob(\(Int.random(in: 1...3000, using: &random))))")
                commits = 1
            case 1...3:
                try run("BEGIN")
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    try run("INSERT INTO t (b) VALUES (randomblob(\(Int.random(in: 1...900, using: &random))))")
                }
                try run("ROLLBACK")
            default:
                let count = [1, 1, 2, 5, 30][Int.random(in: 0..<5, using: &random)]
                try run("BEGIN")
                for _ in 0..<count {
                    try run("INSERT INTO t (b) VALUES (randomblob(\(Int.random(in: 1...900, using: &random))))")
                }
                // The update can change pages that this transaction has already written to the log.
                // SQLite overwrites their frames and corrects the checksums of the frames after them.
                if rows > 0 { try run("UPDATE t SET b = randomblob(700) WHERE a % 7 = 0") }
                try run("COMMIT")
                rows += count
                commits += 1
            }
            try keep()
        }
        return images
    }

    private func content(of log: [UInt8]) throws -> WriteAheadLog.Content {
        try directory.write(log, to: "image-wal")
        // A damaged header has no valid page size, so the database's header is used.
        if try !directory.names.contains("image") {
            try directory.write(Array(try directory.bytes("raw").prefix(4096)), to: "image")
        }
        guard let opened = try WriteAheadLog.open(ofStoreAt: directory.file("image")) else {
            return WriteAheadLog.Content()
        }
        return try opened.content()
    }

    /// Returns a random state of the disk if the power fails before `new` is flushed: each sector
    /// has the old or the new bytes.
    private func torn(_ old: [UInt8], to new: [UInt8], using random: inout SeededRandom) -> [UInt8] {
        let block = [512, 4096][Int.random(in: 0..<2, using: &random)]
        let bias = [1, 5, 9][Int.random(in: 0..<3, using: &random)]
        let length =
            Bool.random(using: &random)
            ? new.count : Int.random(in: min(old.count, new.count)...max(old.count, new.count), using: &random)
        var result = old.prefix(length) + [UInt8](repeating: 0, count: max(0, length - old.count))
        var offset = 0
        while offset < length {
            let end = min(offset + block, length, new.count)
            if end > offset, Int.random(in: 0..<10, using: &random) >= bias {
                result.replaceSubrange(offset..<end, with: new[offset..<end])
            }
            offset += block
        }
        return Array(result)
    }

    @Test("an undamaged log is clean or unfinished and has all commits")
    func readsWholeLog() throws {
        let seed = UInt64.random(in: 0 ... .max)
        for image in try images(seed, steps: 80) {
            let found = try content(of: image.log)
            #expect(found.commitCount == image.commits, "seed \(seed)")
            #expect(found.ending == .clean || found.ending == .unfinished, "seed \(seed)")
        }
    }

    @Test(
        "a power cut in an unflushed transaction is not damage and loses no commit"
    )
    func survivesPowerCut() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed)
        var (count, unfinished) = (0, 0)
        for round in 0..<6 {
            let images = try images(seed &+ UInt64(round), steps: 30)
            for index in images.indices.dropFirst() {
                let (old, new) = (images[index - 1], images[index])
                // A restarted log flushes its header first, in a separate step.
                guard new.log[..<32] == old.log[..<32] else { continue }
                for _ in 0..<20 {
                    let log = torn(old.log, to: new.log, using: &random)
                    let found = try content(of: log)
                    count += 1
                    if found.ending == .unfinished { unfinished += 1 }
                    #expect(
                        found.ending == .clean || found.ending == .unfinished, "seed \(seed), \(round), step \(index)")
                    #expect(
                        found.commitCount == old.commits || found.commitCount == new.commits,
                        "seed \(seed), \(round), step \(index)")
                }
            }
        }
        print("power cuts: \(count) images, \(unfinished) unfinished, seed \(seed)")
        #expect(count > 1000 && unfinished > 100)
    }

    @Test("a new log header without frames on the disk is not damage")
    func acceptsNewHeader() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed)
        var count = 0
        for round in 0..<6 {
            let images = try images(seed &+ UInt64(round), steps: 60)
            for index in images.indices.dropFirst() where images[index].log[..<32] != images[index - 1].log[..<32] {
                let (old, new) = (images[index - 1].log, images[index].log)
                let begun = Array(new[..<32]) + old[32...]
                #expect(try content(of: begun).ending == .clean, "seed \(seed)")
                for _ in 0..<20 {
                    let found = try content(of: torn(begun, to: new, using: &random))
                    count += 1
                    #expect(found.ending == .clean || found.ending == .unfinished, "seed \(seed)")
                    #expect(found.commitCount <= 1, "seed \(seed)")
                }
            }
        }
        #expect(count > 20, "seed \(seed)")
    }

    @Test(
        "a flipped bit in a log is noticed; before the last commit it is damage"
    )
    func noticesFlippedBit() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed)
        var count = 0
        for round in 0..<4 {
            let images = try images(seed &+ UInt64(round), steps: 20)
            let image = try #require(images.max { $0.commits < $1.commits })
            let ends = try commitEnds(image.log)
            guard ends.count > 3 else { continue }
            // A flipped bit can remove the mark that ends the second to last commit. The mark proves
            // nothing if its frame's header spans two sectors.
            let frame = ends[ends.count - 2] - Self.frameByteCount
            let exceptions =
                frame % 512 + 24 > 512 ? frame..<(frame + Self.frameByteCount) : (frame + 4)..<(frame + 8)
            for _ in 0..<400 {
                let offset = Int.random(in: 0..<ends[ends.count - 1], using: &random)
                var log = image.log
                log[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                let found = try content(of: log)
                let place = "seed \(seed), \(round), byte \(offset) of \(ends)"
                guard offset < ends[ends.count - 2], !exceptions.contains(offset) else {
                    #expect(found.ending != .clean, "\(place): \(found)")
                    continue
                }
                count += 1
                guard case .damaged = found.ending else {
                    Issue.record("\(place): \(found)")
                    continue
                }
            }
        }
        #expect(count > 0, "seed \(seed)")
    }

    /// Returns the ends of the frames that end a transaction.
    private func commitEnds(_ log: [UInt8]) throws -> [Int] {
        var (ends, offset) = ([Int](), 32)
        let end = try content(of: log).committedByteCount
        while offset < end {
            if log[offset + 4..<offset + 8].contains(where: { $0 != 0 }) { ends.append(offset + Self.frameByteCount) }
            offset += Self.frameByteCount
        }
        return ends
    }

    @Test("a flipped bit in a log header is damage if frames follow", arguments: [1, 6])
    func noticesDamagedHeader(commits: Int) throws {
        let images = try images(7, steps: 30)
        let whole = try #require(images.first { $0.commits >= 7 }).log
        let first = try #require(images.first).log
        let log = commits == 1 ? first : whole
        for bit in 0..<256 {
            var damaged = log
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try content(of: damaged).ending == .damaged(0), "bit \(bit)")
        }
        // Without frames there is nothing to lose.
        var alone = Array(log[..<32])
        alone[20] ^= 1
        #expect(try content(of: alone).ending == .clean)
        #expect(try content(of: [UInt8](repeating: 0, count: 5000)).ending == .clean)
        #expect(try content(of: Array("something else entirely".utf8)).ending == .clean)
    }

    @Test("a flipped bit in the salts of a frame is damage")
    func noticesDamagedSalts() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed)
        var count = 0
        for image in try images(3, steps: 30) {
            let ends = try commitEnds(image.log)
            guard let end = ends.last else { continue }
            let last = ends.dropLast().last ?? 32
            for offset in stride(from: last, to: end, by: Self.frameByteCount) {
                var damaged = image.log
                damaged[offset + Int.random(in: 8..<16, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                let found = try content(of: damaged)
                // If a frame header spans two sectors, a power cut can write only one of them.
                let isWhole = offset % 512 + 24 <= 512
                #expect(
                    isWhole ? found.ending == .damaged(offset) : found.ending != .clean,
                    "frame at \(offset) of \(ends), seed \(seed): \(found)")
                #expect(found.commitCount == ends.count - 1, "seed \(seed)")
                count += 1
            }
        }
        #expect(count > 30)
    }

    private func longLog() throws -> (log: [UInt8], ends: [Int]) {
        let images = try images(11, steps: 25)
        let image = try #require(images.max { $0.commits < $1.commits })
        return (image.log, try commitEnds(image.log))
    }

    @Test("overwritten bytes inside a log are damage", arguments: [8, 512, 3000])
    func noticesOverwrittenBytes(size: Int) throws {
        let (whole, ends) = try longLog()
        try #require(ends.count > 3)
        var random = SeededRandom(5)
        for _ in 0..<40 {
            let offset = Int.random(in: 32..<ends[ends.count - 3] - size, using: &random)
            var log = whole
            for index in offset..<offset + size {
                log[index] = size == 3000 ? UInt8.random(in: 0...255, using: &random) : 0
            }
            guard log != whole else { continue }
            guard case .damaged = try content(of: log).ending else {
                Issue.record("\(size) bytes at \(offset) of \(ends)")
                continue
            }
        }
    }

    @Test("a truncated log is clean or unfinished and keeps its whole commits")
    func acceptsTruncation() throws {
        let (log, ends) = try longLog()
        let end = try #require(ends.last)
        for length in stride(from: 32, to: end, by: 97) {
            let found = try content(of: Array(log[..<length]))
            #expect(found.ending == .clean || found.ending == .unfinished)
            #expect(found.commitCount == ends.filter { $0 <= length }.count)
        }
    }
}
