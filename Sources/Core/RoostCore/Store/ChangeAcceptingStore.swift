/// A store that can accept changes that other programs made to its objects.
///
/// Stores of the SQL engine conform, because people edit SQL databases with other tools. Stores of
/// other types report every external change as damage.
package protocol ChangeAcceptingStore: PersistentStore {
    /// Whether objects that another program changed can be read and updated.
    var acceptsChanges: Bool { get }

    /// Finds the changes of other programs since the last commit.
    ///
    /// Reads every object and link, and changes nothing.
    ///
    /// - Returns: The changes; empty if the content matches the last commit.
    /// - Throws: `corrupted` for content that no store of this type can hold, such as text in a
    ///   field for numbers.
    func externalChanges() throws(StoreError) -> ExternalChanges

    /// Accepts the current content in one transaction: writes new checksums, versions and tallies.
    ///
    /// - Parameter expected: The changes that the caller has seen.
    /// - Returns: The generation after the change.
    /// - Throws: `conflict` if the current changes differ from `expected`. `corrupted` for the
    ///   reasons of ``externalChanges()``, or if the file structure is damaged. `readOnly`, `busy`.
    ///   After an error the store is unchanged.
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
    /// An entity or a relationship whose objects or links differ from the last commit.
    package struct Difference: Sendable, Hashable, Codable {
        package let name: String
        /// The number of objects or links that the last commit recorded.
        package let recorded: Int
        package let found: Int
        /// Whether objects or links were inserted or deleted, not only changed.
        package let hasOtherMembers: Bool

        package init(name: String, recorded: Int, found: Int, hasOtherMembers: Bool) {
            (self.name, self.recorded, self.found) = (name, recorded, found)
            self.hasOtherMembers = hasOtherMembers
        }
    }

    package static let listedCount = 100

    /// The number of objects whose values do not match their checksums.
    ///
    /// Inserted objects are included, deleted objects are not.
    public var objectCount: Int
    /// The first objects that ``objectCount`` counts, at most 100.
    public var objects: [ObjectID]
    package var entities: [Difference]
    package var relationships: [Difference]
    /// The digest of the current content.
    package var digest: StoreDigest

    package init(
        objectCount: Int, objects: [ObjectID], entities: [Difference], relationships: [Difference], digest: StoreDigest
    ) {
        self.objectCount = objectCount
        self.objects = objects
        self.entities = entities
        self.relationships = relationships
        self.digest = digest
    }

    package var isEmpty: Bool { objectCount == 0 && entities.isEmpty && relationships.isEmpty }
}

extension ExternalChanges {
    /// Sentences about the changed objects, entities and relationships, without stored values.
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
                "Objects of \(entity.name) were inserted or deleted: the store has \(entity.found), and its last commit recorded \(entity.recorded)."
            )
        }
        for relationship in relationships {
            sentences.append(
                relationship.recorded == relationship.found
                    ? "The \(relationship.found) links of '\(relationship.name)' changed since the last commit."
                    : "'\(relationship.name)' has \(relationship.found) links; the last commit recorded \(relationship.recorded)."
            )
        }
        return sentences
    }
}
