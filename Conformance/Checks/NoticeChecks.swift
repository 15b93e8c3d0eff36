internal import Dispatch
internal import Foundation
internal import RoostCore
internal import RoostStores
internal import RoostSystem

extension ConformanceCheck {
    static let notices: [ConformanceCheck] = [
        ConformanceCheck("notices.kinds", "A notice names what a commit inserted, updated, linked and deleted.") {
            bench in
            let store = try bench.create()
            let log = try NoticeLog(store, bench: bench)
            guard log.isExact else { return }
            let (first, second) = (ObjectID("Track", key: 1), ObjectID("Track", key: 2))
            let tag = ObjectID("Tag", key: 1)
            let receipts = [
                try store.change {
                    try $0.insert(first, values: ["title": "one"])
                    try $0.insert(second, values: ["title": "two"])
                    try $0.insert(tag, values: [:])
                },
                try store.change { try $0.update(second, version: 1, values: ["title": "three"]) },
                try store.change {
                    try $0.add(Link(2, 1, order: 1), to: RelationshipName("Track", name: "tags"))
                },
                try store.change { $0.delete(first, version: 1) },
            ]
            let end = receipts.last?.generation
            let notices = try log.wait { $0.last?.generation == end }
            try expectEqual(notices.count, 4, "the number of notices")
            try expectEqual(Set(notices[0].inserted), [first, second, tag], "the inserted objects")
            try expectEqual(notices[1].updated, [second], "the updated objects")
            try expectEqual(Set(notices[2].updated.map(\.key)), [1, 2], "the linked objects")
            try expectEqual(notices[3].deleted, [first], "the deleted objects")
            for (notice, receipt) in zip(notices, receipts) {
                try expect(notice.isComplete, "a commit of this process is named object by object")
                try expectEqual(notice.generation, receipt.generation, "the generation of a notice")
                try expectEqual(notice.previousGeneration, receipt.previousGeneration, "the generation before it")
            }
            let counts = notices.map { $0.inserted.count + $0.updated.count + $0.deleted.count }
            try expectEqual(counts, [3, 1, 2, 1], "the objects of each notice")
        },
        ConformanceCheck(
            "notices.nothing", "A commit that fails or changes nothing gives no notice. The next commit gives one."
        ) { bench in
            let store = try bench.create()
            let id = ObjectID("Track", key: 1)
            try store.change { try $0.insert(id, values: ["title": "one"]) }
            let log = try NoticeLog(store, bench: bench)
            // A store that neither reports commits nor records generations gives no notices.
            guard try log.isExact || store.currentGeneration() != nil else { return }
            try expectError(.conflict, in: "an update of a stale version") {
                try store.change { try $0.update(id, version: 7, values: ["title": "two"]) }
            }
            _ = try store.commit(ChangeSet(model: store.model))
            let receipt = try store.change { try $0.update(id, version: 1, values: ["title": "three"]) }
            let notices = try log.wait { $0.last?.generation == receipt.generation }
            try expectEqual(notices.count, 1, "the number of notices")
            try expect(!log.isExact || notices[0].updated == [id], "the notice is of the commit")
        },
        ConformanceCheck(
            "notices.batches",
            "The notice of a batch request names each object. The notice of a bulk load names no objects."
        ) {
            bench in
            let store = try bench.create()
            let log = try NoticeLog(store, bench: bench)
            guard log.isExact else { return }
            let inserted = try store.execute(
                BatchInsertRequest(
                    "Track", rows: [["title": "one"], ["title": "two"], ["title": "three"]], result: .objectIDs))
            let ids = inserted.objectIDs ?? []
            try expectEqual(ids.count, 3, "the inserted objects")
            _ = try store.execute(
                BatchUpdateRequest("Track", where: .equal("title", to: "two"), set: ["title": .constant("four")]))
            _ = try store.execute(BatchDeleteRequest(objectIDs: [ids[0]]))
            let loader = try store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: store.model)
            try batch.append(ObjectID("Track", key: 500), values: ["title": "loaded"])
            try loader.append(batch)
            _ = try loader.finish()
            let notices = try log.wait { $0.count == 4 }
            try expectEqual(notices[0].inserted, ids, "the objects that the batch insert inserted")
            try expectEqual(notices[1].updated, [ids[1]], "the objects that the batch update updated")
            try expectEqual(notices[2].deleted, [ids[0]], "the objects that the batch delete deleted")
            try expectEqual(notices.map(\.isComplete), [true, true, true, false], "which notices are complete")
        },
        ConformanceCheck(
            "notices.many-writers", "Notices of several writers come in the order of the commits, without a gap."
        ) { bench in
            let store = try bench.create()
            let log = try NoticeLog(store, bench: bench)
            let start = try store.currentGeneration()
            let writers = (0..<4).map { writer in
                Background {
                    for number in 0..<8 {
                        let key = Int64(1 + writer * 100 + number)
                        try store.change { try $0.insert(ObjectID("Track", key: key), values: ["title": "t"]) }
                    }
                }
            }
            for writer in writers { try writer.value() }
            let end = try store.currentGeneration()
            let notices = try log.wait { $0.last?.generation == end }
            var known = start
            for notice in notices {
                try expectEqual(notice.previousGeneration, known, "the generation before a notice")
                known = notice.generation
            }
            guard log.isExact else { return }
            try expectEqual(notices.count, 32, "the number of notices")
            try expectEqual(Set(notices.flatMap(\.inserted)).count, 32, "the objects that they name")
        },
        ConformanceCheck(
            "notices.two-openings",
            "A listener to one open instance of a store receives notices of commits through another instance.",
            needs: [.multipleProcesses]
        ) { bench in
            let store = try bench.create()
            let other = try bench.open()
            let log = try NoticeLog(other, bench: bench)
            for key in Int64(1)...5 {
                try store.change { try $0.insert(ObjectID("Track", key: key), values: ["title": "t"]) }
            }
            let end = try store.currentGeneration()
            let notices = try log.wait { $0.last?.generation == end }
            // Without a common signal, each open store detects the other's commits by the generation, and its notices
            // may name no objects.
            let signals = [store, other].compactMap { ($0 as? any CommitReportingStore)?.commitSignal?.id }
            guard signals.count == 2, signals[0] == signals[1] else { return }
            try expectEqual(notices.flatMap(\.inserted).map(\.key), [1, 2, 3, 4, 5], "the objects that notices name")
        },
        ConformanceCheck(
            "notices.signal", "A commit notifies watchers of the store's signal, and a failed commit does not."
        ) { bench in
            let store = try bench.create()
            guard let signal = (store as? any CommitReportingStore)?.commitSignal, let watch = FileWatch(),
                watch.add(signal.path) != nil
            else { return }
            try expect(try NoticeLog(store, bench: bench).isWatched, "a listener watches the signal")
            try store.change { try $0.insert(ObjectID("Track", key: 1), values: ["title": "one"]) }
            guard case .files? = watch.wait(milliseconds: 60_000) else {
                throw Mismatch(expected: "the signal of a commit", actual: "none for a minute")
            }
            try expectError(.conflict, in: "an update of a stale version") {
                try store.change { try $0.update(ObjectID("Track", key: 1), version: 7, values: ["title": "two"]) }
            }
            guard case .nothing? = watch.wait(milliseconds: 0) else {
                throw Mismatch(expected: "no signal of a failed commit", actual: "one")
            }
        },
        ConformanceCheck("notices.end", "Closing a store ends its listeners, and listening to a closed store fails.") {
            bench in
            let base = try bench.create()
            let store = try Store(base, registry: StoreRegistry([bench.type]))
            let ended = DispatchSemaphore(value: 0)
            let source = try CommitSubscription(to: store, listener: { _ in }, end: { ended.signal() })
            try store.close()
            try expect(ended.wait(timeout: .now()) == .success, "listening has ended when the store is closed")
            try expectError(.closed, in: "listening to a closed store") {
                _ = try CommitSubscription(to: store, listener: { _ in }, end: {})
            }
            withExtendedLifetime(source) {}
        },
    ]

    static let noticesOfProcesses: [ConformanceCheck] = [
        ConformanceCheck(
            "processes.notices", "A listener receives notices of another process's commits, including the last one.",
            needs: [.persistence]
        ) { bench in
            try withPeer(bench) { (peer, store, log) in
                for number in 2...6 { try peer.ask("commit \(number)") }
                let end = try store.currentGeneration()
                let notices = try log.wait { $0.last?.generation == end }
                // The changes in a notice are already readable.
                try expectEqual(try store.view { try CrashWorkload.number(in: $0) }, 6, "the state of the store")
                try expect(notices.allSatisfy { !$0.isEmpty }, "each notice says that something changed")
                try expect(notices.count <= 5, "each notice is of a commit", otherwise: "\(notices.count)")
            }
        },
        ConformanceCheck(
            "processes.notices.killed",
            "After another process was killed during commits, listeners have a notice of the last commit.",
            needs: [.persistence]
        ) { bench in
            try withPeer(bench) { (peer, store, log) in
                try peer.tell("commits 2")
                var last: Int64 = 0
                for _ in 0..<10 { last = try require(try peer.acknowledged(), "a commit of the other process") }
                try peer.kill()
                while let more = try peer.acknowledged() { last = more }
                let end = try store.currentGeneration()
                _ = try log.wait { $0.last?.generation == end }
                try expect(
                    try store.view { try CrashWorkload.number(in: $0) ?? 0 } >= last, "acknowledged commits are present"
                )
            }
        },
        ConformanceCheck(
            "processes.notices.history",
            "With a history, a notice of another process's commits names every object that they changed.",
            needs: [.persistence, .history]
        ) { bench in
            try withPeer(bench, options: " history") { (peer, store, log) in
                let before = Set(try store.view { try $0.objects(of: "Track").map(\.id) })
                let token = try store.view { try $0.historyToken() }
                for number in 2...9 { try peer.ask("commit \(number)") }
                let end = try store.currentGeneration()
                let notices = try log.wait { $0.last?.generation == end }
                try expect(notices.allSatisfy(\.isComplete), "each notice names its objects")
                var tracks = before
                for notice in notices {
                    tracks.formUnion(notice.inserted.filter { $0.entity == "Track" })
                    tracks.subtract(notice.deleted)
                }
                try expectEqual(
                    tracks, Set(try store.view { try $0.objects(of: "Track").map(\.id) }), "the tracks by the notices")
                let changed = try store.view { try $0.transactions(HistoryRequest(after: token)) }
                    .flatMap(\.changes).map(\.id)
                let named = Set(notices.flatMap { $0.inserted + $0.updated + $0.deleted })
                try expect(named.isSuperset(of: changed), "every object of the history is named")
            }
        },
    ]

    /// Runs `body` with a peer that has committed once, the store opened beside it, and a listener.
    ///
    /// Does not run `body` for a type whose stores can be open in only one process.
    private static func withPeer(
        _ bench: Workbench, options: String = "", _ body: (Peer, any PersistentStore, NoticeLog) throws -> Void
    ) throws {
        let peer = try bench.startPeer()
        try peer.ask(bench.command("create") + options)
        try peer.ask("commit 1")
        guard let store = try bench.openBesidePeer() else { return }
        try body(peer, store, try NoticeLog(store, bench: bench))
    }
}

