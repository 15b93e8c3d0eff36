internal import Foundation
internal import RoostCore

extension ConformanceCheck {
    /// Histories: turning them on and off, and removing old transactions.
    static let historyKeeping: [ConformanceCheck] = [
        ConformanceCheck(
            "history.turned-on",
            "An existing store begins to record its history when it is opened with `tracksHistory`, and keeps this setting.",
            needs: [.history, .persistence]
        ) { bench in
            let store = try bench.create(try HistoryModel.model.get())
            try store.addPeople(1...3)
            try store.close()
            let recording = try bench.open { $0.tracksHistory = true }
            try expectEqual(try recording.transactions().count, 0, "the number of older transactions")
            try recording.addPeople(4...4, by: "a")
            try recording.close()
            let again = try bench.open()
            try again.addPeople(5...5, by: "b")
            try expectEqual(try again.transactions().map(\.author), ["a", "b"], "the authors")
        },
        ConformanceCheck(
            "history.turned-off",
            "Turning a history off removes it. Turned on again, it starts empty and older tokens expire.",
            needs: [.history, .persistence]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...3)
            let token = try store.historyToken()
            let contents = try store.contents()
            try store.close()
            let plain = try bench.open { $0.tracksHistory = false }
            try expectError(.invalidRequest, in: "the token of a store that records no history") {
                _ = try plain.historyToken()
            }
            try expectEqual(try plain.contents(), contents, "the contents")
            try plain.addPeople(4...4)
            try plain.close()
            let again = try bench.open { $0.tracksHistory = true }
            try again.addPeople(5...5, by: "new")
            try expectEqual(try again.transactions().map(\.author), ["new"], "the authors")
            try expectError(.historyExpired, in: "a token of the old history") {
                _ = try again.transactions(after: token)
            }
        },
        ConformanceCheck(
            "history.off-leaves-nothing",
            "A store whose history was turned off has the format version of a store that never had a history.",
            needs: [.history, .persistence]
        ) { bench in
            let plain = try bench.create(try HistoryModel.model.get(), name: "plain")
            let store = try bench.createRecording()
            let (before, recording) = (try plain.metadata().formatVersion, try store.metadata().formatVersion)
            try expect(
                recording > before, "a version of the format that older programs refuse", otherwise: "\(recording)")
            try store.close()
            let off = try bench.open { $0.tracksHistory = false }
            try expectEqual(try off.metadata().formatVersion, before, "the version of the format")
        },
        ConformanceCheck(
            "history.read-only", "A store that is opened read-only keeps its history, and cannot turn it on or off.",
            needs: [.history, .persistence]
        ) { bench in
            let (store, plain) = (
                try bench.createRecording(), try bench.create(try HistoryModel.model.get(), name: "plain")
            )
            try store.addPeople(1...1, by: "a")
            try store.close()
            try plain.close()
            let reader = try bench.open { $0.isReadOnly = true }
            try expectEqual(try reader.transactions().map(\.author), ["a"], "the authors")
            try expectError(.readOnly, in: "removing the history of a store that is read-only") {
                try reader.removeHistory(.everything)
            }
            try reader.close()
            try bench.open {
                $0.isReadOnly = true
                $0.tracksHistory = true
            }.close()
            try expectError(.readOnly, in: "turning off the history of a read-only store") {
                _ = try bench.open {
                    $0.isReadOnly = true
                    $0.tracksHistory = false
                }
            }
            try expectError(.readOnly, in: "turning on the history of a read-only store") {
                _ = try bench.open(name: "plain") {
                    $0.isReadOnly = true
                    $0.tracksHistory = true
                }
            }
            try expectEqual(try bench.open().transactions().map(\.author), ["a"], "the authors afterwards")
        },
        ConformanceCheck(
            "history.options.refused", "Limits without a history, and impossible limits, are refused.",
            needs: [.history]
        ) { bench in
            try expectError(.invalidRequest, in: "a limit of a history that is not recorded") {
                _ = try bench.create(try HistoryModel.model.get(), name: "a") {
                    $0.historyRetention = HistoryRetention(days: 1)
                }
            }
            for (name, wrong) in [
                ("b", HistoryRetention(days: 0)), ("c", HistoryRetention(days: .nan)),
                ("d", HistoryRetention(byteCount: 0)),
            ] {
                try expectError(.invalidRequest, in: "an impossible limit") {
                    _ = try bench.createRecording(name: name) { $0.historyRetention = wrong }
                }
            }
        },
        ConformanceCheck(
            "history.purge.token", "Transactions up to a token are removed, and older tokens expire.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            let beginning = try store.historyToken()
            for key in 1...6 { try store.addPeople(Int64(key)...Int64(key), by: "\(key)") }
            let tokens = try store.transactions().map(\.token)
            try store.removeHistory(.token(tokens.element(2)))
            let reopened = try bench.reopen(store)
            try expectEqual(try reopened.transactions().map(\.author), ["4", "5", "6"], "the authors that stay")
            try expectEqual(
                try reopened.transactions(after: tokens.element(2)).map(\.author), ["4", "5", "6"],
                "the authors after the token")
            for token in try [beginning, tokens.element(0), tokens.element(1)] {
                let error = try expectError(.historyExpired, in: "a token of removed transactions") {
                    _ = try reopened.transactions(after: token)
                }
                try expect(error.message.contains("again"), "a message with the remedy", otherwise: error.message)
            }
            // Removing again with the same or an older token does nothing.
            try reopened.removeHistory(.token(tokens.element(2)))
            try reopened.removeHistory(.token(tokens.element(0)))
            try expectEqual(try reopened.transactions().count, 3, "the number of transactions")
            try reopened.addPeople(7...7, by: "7")
            try expectEqual(
                try reopened.transactions(after: tokens.element(5)).map(\.author), ["7"], "the authors afterwards")
        },
        ConformanceCheck(
            "history.purge.date", "Transactions before a date are removed.", needs: [.history]
        ) { bench in
            let clock = CheckClock()
            let store = try bench.createRecording(clock: clock)
            for key in 1...5 {
                clock.set(Int64(key) * 100)
                try store.addPeople(Int64(key)...Int64(key), by: "\(key)")
            }
            try store.removeHistory(.date(Date(timeIntervalSinceReferenceDate: 50)))
            try expectEqual(try store.transactions().count, 5, "the number of transactions")
            try store.removeHistory(.date(Date(timeIntervalSinceReferenceDate: 300)))
            try expectEqual(try store.transactions().map(\.author), ["3", "4", "5"], "the authors")
            try store.removeHistory(.date(Date(timeIntervalSinceReferenceDate: 1e9)))
            try expectEqual(try store.transactions().count, 0, "the number of transactions")
        },
        ConformanceCheck(
            "history.purge.all",
            "After the whole history was removed, the current token stays valid and new changes follow it.",
            needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...30)
            let token = try store.historyToken()
            try store.removeHistory(.everything)
            try expectEqual(try store.historyToken(), token, "the token")
            try expectEqual(try store.transactions(after: token).count, 0, "the number of transactions")
            try store.addPeople(31...31, by: "new")
            try expectEqual(
                try bench.reopen(store).transactions(after: token).map(\.author), ["new"], "the authors")
        },
        ConformanceCheck(
            "history.purge.large", "Transactions of many parts are removed as a whole.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            for round in 0..<3 as Range<Int64> {
                try store.change { changes in
                    for key in 1...20_000 as ClosedRange<Int64> {
                        try changes.insert(ObjectID("Tag", key: (round * 20_000 + key) * 1_000_000), values: [:])
                    }
                }
            }
            let tokens = try store.transactions().map(\.token)
            try store.removeHistory(.token(tokens.element(1)))
            try expectEqual(try store.transactions().map(\.changes.count), [20_000], "the numbers of changes")
            try store.removeHistory(.everything)
            try expectEqual(try store.transactions().count, 0, "the number of transactions")
        },
        ConformanceCheck(
            "history.purge.read-meanwhile",
            "A snapshot keeps the history of its state while older transactions are removed.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording()
            try store.addPeople(1...1, by: "a")
            try store.view { snapshot in
                try store.removeHistory(.everything)
                try expectEqual(try snapshot.transactions().map(\.author), ["a"], "the authors in the snapshot")
            }
        },
        ConformanceCheck(
            "history.retention.bytes", "A store keeps no more bytes of history than its limit.", needs: [.history]
        ) { bench in
            let store = try bench.createRecording { $0.historyRetention = HistoryRetention(byteCount: 4000) }
            let beginning = try store.historyToken()
            for key in 1...200 { try store.addPeople(Int64(key)...Int64(key), by: "\(key)") }
            let reopened = try bench.reopen(store)
            let transactions = try reopened.transactions()
            try expect(
                transactions.count > 20 && transactions.count < 180, "some transactions are kept",
                otherwise: "\(transactions.count)")
            try expectEqual(
                transactions.map(\.author), (201 - transactions.count...200).map { "\($0)" }, "the authors")
            try expectError(.historyExpired, in: "the token of the beginning") {
                _ = try reopened.transactions(after: beginning)
            }
        },
        ConformanceCheck(
            "history.retention.days", "A store keeps the history of as many days as its limit allows.",
            needs: [.history]
        ) { bench in
            let clock = CheckClock(0)
            let store = try bench.createRecording(clock: clock) { $0.historyRetention = HistoryRetention(days: 2) }
            for hour in 0..<100 as Range<Int64> {
                clock.set(hour * 3600)
                try store.addPeople(hour + 1...hour + 1)
            }
            let hours = try store.transactions().map { Int($0.date.timeIntervalSinceReferenceDate / 3600) }
            try expectEqual(hours.last, 99, "the last hour")
            let first = try require(hours.first, "a first hour")
            try expect((49...51).contains(first), "the first hour is two days before", otherwise: "\(first)")
            try expectEqual(hours, Array(first...99), "the hours")
        },
        ConformanceCheck(
            "history.retention.kept", "The limit of a history is stored in the store, and can be changed.",
            needs: [.history, .persistence]
        ) { bench in
            try bench.createRecording { $0.historyRetention = HistoryRetention(byteCount: 2000) }.close()
            let store = try bench.open()
            for key in 1...100 { try store.addPeople(Int64(key)...Int64(key)) }
            let count = try store.transactions().count
            try expect(count < 90, "less than everything is kept", otherwise: "\(count)")
            try store.close()
            let unlimited = try bench.open { $0.historyRetention = HistoryRetention() }
            for key in 101...200 { try unlimited.addPeople(Int64(key)...Int64(key)) }
            try expectEqual(try unlimited.transactions().count, count + 100, "the number of transactions")
        },
    ]
}
