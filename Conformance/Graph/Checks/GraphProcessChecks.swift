internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostStores

extension GraphCheck {
    /// Checks of a displayed list during an import by another process.
    ///
    /// The checks need a peer program, so they are not in ``all``. `ROOST_IMPORT_COUNT` sets the
    /// minimum number of imported objects (default: 2 000).
    package static let processes: [GraphCheck] = [
        GraphCheck(
            waiting: "results.other-process",
            "A sorted list in sections follows an import by another process until that process is killed. After a restart, the history after the last token gives the rest.",
            .roost, needs: [.persistence]
        ) { bench in
            let workbench = bench.workbench
            let total = ProcessInfo.processInfo.environment["ROOST_IMPORT_COUNT"].flatMap { Int($0) } ?? 2_000
            let part = max(1, total / 40)
            let hasHistory = workbench.fixture.capabilities.contains(.history)
            let peer = try workbench.startPeer()
            try peer.ask(workbench.command("create") + (hasHistory ? " history" : ""))
            try peer.tell("import 1 \(part)")
            var imported = try importedCount(peer)
            guard let store = try workbench.openBesidePeer() else { return }
            let container = try PersistentContainer(try bench.wrapped(store))
            let context = container.makeContext("list")
            context.mergesChangesAutomatically = true
            let request = FetchRequest("Track", sortedBy: ["title"])
            let list = FollowedList(
                try FetchedResultsController(request, in: context, sections: "title") { value in
                    if case .string(let title) = value { String(title.prefix(1)) } else { "" }
                }, request: request, sections: nil)
            var notices = try container.saves.makeAsyncIterator()
            while imported < total / 2 {
                imported = try importedCount(peer)
                // Waits only for saves that the other process has reported, because that process may block until its
                // reports are read.
                context.processPendingChanges()
                while list.controller.count < imported {
                    _ = try require(await notices.next(), "a notice")
                    context.processPendingChanges()
                }
                // A fetch may already return more objects, because the import continues.
                try list.expectLaw()
            }
            try peer.kill()
            while let more = try peer.acknowledged() { imported = Int(more) }
            // Acknowledged parts are present, and the unfinished part is whole or absent.
            context.processPendingChanges()
            while list.controller.count < imported {
                _ = try require(await notices.next(), "a notice")
                context.processPendingChanges()
            }
            try list.expectFetched()
            let found = list.controller.count
            try expect(
                found == imported || found == imported + part, "all parts of the import up to the kill",
                otherwise: "\(found) objects after \(imported)")
            guard hasHistory else { return }

            // The list is closed. The import continues and is killed again.
            var cache = Set(list.controller.sections.joined())
            let token = try await container.stores[0].historyToken()
            context.reset()
            try container.close()
            let second = try workbench.startPeer()
            try second.ask(workbench.command("open"))
            try second.tell("import \(found + 1) \(part)")
            while imported < total { imported = try importedCount(second) }
            try second.kill()
            guard let again = try workbench.openBesidePeer() else { return }
            let back = try PersistentContainer(try bench.wrapped(again))
            for transaction in try await back.stores[0].history(after: token) {
                try expectEqual(transaction.author, "import", "the author of a transaction")
                for change in transaction.changes {
                    if change.kind == .delete { cache.remove(change.id) } else { cache.insert(change.id) }
                }
            }
            let there = try back.makeContext().fetch(FetchRequest("Track")).map(\.objectID)
            try expect(there.count >= total, "the acknowledged objects", otherwise: "\(there.count) objects")
            try expectEqual(cache, Set(there), "the earlier content and the history since then")
            try back.close()
        }
    ]

    /// Returns the number of objects after the next save of an import, and lets the import continue.
    private static func importedCount(_ peer: Peer) throws -> Int {
        let count = Int(try require(try peer.acknowledged(), "a part of the import"))
        try peer.tell("seen")
        return count
    }
}
