/// An object that cannot be deleted because of a remaining object.
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
        /// The deleted object's relationship has the delete rule ``DeleteRule/deny``.
        case rule
        /// The remaining object refers to the deleted object by a mandatory relationship.
        case mandatory
        /// The remaining object refers to the deleted object, and the change set forbids such
        /// references; see ``ChangeSet/requiresUnreferencedDeletes``.
        case referenced
    }

    /// The relationship that prevents the delete.
    ///
    /// It belongs to the object to delete or to the remaining object.
    public let relationship: RelationshipName
    /// The object to delete.
    public let deleted: ObjectID
    /// The remaining object.
    public let remaining: ObjectID
    /// The reason why the object cannot be deleted.
    public let reason: Reason

    /// Creates a denial.
    public init(relationship: RelationshipName, deleted: ObjectID, remaining: ObjectID, reason: Reason) {
        self.relationship = relationship
        self.deleted = deleted
        self.remaining = remaining
        self.reason = reason
    }

    package static func error(_ denials: [DeleteDenial]) -> StoreError {
        guard let first = denials.first else {
            return StoreError(.internalInconsistency, "A delete was denied without a reason.")
        }
        let others = denials.count == 1 ? "" : " There are \(denials.count - 1) more such pairs."
        let reason =
            switch first.reason {
            case .rule:
                "its '\(first.relationship.name)' refers to \(first.remaining), and the delete rule of '\(first.relationship)' is deny; delete \(first.remaining) too, or remove it from '\(first.relationship.name)'."
            case .mandatory:
                "\(first.remaining) refers to it by '\(first.relationship)', which is mandatory; delete \(first.remaining) too, or set its '\(first.relationship.name)' to another object."
            case .referenced:
                "\(first.remaining) refers to it by '\(first.relationship)'; nothing was written. Read both objects again, and delete \(first.remaining) too or remove the reference."
            }
        return StoreError(
            .deleteDenied, "\(first.deleted) cannot be deleted: \(reason)\(others)"
        ).with { $0.denials = denials }
    }
}