private final class NoticeLog: Sendable {
    /// Whether the store reports its commits; otherwise they are detected by its generation.
    let isExact: Bool
    private let list = Mutex<[SaveNotice]>([])
    private let more = DispatchSemaphore(value: 0)
    private let source = Mutex<CommitSubscription?>(nil)

    init(_ store: any PersistentStore, bench: Workbench) throws {
        isExact = store is any CommitReportingStore
        let door = try Store(store, registry: StoreRegistry([bench.type]))
        let (list, more) = (list, more)
        let subscription = try CommitSubscription(
            to: door,
            listener: { notice in
                list.withLock { $0.append(notice) }
                more.signal()
            }, end: {})
        source.withLock { $0 = subscription }
    }

    /// Whether commits of other processes are detected without polling.
    var isWatched: Bool { source.withLock { $0?.isWatched ?? false } }

    /// Returns the notices once they meet a condition; fails after a minute.
    func wait(until isWanted: ([SaveNotice]) -> Bool) throws -> [SaveNotice] {
        let end = DispatchTime.now() + 60
        while true {
            let notices = list.withLock { $0 }
            if isWanted(notices) { return notices }
            guard more.wait(timeout: end) == .success else {
                throw Mismatch(
                    expected: "notices of all commits within a minute", actual: "\(notices.map(\.generation))")
            }
        }
    }
}
