/// A store whose file or schema may contain content of other programs.
///
/// Replacing the file with a copy of the store's objects would delete this content.
package protocol ForeignContentStore: PersistentStore {
    func foreignContent() throws(StoreError) -> ForeignContent
}

/// The tables and indexes in a store's file that do not belong to the store.
package struct ForeignContent: Sendable, Hashable {
    /// The names of the tables, sorted.
    package var tables: [String] = []
    /// The names of the indexes on the store's own tables, sorted.
    package var indexes: [String] = []

    package init() {}

    package var isEmpty: Bool { tables.isEmpty && indexes.isEmpty }

    /// The names for a message, at most ten of them.
    package var names: String {
        let all = (tables + indexes).map { "'\($0)'" }
        return all.count <= 10 ? all.joined(separator: ", ") : "\(all.prefix(10).joined(separator: ", ")) and others"
    }
}

extension PersistentStore {
    package func contentOfOthers() throws(StoreError) -> ForeignContent {
        try (self as? any ForeignContentStore)?.foreignContent() ?? ForeignContent()
    }
}
