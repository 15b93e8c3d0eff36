#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostStores
    import RoostSystem
    import Testing

    @testable import RoostPostgreSQL

    /// Random commits of many sessions on the same few objects.
    ///
    /// Commits conflict on objects, unique values, links, deleted objects and the ends of lists.
    @Suite(
        "Concurrent commits to the same PostgreSQL objects",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct MeetingWritersTests {
        private static let nodeCount: Int64 = 12

        private func change(
            of store: any PersistentStore, using random: inout some RandomNumberGenerator
        ) throws(StoreError) -> ChangeSet {
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            var changes = ChangeSet(model: store.model)
            func node(_ key: Int64) -> ObjectID { ObjectID("Node", key: key) }
            func version(_ key: Int64) throws(StoreError) -> UInt32? {
                var batch = RecordBatch(model: store.model)
                return try snapshot.record(with: node(key), into: &batch) ? batch.record(at: 0).version : nil
            }
            func links(_ name: String, from key: Int64) throws(StoreError) -> [Link] {
                let cursor = try snapshot.links(of: RelationshipName("Node", name: name), from: node(key))
                var batch = LinkBatch(relationship: 0)
                var all: [Link] = []
                while try cursor.next(into: &batch) { all += batch.links }
                return all
            }
            let first = Int64.random(in: 1...Self.nodeCount, using: &random)
            let second = Int64.random(in: 1...Self.nodeCount, using: &random)
            let number = Int64.random(in: 0..<6, using: &random)
            let friends = RelationshipName("Node", name: "friends")
            guard let known = try version(first) else {
                // Another session may insert this node, or another node with the same name.
                try changes.insert(node(first), values: ["value": 0, "name": .string("name \(number)")])
                return changes
            }
            switch Int.random(in: 0..<9, using: &random) {
            case 0: try changes.update(node(first), version: known, values: ["value": .int(number)])
            case 1:
                try changes.update(
                    node(first), version: known, values: ["value": 1, "name": .string("name \(number)")])
            case 2:
                changes.delete(node(first), version: known)
                changes.requiresUnreferencedDeletes = true
                changes.requiresUnlinkedDeletes = Bool.random(using: &random)
            case 3:
                let exists = try version(second) != nil
                try changes.update(
                    node(first), version: known,
                    values: ["value": 2, "parent": exists ? .objectID(node(second)) : .null])
                if exists { changes.existing.append(node(second)) }
            case 4, 5: try changes.add(Link(first, second), to: friends)
            case 6: try changes.remove(Link(first, second), from: friends)
            case 7:
                // Appends to the list if its end is unchanged.
                let list = RelationshipName("Node", name: "list")
                let places = try links("list", from: first)
                let last = places.map(\.order).max()
                guard !places.contains(where: { $0.target == second }) else { break }
                changes.lastPlaces.append(.init(node(first), in: list, place: last))
                try changes.add(Link(first, second, order: (last ?? 0) + 1), to: list)
            default:
                changes.userMetadata = ["writer \(number)": .int(first)]
                changes.unchanged.append(.init(node(first), version: known))
            }
            return changes
        }

        @Test(
            "a store is sound after random concurrent commits to the same few objects",
            arguments: PostgreSQLProfile.allCases)
        func random(profile: PostgreSQLProfile) throws {
            let meeting = try Meeting(nodeCount: Self.nodeCount, profile: profile)
            defer { meeting.destroy() }
            let store = meeting.store
            let environment = ProcessInfo.processInfo.environment
            let rounds = Int(environment["ROOST_POSTGRES_MEETINGS"] ?? "60") ?? 60
            let seed = UInt64(environment["ROOST_POSTGRES_SEED"] ?? "") ?? UInt64.random(in: 0...9999)
            let outcomes = Mutex<[String: Int]>([:])
            let stores = try (0..<4).map { _ in try meeting.open() }
            onThreads(12) { number in
                let store = stores[number % 4]
                var random = SeededGenerator(seed: seed &+ UInt64(number))
                for _ in 0..<rounds {
                    let changes = try change(of: store, using: &random)
                    var outcome = "committed"
                    do throws(StoreError) { _ = try store.commit(changes) } catch {
                        outcome = "\(error.code)"
                        let expected: [StoreError.Code] = [
                            .conflict, .duplicateObject, .constraintViolation, .objectNotFound, .deleteDenied,
                        ]
                        if !expected.contains(error.code) { throw error }
                        // The error is Roost's own, because the database's message names no object.
                        #expect(error.underlying == nil, "\(error)")
                    }
                    outcomes.withLock { $0[outcome, default: 0] += 1 }
                }
            }
            for store in stores { try store.close() }
            let counts = outcomes.withLock { $0 }
            print("meeting writers, \(profile), ROOST_POSTGRES_SEED=\(seed): \(counts)")
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let cursor = try snapshot.links(of: RelationshipName("Node", name: "list"), after: nil)
            var batch = LinkBatch(relationship: 0)
            var places: Set<[Int64]> = []
            while try cursor.next(into: &batch) {
                for link in batch.links {
                    let isFirst = places.insert([link.source, link.order]).inserted
                    #expect(isFirst)
                }
            }
            try meeting.requireSound()
        }
    }
#endif
