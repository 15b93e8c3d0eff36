/// An object that cannot be deleted because another one stays.
///
/// ```swift
/// do {
///     try store.delete("Album", where: "year < 1972")
/// } catch {
///     for denial in error.denials {
///         print(denial.deleted, "cannot be deleted because of", denial.remaining)
///     }
/// }
/// ```
public struct DeleteDenial: Sendable, Hashable {
    /// The reason for a denial.
    public enum Reason: Hashable, Sendable {
        /// The relationship of the object that was to go has delete rule ``DeleteRule/deny``.
        case rule
        /// The relationship of the object that stays is mandatory.
        case mandatory
        /// The relationship of the object that stays refers to the object, and the change set
        /// requires that none does; see ``ChangeSet/requiresUnreferencedDeletes``.
        case referenced
    }

    /// The relationship that prevents the delete: of the object to delete, or of the object that
    /// stays.
    public let relationship: RelationshipName
    /// The object that was to be deleted.
    public let deleted: ObjectID
    /// The object that stays.
    public let remaining: ObjectID
    /// The reason why it cannot be deleted.
    public let reason: Reason

    /// Makes a denial.
    public init(relationship: RelationshipName, deleted: ObjectID, remaining: ObjectID, reason: Reason) {
        self.relationship = relationship
        self.deleted = deleted
        self.remaining = remaining
        self.reason = reason
    }

    /// The error that carries denials; there is at least one.
    package static func error(_ denials: [DeleteDenial]) -> StoreError {
        guard let first = denials.first else {
            return StoreError(.internalInconsistency, "A delete was denied without a reason.")
        }
        let others = denials.count == 1 ? "" : " There are \(denials.count - 1) more such pairs."
        let reason =
            switch first.reason {
            case .rule:
                "its '\(first.relationship.name)' refers to \(first.remaining), and the delete rule of '\(first.relationship)' is deny; delete that too, or take it out of the relationship."
            case .mandatory:
                "\(first.remaining) refers to it by '\(first.relationship)', which is mandatory; delete that too, or give it another one."
            case .referenced:
                "\(first.remaining) refers to it by '\(first.relationship)'; nothing was written. Read both again, and delete that object too or end the reference."
            }
        return StoreError(
            .deleteDenied, "\(first.deleted) cannot be deleted: \(reason)\(others)"
        ).with { $0.denials = denials }
    }
}
