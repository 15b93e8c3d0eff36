#if PostgreSQL
    import Foundation
    import RoostCore
    import RoostPostgreSQL
    import RoostStores
    import RoostSystem
    import Testing

    @Suite(
        "Notices of PostgreSQL commits", .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct PostgreSQLNoticeTests {
        @Test("a commit wakes a listener on the PostgreSQL store's signal")
        func notification() throws {
            let type = PostgreSQLStoreType()
            let location = PostgreSQLServer.location()
            let model = try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: [AttributeDescription("name", type: .string)])
            ])
            let plain = try type.create(location, model: model, options: StoreOptions())
            defer {
                try? plain.close()
                try? type.destroy(location)
            }
            let signal = try #require((plain as? any CommitReportingStore)?.commitSignal)
            let (heard, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let count = Mutex(0)
            let observation = signal.observe {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                // The first call reports the start of listening.
                if number == 1 { begun.signal() } else { heard.signal() }
            }
            #expect(observation != nil)
            #expect(begun.wait(timeout: .now() + 60) == .success)
            var changes = ChangeSet(model: model)
            try changes.insert(ObjectID("Item", key: 1), values: ["name": "a"])
            _ = try plain.commit(changes)
            #expect(heard.wait(timeout: .now() + 60) == .success)
            withExtendedLifetime(observation) {}
        }

        @Test("concurrent commits are reported one after the other, each with its objects")
        func sideBySide() throws {
            let meeting = try Meeting(nodeCount: 1)
            defer { meeting.destroy() }
            let store = meeting.store
            let notices = Mutex<[SaveNotice]>([])
            let subscription = try CommitSubscription(
                to: try Store(store, registry: StoreRegistry()),
                listener: { notice in notices.withLock { $0.append(notice) } },
                end: {})
            onThreads(6) { number in
                for round in 0..<10 {
                    var changes = ChangeSet(model: store.model)
                    let key = Int64(2 + number * 10 + round)
                    try changes.insert(ObjectID("Node", key: key), values: ["value": 1])
                    _ = try store.commit(changes)
                }
            }
            let heard = notices.withLock { $0 }
            withExtendedLifetime(subscription) {}
            let keys = heard.flatMap(\.inserted).map(\.key)
            #expect(keys.sorted() == Array(2...61))
            for (former, next) in zip(heard, heard.dropFirst()) {
                #expect(next.previousGeneration == former.generation)
            }
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let recorded = try snapshot.recordedTally()
            #expect(heard.last?.generation == recorded?.generation)
        }
    }
#endif
