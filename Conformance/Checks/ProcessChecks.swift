internal import Foundation
internal import RoostCore
internal import RoostMigration

extension ConformanceCheck {
    /// Several processes with one store, and the state after one process dies.
    static let processes: [ConformanceCheck] = [
        ConformanceCheck(
            "processes.durable.killed",
            "After a process is killed, its commits are present, and the store can be opened and written at once.",
            needs: [.persistence]
        ) { bench in
            let peer = try bench.startPeer("create")
            for number in 1...12 { try peer.ask("commit \(number)") }
            try peer.kill()
            try expectState(after: 12, store: try bench.open())
        },
        ConformanceCheck(
            "processes.durable.mid-commit",
            "After a process is killed during a commit, the store has every commit that returned, and at most one more. No commit is partial.",
            needs: [.persistence]
        ) { bench in
            try bench.create().close()
            var last: Int64 = 0
            for round in 1...4 {
                let peer = try bench.startPeer("open")
                try peer.tell("commits \(last + 1)")
                // The process is killed after a different number of commits each time, at any
                // moment during the next commit.
                for _ in 0..<(3 * round) {
                    last = try require(try peer.acknowledged(), "a commit of the other process")
                }
                try peer.kill()
                while let more = try peer.acknowledged() { last = more }
                let store = try bench.open()
                let found = CrashWorkload.number(in: try store.metadata())
                try expect(
                    found == last || found == last + 1, "the state after commit \(last) or \(last + 1)",
                    otherwise: "the one after \(found)")
                try expectState(after: found, store: store)
                try store.close()
                last = found
            }
        },
        ConformanceCheck(
            "processes.durable.closed", "A store that one process wrote and closed can be read and changed by another.",
            needs: [.persistence]
        ) { bench in
            let peer = try bench.startPeer("create")
            for number in 1...3 { try peer.ask("commit \(number)") }
            try peer.ask("close")
            let store = try bench.open()
            try expectState(after: 3, store: store)
            for number in Int64(4)...6 { _ = try store.commit(try bench.transaction(number)) }
            try store.close()
            try peer.ask(bench.command("open"))
            try expectEqual(try peer.askNumber("number"), 6, "the state in the other process")
        },
        ConformanceCheck(
            "processes.load.killed",
            "A process that is killed during a bulk load leaves no part of the load, and no lock.",
            needs: [.persistence]
        ) { bench in
            let peer = try bench.startPeer("create")
            for number in 1...3 { try peer.ask("commit \(number)") }
            try peer.ask("load 500")
            try peer.kill()
            let store = try bench.open()
            try expectState(after: 3, store: store)
            _ = try store.commit(try bench.transaction(4))
            try expectState(after: 4, store: store)
        },
        ConformanceCheck(
            "processes.shared-or-busy",
            "While one process has a store open, another process shares it, or is refused with `busy` and changes nothing.",
            needs: [.persistence]
        ) { bench in
            let peer = try bench.startPeer("create")
            try peer.ask("commit 1")
            do {
                let store = try bench.open { $0.timeoutSeconds = 0.1 }
                try expect(
                    bench.fixture.capabilities.contains(.multipleProcesses),
                    "a store of a type without capability 'multipleProcesses' is not opened twice")
                try expectState(after: 1, store: store)
                try store.close()
            } catch let error as StoreError {
                try expect(
                    error.code == .busy && !bench.fixture.capabilities.contains(.multipleProcesses),
                    "the store is shared, or refused with busy where the type does not share", otherwise: "\(error)")
            }
            try peer.ask("commit 2")
            try peer.ask("close")
            try expectState(after: 2, store: try bench.open())
        },
        ConformanceCheck(
            "processes.commits.seen",
            "A snapshot shows every commit of another process that returned before the snapshot was taken.",
            needs: [.multipleProcesses]
        ) { bench in
            let store = try bench.create()
            let peer = try bench.startPeer("open")
            for number in stride(from: Int64(1), to: 20, by: 2) {
                _ = try store.commit(try bench.transaction(number))
                try expectEqual(try peer.askNumber("number"), number, "the state in the other process")
                try peer.ask("commit \(number + 1)")
                try expectState(after: number + 1, store: store)
            }
        },
        ConformanceCheck(
            "processes.snapshots.stay", "A snapshot does not change when other processes commit.",
            needs: [.multipleProcesses]
        ) { bench in
            let store = try bench.create()
            let peer = try bench.startPeer("open")
            try peer.ask("commit 1")
            let mine = try store.snapshot()
            defer { mine.close() }
            let contents = try StoreContents(of: mine)
            try expectEqual(try peer.askNumber("hold"), 1, "the snapshot of the other process")
            for number in Int64(2)...8 { _ = try store.commit(try bench.transaction(number)) }
            for number in 9...16 { try peer.ask("commit \(number)") }
            try expectEqual(try StoreContents(of: mine), contents, "a snapshot while another process commits")
            try expectEqual(try peer.askNumber("held"), 1, "the snapshot of the other process afterwards")
            try expectState(after: 16, store: store)
        },
        ConformanceCheck(
            "processes.snapshots.reader-killed",
            "A process that is killed with a snapshot open leaves the store as usable as before.",
            needs: [.multipleProcesses]
        ) { bench in
            let store = try bench.create()
            _ = try store.commit(try bench.transaction(1))
            let peer = try bench.startPeer("open")
            try peer.ask("hold")
            try peer.kill()
            for number in Int64(2)...30 { _ = try store.commit(try bench.transaction(number)) }
            try expectState(after: 30, store: store)
            try expectState(after: 30, store: try bench.reopen(store))
        },
        ConformanceCheck(
            "processes.writers.wait",
            "A writer waits for a writer in another process up to its timeout, then fails with `busy`. Readers do not wait.",
            needs: [.multipleProcesses]
        ) { bench in
            let store = try bench.create { $0.timeoutSeconds = 0.1 }
            _ = try store.commit(try bench.transaction(1))
            let peer = try bench.startPeer("open")
            try peer.ask("load 10")
            let error = try expectError(.busy, in: "a commit while another process loads") {
                _ = try store.commit(try bench.transaction(2))
            }
            try expect(error.isRetryable, "a commit that was refused with busy is worth a retry")
            try expectEqual(
                try store.view { try CrashWorkload.number(in: $0) }, 1, "the state that a reader sees meanwhile")
            try peer.ask("finish")
            _ = try store.commit(try bench.transaction(2))
            try expectEqual(try store.view { try $0.count(FetchRequest("Dog")) }, 10, "the loaded objects")
        },
        ConformanceCheck(
            "processes.writers.killed", "After a writer is killed, the next writer succeeds without a repair.",
            needs: [.multipleProcesses]
        ) { bench in
            let store = try bench.create()
            _ = try store.commit(try bench.transaction(1))
            let peer = try bench.startPeer("open")
            try peer.ask("load 500")
            try peer.kill()
            _ = try store.commit(try bench.transaction(2))
            try expectState(after: 2, store: store)
        },
        ConformanceCheck(
            "processes.conflict",
            "An update of an object that another process changed fails with `conflict`, and the error has the current record.",
            needs: [.multipleProcesses]
        ) { bench in
            let store = try bench.create()
            try store.change { try $0.insert(ObjectID("Track", key: 5), values: ["title": "old"]) }
            let peer = try bench.startPeer("open")
            try peer.ask("update 5 1")
            let error = try expectError(.conflict, in: "an update of what another process updated") {
                try store.change { try $0.update(ObjectID("Track", key: 5), version: 1, values: ["title": "mine"]) }
            }
            try expectEqual(
                error.conflicts.first?.current?.values()["title"], "the peer's", "the current value in the conflict")
            try expectError(.conflict, in: "an update of the other process at a stale version") {
                try peer.ask("update 5 1")
            }
            try peer.ask("update 5 2")
            try expectEqual(
                try store.view { try $0.object(ObjectID("Track", key: 5))?.version }, 3,
                "the version after three writes")
        },
        ConformanceCheck(
            "processes.keys",
            "Keys that one process reserved are never reserved by another process, even after the first process was killed.",
            needs: [.multipleProcesses]
        ) { bench in
            let store = try bench.create()
            var seen: Set<Int64> = []
            func take(_ keys: Range<Int64>) throws {
                for key in keys {
                    try expect(seen.insert(key).inserted, "each key is given out once", otherwise: "\(key) came twice")
                }
            }
            for _ in 0..<2 {
                let peer = try bench.startPeer("open")
                for count in [1, 7, 40] {
                    let ends = try peer.ask("reserve \(count)").compactMap { Int64($0) }
                    try expect(
                        ends.count == 2 && ends[0] + Int64(count) == ends[1], "\(count) keys", otherwise: "\(ends)")
                    try take(ends[0]..<ends[1])
                    try take(try store.reserveKeys(count, for: "Track"))
                }
                try peer.kill()
            }
        },
        ConformanceCheck(
            "processes.destroy-and-replace",
            "Destroying or replacing a store that another process has open fails with `busy` and changes nothing.",
            needs: [.persistence]
        ) { bench in
            let peer = try bench.startPeer("create")
            try peer.ask("commit 1")
            let other = try bench.create(name: "other")
            try other.close()
            try expectError(.busy, in: "destroying") { try bench.type.destroy(bench.location()) }
            try expectError(.busy, in: "replacing it") {
                try bench.type.replace(bench.location(), with: bench.location("other"), overwriting: true)
            }
            try expectError(.busy, in: "moving it over another") {
                try bench.type.replace(bench.location("other"), with: bench.location(), overwriting: true)
            }
            try peer.ask("commit 2")
            try peer.ask("close")
            try expectState(after: 2, store: try bench.open())
            try expectEqual(
                try bench.open(name: "other").view { try $0.count(FetchRequest("Track")) }, 0,
                "the content of the other store")
        },
        ConformanceCheck(
            "processes.quota",
            "A commit or a creation that reaches a limit of file size fails with `noSpace` and keeps the earlier content.",
            needs: [.persistence, .file]
        ) { bench in
            let peer = try bench.startPeer("create")
            for number in 1...3 { try peer.ask("commit \(number)") }
            // The limit is the size of the largest file, so no file can grow beyond it.
            let largest = try bench.files().compactMap { bench.bytes(of: "\(bench.directory)/\($0)")?.count }.max() ?? 0
            try peer.ask("limit-file-size \(largest)")
            var number: Int64 = 4
            // Some commits may fit into free space, but a thousand do not.
            try expectError(.noSpace, in: "committing repeatedly") {
                while number < 1000 {
                    try peer.ask("commit \(number)")
                    number += 1
                }
            }
            try expectEqual(
                try peer.askNumber("number"), number - 1, "the state in the other process after the failure")
            // A store with pending writes may fail to close.
            do { try peer.ask("close") } catch let error as StoreError where error.code == .noSpace {}
            try peer.kill()
            let small = try bench.startPeer()
            try small.ask("limit-file-size 100")
            try expectError(.noSpace, in: "creating a store") { try small.ask(bench.command("create", name: "none")) }
            try expect(bench.bytes(of: bench.location("none").path) == nil, "no file was created under the name")
            let store = try bench.open()
            try expectState(after: number - 1, store: store)
            _ = try store.commit(try bench.transaction(number))
        },
        ConformanceCheck(
            "processes.open-files",
            "Opening a store without a free file handle fails with `outOfResources`. An open store loses nothing.",
            needs: [.persistence, .file]
        ) { bench in
            let peer = try bench.startPeer("create")
            try peer.ask("commit 1")
            try peer.ask("limit-open-files")
            // The commit may succeed, because the store may need no further file.
            var last: Int64 = 2
            do { try peer.ask("commit 2") } catch let error as StoreError where error.code == .outOfResources {
                last = 1
            }
            // A store with pending writes may fail to close.
            do { try peer.ask("close") } catch let error as StoreError where error.code == .outOfResources {}
            try expectError(.outOfResources, in: "opening") { try peer.ask(bench.command("open")) }
            try expectError(.outOfResources, in: "creating") { try peer.ask(bench.command("create", name: "none")) }
            try expect(bench.bytes(of: bench.location("none").path) == nil, "no file was created under the name")
            try peer.kill()
            try expectState(after: last, store: try bench.open())
        },
        ConformanceCheck(
            "processes.permissions",
            "Opening or creating a store without permission fails with `permissionDenied` and changes nothing.",
            needs: [.persistence, .file]
        ) { bench in
            let store = try bench.create()
            _ = try store.commit(try bench.transaction(1))
            try store.close()
            let manager = FileManager.default
            let before = bench.bytes(of: bench.location().path)
            try manager.setAttributes([.posixPermissions: 0], ofItemAtPath: bench.location().path)
            try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: bench.directory)
            defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bench.directory) }
            let files = try bench.files()
            let peer = try bench.startPeer()
            try peer.ask("drop-privileges")
            // Opening could otherwise fail because the peer cannot search the directory.
            try expectError(.notFound, in: "opening what is not there") {
                try peer.ask(bench.command("open", name: "missing"))
            }
            try expectError(.permissionDenied, in: "opening") { try peer.ask(bench.command("open")) }
            try expectError(.permissionDenied, in: "opening read-only") {
                try peer.ask(bench.command("open", readOnly: true))
            }
            try expectError(.permissionDenied, in: "creating") {
                try peer.ask(bench.command("create", name: "none"))
            }
            try expectEqual(try bench.files(), files, "the files in the directory")
            try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bench.directory)
            try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: bench.location().path)
            try expect(bench.bytes(of: bench.location().path) == before, "the file's bytes are the same")
            try expectState(after: 1, store: try bench.open())
        },
    ]
}

/// Fails unless the store has exactly the content of the transactions up to `number`.
private func expectState(after number: Int64, store: any PersistentStore) throws {
    var state = CrashWorkload.State(model: store.model)
    try state.advance(to: number)
    try expectEqual(try store.contents(), state.contents, "the state after transaction \(number)")
}
