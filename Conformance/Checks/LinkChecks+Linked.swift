internal import RoostCore

private let members = RelationshipName("Queue", name: "members")

extension ConformanceCheck {
    /// Creates a check on a store with tracks, tags, playlists, queues, shelves, nodes and albums.
    ///
    /// The keys of each entity's objects are 1 to 10. With `reopening`, the store gets two links of
    /// `members` and is reopened before the check.
    static func linked(
        _ name: String, behavior: String, group: String = "links", reopening: Bool = false,
        _ body: @escaping @Sendable (any PersistentStore) throws -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("\(group).\(name)", behavior) { bench in
            var store = try bench.create()
            try store.change { changes in
                for key in Int64(1)...10 {
                    for entity in ["Track", "Tag", "Playlist", "Queue", "Shelf", "Node", "Album"] as [EntityName] {
                        try changes.insert(ObjectID(entity, key: key), values: [:])
                    }
                }
            }
            if reopening {
                try store.change { changes in
                    try changes.add(Link(1, 1, order: 0, inverseOrder: .min), to: members)
                    try changes.add(Link(1, 2, order: -3, inverseOrder: .max), to: members)
                }
                store = try bench.reopen(store)
            }
            try body(store)
        }
    }
}
