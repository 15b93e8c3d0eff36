/// A store whose objects other programs can change, and which can take such changes over.
///
/// A store type implements this protocol if people edit its files with other tools, as they do with
/// SQLite databases. Other stores report every foreign change as damage.
package protocol ChangeAcceptingStore: PersistentStore {
    /// Whether objects that another program changed are read and updated as they are; see
    /// ``StoreOptions/acceptsChanges``.
    var acceptsChanges: Bool { get }

    /// Finds what another program changed since the last commit.
    ///
    /// Reads every object and link, and changes nothing.
    ///
    /// - Returns: The changes; empty if the content is what the last commit recorded.
    /// - Throws: `corrupted` for content that no store of this type can hold, such as text in a
    ///   number's place.
    func externalChanges() throws(StoreError) -> ExternalChanges

    /// Makes the current content the recorded one, in one transaction: new checksums and versions,
    /// and new tallies.
    ///
    /// - Parameter expected: The changes that the caller has seen.
    /// - Returns: The generation after the change.
    /// - Throws: `conflict` if the store has other changes than `expected` by now; `corrupted` as
    ///   ``externalChanges()`` does, and for a file whose structure is damaged; `readOnly`, `busy`.
    ///   The store is then as it was.
    func acceptExternalChanges(_ expected: ExternalChanges) throws(StoreError) -> Generation
}

/// The changes that another program made in a store since the last commit.
///
/// ```swift
/// let maintenance = StoreMaintenance()
/// _ = try maintenance.acceptExternalChanges(in: .sqlite("music.sqlite")) { changes in
///     for sentence in changes.sentences { print(sentence) }
///     return changes.objectCount < 100
/// }
/// ```
public struct ExternalChanges: Sendable, Hashable {
    /// An entity or a relationship with another number of objects or links, or other ones, than the
    /// last commit recorded.
    package struct Difference: Sendable, Hashable, Codable {
        /// The name of the entity or the relationship.
        package let name: String
        /// The number of objects or links that the last commit recorded.
        package let recorded: Int
        /// The number of objects or links in the store.
        package let found: Int
        /// Whether objects or links were inserted or deleted, rather than changed alone.
        package let hasOtherMembers: Bool

        /// Makes a difference.
        package init(name: String, recorded: Int, found: Int, hasOtherMembers: Bool) {
            (self.name, self.recorded, self.found) = (name, recorded, found)
            self.hasOtherMembers = hasOtherMembers
        }
    }

    /// The most objects that ``objects`` lists.
    package static let listedCount = 100

    /// The number of objects with other values than their checksums say; inserted objects count,
    /// deleted ones do not.
    public var objectCount: Int
    /// The first of these objects.
    public var objects: [ObjectID]
    /// The entities whose objects differ from the recorded ones.
    package var entities: [Difference]
    /// The relationships whose links differ from the recorded ones.
    package var relationships: [Difference]
    /// The digest of the content as it is.
    package var digest: StoreDigest

    /// Makes a description of changes.
    package init(
        objectCount: Int, objects: [ObjectID], entities: [Difference], relationships: [Difference], digest: StoreDigest
    ) {
        self.objectCount = objectCount
        self.objects = objects
        self.entities = entities
        self.relationships = relationships
        self.digest = digest
    }

    /// Whether the content is what the last commit recorded.
    package var isEmpty: Bool { objectCount == 0 && entities.isEmpty && relationships.isEmpty }
}

extension ExternalChanges {
    /// One sentence for each kind of change, without stored values.
    public var sentences: [String] {
        var sentences: [String] = []
        if objectCount > 0 {
            let first = objects.prefix(10).map(\.description).joined(separator: ", ")
            let rest = objectCount > 10 ? " and \(objectCount - 10) more" : ""
            let count = objectCount == 1 ? "1 object was" : "\(objectCount) objects were"
            sentences.append("\(count) changed by another program: \(first)\(rest).")
        }
        for entity in entities where entity.hasOtherMembers {
            sentences.append(
                "Objects of \(entity.name) were inserted or deleted: it has \(entity.found), and \(entity.recorded) were recorded."
            )
        }
        for relationship in relationships {
            sentences.append(
                relationship.recorded == relationship.found
                    ? "The \(relationship.found) links of '\(relationship.name)' differ from the recorded ones."
                    : "'\(relationship.name)' has \(relationship.found) links; \(relationship.recorded) were recorded.")
        }
        return sentences
    }
}
