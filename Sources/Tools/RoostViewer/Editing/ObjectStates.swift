#if Interactive
    internal import RoostCore
    internal import RoostStores

    /// The stored states of some objects at one time, to detect changes by other programs.
    ///
    /// The version of an object changes only with its record. So each state also has a hash of the
    /// members of the object's to-many relationships.
    struct ObjectStates: Sendable {
        private struct State: Hashable {
            var version: UInt32
            var members: Int
        }

        /// The states by ID, with nil for an object that does not exist.
        private var states: [ObjectID: State?] = [:]

        var ids: [ObjectID] { Array(states.keys) }

        init() {}

        init(_ ids: some Sequence<ObjectID>, in store: Store) throws {
            let snapshot = try store.persistentStore.snapshot()
            defer { snapshot.close() }
            for id in Set(ids) { states[id] = .some(try Self.state(of: id, snapshot: snapshot)) }
        }

        /// Replaces each state that equals the object's state in `former` by its state in `new`.
        mutating func replace(_ former: ObjectStates, by new: ObjectStates) {
            for (id, state) in new.states {
                if let known = states[id], let old = former.states[id], known == old { states[id] = .some(state) }
            }
        }

        /// Returns an object whose state in `store` differs from its recorded state, or nil.
        func firstDifference(in store: Store) throws -> ObjectID? {
            let snapshot = try store.persistentStore.snapshot()
            defer { snapshot.close() }
            return try states.first { try Self.state(of: $0.key, snapshot: snapshot) != $0.value }?.key
        }

        private static func state(of id: ObjectID, snapshot: any StoreSnapshot) throws(StoreError) -> State? {
            var batch = RecordBatch(model: snapshot.model)
            guard try snapshot.record(with: id, into: &batch), batch.count == 1 else { return nil }
            let entity = snapshot.model.entities[batch.entityNumber(at: 0)]
            var hasher = Hasher()
            for relationship in entity.relationships where relationship.isToMany {
                let cursor = try snapshot.links(of: relationship.name, from: id)
                var links = LinkBatch(relationship: relationship.number)
                hasher.combine(relationship.number)
                while try cursor.next(into: &links) { for link in links.links { hasher.combine(link.target) } }
            }
            return State(version: batch.record(at: 0).version, members: hasher.finalize())
        }
    }
#endif
