internal import Foundation
internal import RoostCore

extension ConformanceCheck {
    /// Histories: tokens, time and filters.
    static let historyTokens: [ConformanceCheck] = [
        ConformanceCheck(
            "history.order", "Each commit is one transaction, in the order of the commits, with a token of its own.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            for key in 1...20 { try store.addPeople(Int64(key)...Int64(key), by: "\(key)") }
            let transactions = try store.transactions()
            try expectEqual(transactions.map(\.author), (1...20).map { "\($0)" }, "the authors")
            try expectEqual(Set(transactions.map(\.token)).count, 20, "the number of tokens")
            try expectEqual(transactions.last?.token, try store.historyToken(), "the current token")
        },
        ConformanceCheck(
            "history.after", "Reading continues after the transaction of a token.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let beginning = try store.historyToken()
            for key in 1...5 { try store.addPeople(Int64(key)...Int64(key), by: "\(key)") }
            let tokens = [beginning] + (try store.transactions().map(\.token))
            for (index, token) in tokens.enumerated() {
                try expectEqual(
                    try store.transactions(after: token).map(\.author), (1...5).dropFirst(index).map { "\($0)" },
                    "the authors after transaction \(index)")
            }
        },
        ConformanceCheck(
            "history.reopened", "A reopened store has the same history, and continues it.", needs: [.history]
        ) { bench in
            var store = try bench.createRecording()
            for key in 1...3 {
                try store.addPeople(Int64(key)...Int64(key), by: "\(key)")
                let before = try store.transactions()
                store = try bench.reopen(store)
                try expectEqual(try store.transactions(), before, "the history")
            }
            try expectEqual(try store.transactions().count, 3, "the number of transactions")
        },
        ConformanceCheck(
            "history.token.coding", "A token keeps its position when it is converted to text or encoded, and back.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...1)
            let token = try store.historyToken()
            try store.addPeople(2...2)
            let text = try require(HistoryToken(token.description), "the token of its text")
            let decoded = try JSONDecoder().decode(
                [HistoryToken].self, from: try JSONEncoder().encode([token]))
            try expectEqual(text, token, "the token of its text")
            try expectEqual(decoded, [token], "the decoded token")
            let reopened = try bench.reopen(store)
            for token in [text] + decoded {
                try expectEqual(try reopened.transactions(after: token).count, 1, "the transactions after it")
            }
            for wrong in ["", "x", "\(token)0x", "\(token):1", "a:1:2"] {
                try expect(HistoryToken(wrong) == nil, "'\(wrong)' is not a token")
            }
        },
        ConformanceCheck(
            "history.token.other-store", "A token of another store is refused.", needs: [.history]
        ) { bench in
            let (one, other) = (try bench.createRecording(), try bench.createRecording(name: "other"))
            try one.addPeople(1...1)
            try other.addPeople(1...1)
            let token = try other.historyToken()
            try expectError(.invalidRequest, in: "a token of another store") { _ = try one.transactions(after: token) }
            try expectError(.invalidRequest, in: "removing up to a token of another store") {
                try one.removeHistory(.token(token))
            }
        },
        ConformanceCheck(
            "history.token.future",
            "A token is refused as expired if the store has not reached the token's position, or reached it by other commits.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...1)
            let token = try store.historyToken()
            for wrong in [
                HistoryToken(storeUUID: token.storeUUID, position: token.position + 1, mark: token.mark),
                HistoryToken(storeUUID: token.storeUUID, position: .max, mark: token.mark),
                // The mark differs, as if other commits preceded this position.
                HistoryToken(storeUUID: token.storeUUID, position: token.position, mark: token.mark &+ 1),
            ] {
                try expectError(.historyExpired, in: "a token that the store never gave") {
                    _ = try store.transactions(after: wrong)
                }
            }
        },
        ConformanceCheck(
            "history.snapshot",
            "A snapshot shows only the transactions of its state. Reading after its token gives all later transactions.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...1, by: "before")
            try store.view { snapshot in
                let token = try snapshot.historyToken()
                try store.addPeople(2...2, by: "after")
                try expectEqual(try snapshot.historyToken(), token, "the token of the snapshot")
                try expectEqual(try snapshot.transactions().map(\.author), ["before"], "the authors in the snapshot")
                try expectEqual(try snapshot.count(FetchRequest("Person")), 1, "the objects in the snapshot")
                try expectEqual(try store.transactions(after: token).map(\.author), ["after"], "the authors after it")
                try expectEqual(
                    try snapshot.transactions(HistoryRequest(after: token)).count, 0, "the transactions in the snapshot"
                )
            }
        },
        ConformanceCheck(
            "history.closed",
            "The history of a closed snapshot cannot be read, and the history of a closed store cannot be removed.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...1)
            let snapshot = try store.snapshot()
            snapshot.close()
            try expectError(.closed, in: "the token of a closed snapshot") { _ = try snapshot.historyToken() }
            try expectError(.closed, in: "the history of a closed snapshot") {
                _ = try snapshot.historyCursor(HistoryRequest())
            }
            try store.close()
            try expectError(.closed, in: "removing the history of a closed store") {
                try store.removeHistory(.everything)
            }
        },
        ConformanceCheck(
            "history.second-opening",
            "Commits through either of two open instances of a store are recorded, and both instances read them.",
            needs: [.history, .multipleProcesses]
        ) { bench in
            let store = try bench.createRecording()
            let second = try bench.open()
            for key in 1...6 {
                try (key % 2 == 0 ? store : second).addPeople(Int64(key)...Int64(key), by: "\(key)")
            }
            for store in [store, second] {
                try expectEqual(try store.transactions().map(\.author), (1...6).map { "\($0)" }, "the authors")
            }
        },
        ConformanceCheck(
            "history.time.monotonic",
            "Transaction times never decrease, even if the clock does or the store is reopened.",
            needs: [.history]
        ) { bench in
            let clock = CheckClock(1000)
            let store = try bench.createRecording(clock: clock)
            for (key, seconds) in [(1, 1000), (2, 1005), (3, 20), (4, -50), (5, 1006)] as [(Int64, Int64)] {
                clock.set(seconds)
                try store.addPeople(key...key)
            }
            let dates = try store.transactions().map(\.date.timeIntervalSinceReferenceDate)
            try expectEqual(dates, [1000, 1005, 1005, 1005, 1006], "the times")
            try expectEqual(
                try bench.reopen(store).transactions().map(\.date.timeIntervalSinceReferenceDate), dates,
                "the times after reopening")
        },
        ConformanceCheck(
            "history.time.after-purge", "Times do not decrease after older transactions were removed.",
            needs: [.history]
        ) { bench in
            let clock = CheckClock(5000)
            let store = try bench.createRecording(clock: clock)
            try store.addPeople(1...1)
            try store.removeHistory(.everything)
            clock.set(10)
            try store.addPeople(2...2)
            try expectEqual(
                try store.transactions().map(\.date.timeIntervalSinceReferenceDate), [5000], "the times")
        },
        ConformanceCheck("history.filter.author", "A request can be limited to one author.", needs: [.history]) {
            bench in
            let store = try bench.createRecording()
            for (key, author) in [(1, "a"), (2, "b"), (3, nil), (4, "a")] as [(Int64, String?)] {
                try store.addPeople(key...key, by: author)
            }
            var request = HistoryRequest()
            request.author = "a"
            try expectEqual(
                try store.transactions(request).map { $0.changes.map(brief) }, [["+Person/p1"], ["+Person/p4"]],
                "the changes of an author")
            request.author = "nobody"
            try expectEqual(try store.transactions(request).count, 0, "the transactions of another author")
        },
        ConformanceCheck(
            "history.filter.entity", "A request can be limited to an entity and its subentities.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.change { changes in
                try changes.insert(ObjectID("Person", key: 1), values: [:])
                try changes.insert(ObjectID("Manager", key: 2), values: [:])
                try changes.insert(ObjectID("Tag", key: 1), values: [:])
            }
            try store.change { try $0.insert(ObjectID("Team", key: 1), values: [:]) }
            func changes(_ entity: EntityName) throws -> [[String]] {
                var request = HistoryRequest()
                request.entity = entity
                return try store.transactions(request).map { $0.changes.map(brief).sorted() }
            }
            try expectEqual(try changes("Person"), [["+Manager/p2", "+Person/p1"]], "the changes of Person")
            try expectEqual(try changes("Manager"), [["+Manager/p2"]], "the changes of Manager")
            try expectEqual(try changes("Team"), [["+Team/p1"]], "the changes of Team")
            try expectError(.unknownEntity, in: "the history of an entity that the model lacks") {
                _ = try changes("Nothing")
            }
        },
        ConformanceCheck(
            "history.filter.object",
            "A request for one object returns only the changes of that object and of its links.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let tags = RelationshipName("Team", name: "tags")
            try store.change { changes in
                for key in 1...3 {
                    try changes.insert(ObjectID("Team", key: Int64(key)), values: [:])
                    try changes.insert(ObjectID("Tag", key: Int64(key)), values: [:])
                }
            }
            try store.change { changes in
                try changes.add(Link(1, 2), to: tags)
                try changes.add(Link(3, 3), to: tags)
            }
            try store.change { $0.delete(ObjectID("Tag", key: 3), version: 1) }
            var request = HistoryRequest()
            request.object = ObjectID("Tag", key: 2)
            let transactions = try store.transactions(request)
            try expectEqual(
                transactions.map { $0.changes.map(brief) }, [["+Tag/p2"], []], "the changes of the object")
            try expectEqual(transactions.map(\.linkChanges.count), [0, 1], "the numbers of links of the object")
        },
        ConformanceCheck(
            "history.filter.dates", "A request can be limited to a span of time, its end excluded.", needs: [.history]
        ) { bench in
            let clock = CheckClock()
            let store = try bench.createRecording(clock: clock)
            for key in 1...9 {
                clock.set(Int64(key) * 100)
                try store.addPeople(Int64(key)...Int64(key), by: "\(key)")
            }
            func authors(_ start: Double?, end: Double?) throws -> [String?] {
                var request = HistoryRequest()
                request.startDate = start.map { Date(timeIntervalSinceReferenceDate: $0) }
                request.endDate = end.map { Date(timeIntervalSinceReferenceDate: $0) }
                return try store.transactions(request).map(\.author)
            }
            try expectEqual(try authors(300, end: 500), ["3", "4"], "the authors from 300 to 500")
            try expectEqual(try authors(850, end: nil), ["9"], "the authors from 850 on")
            try expectEqual(try authors(nil, end: 150), ["1"], "the authors before 150")
            try expectEqual(try authors(901, end: nil), [], "the authors after the last")
            try expectEqual(try authors(-5, end: 2000).count, 9, "the number of all")
        },
        ConformanceCheck(
            "history.filter.whole-load",
            "The transaction of a whole load lists no objects, so it matches a request for any entity.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let loader = try store.bulkLoader(BulkLoadOptions())
            var batch = RecordBatch(model: store.model)
            try batch.append(ObjectID("Person", key: 1), version: 1, values: [:])
            try loader.append(batch)
            _ = try loader.finish()
            var request = HistoryRequest()
            request.entity = "Tag"
            try expectEqual(try store.transactions(request).map(\.kind), [.wholeLoad], "the kinds")
        },
    ]
}
