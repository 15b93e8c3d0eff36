/// A store whose file or schema may contain content of other programs.
///
/// A copy of the store's objects lacks this content. Replacing the file with such a copy would
/// delete the content of other programs.
package protocol ForeignContentStore: PersistentStore {
    /// Returns the content of other programs.
    func foreignContent() throws(StoreError) -> ForeignContent
}

/// The tables and indexes in a store's file that do not belong to the store.
package struct ForeignContent: Sendable, Hashable {
    /// The names of the tables, sorted.
    package var tables: [String] = []
    /// The names of the indexes on the store's own tables, sorted.
    package var indexes: [String] = []

    /// Creates a description of a file without content of other programs.
    package init() {}

    package var isEmpty: Bool { tables.isEmpty && indexes.isEmpty }

    /// The names for a message, at most ten of them.
    package var names: String {
        let all = (tables + indexes).map { "'\($0)'" }
        return all.count <= 10 ? all.joined(separator: ", ") : "\(all.prefix(10).joined(separator: ", ")) and others"
    }
}

extension PersistentStore {
    /// Returns the content of other programs; empty for types of store that cannot contain any.
    package func contentOfOthers() throws(StoreError) -> ForeignContent {
        try (self as? any ForeignContentStore)?.foreignContent() ?? ForeignContent()
    }
}
