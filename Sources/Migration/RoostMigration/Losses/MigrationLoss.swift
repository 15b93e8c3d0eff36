public import RoostCore

/// Data of one source entity or property that a migration drops, with a count.
///
/// As JSON: `entity`, `property` (absent for whole objects), `kind` (see ``Kind``), `count`,
/// `mappings` (names), `message`.
///
/// A ``MigrationLossRefusal`` contains the losses of a refused migration.
public struct MigrationLoss: Sendable, Adjustable, Hashable, Codable {
    /// The kind of data that ``MigrationLoss/count`` counts.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// Objects.
        case objects
        /// Non-null values, or values that lose digits.
        case values
        /// References to other objects, in relationships or as IDs in attributes.
        case references
        /// Objects with an ordered relationship that loses its order.
        case order
    }

    /// The source entity.
    public var entity: String
    /// The source property, or nil for whole objects.
    public var property: String?
    /// The kind of data.
    public var kind: Kind
    /// The number of objects, values or references, according to ``MigrationLoss/kind``.
    public var count: Int
    package var mappings: [String] = []
    /// The reason, as text for users.
    public var message: String

    package init(
        entity: String, property: String? = nil, kind: Kind, count: Int, message: String
    ) {
        self.entity = entity
        self.property = property
        self.kind = kind
        self.count = count
        self.message = message
    }
}

extension MigrationLoss: CustomStringConvertible {
    /// The text form in one line, with entity, property, reason, count and mappings.
    public var description: String {
        let place = entity + (property.map { "." + $0 } ?? "")
        let reason = message.hasSuffix(".") ? String(message.dropLast()) : message
        let names = mappings.map { "'\($0)'" }.joined(separator: ", ")
        let by = mappings.isEmpty ? "" : "; mapping \(names)"
        return "\(place): \(reason) (\(kind.counted(count))\(by))."
    }
}

extension MigrationLoss.Kind {
    func counted(_ count: Int) -> String {
        switch self {
        case .objects: count == 1 ? "1 object" : "\(count) objects"
        case .values: count == 1 ? "1 value" : "\(count) values"
        case .references: count == 1 ? "1 reference" : "\(count) references"
        case .order: count == 1 ? "in 1 object" : "in \(count) objects"
        }
    }
}

/// The ``StoreError/underlying`` error of a migration refused with code
/// `StoreError.Code.lossRefused`.
///
/// ```swift
/// do {
///     _ = try MigrationManager().migrateInPlace(.sqlite("music.sqlite"), model: model)
/// } catch {
///     guard let refusal = error.underlying as? MigrationLossRefusal else { throw error }
///     for loss in refusal.losses { print(loss) }
/// }
/// ```
public struct MigrationLossRefusal: Error, Sendable, Hashable {
    /// The losses.
    public let losses: [MigrationLoss]
}

extension MigrationLossRefusal: CustomStringConvertible {
    /// The number of losses, as a phrase.
    public var description: String { losses.count == 1 ? "1 loss" : "\(losses.count) losses" }
}

extension StoreError {
    static func lossRefused(_ losses: [MigrationLoss], of location: StoreLocation) -> StoreError {
        StoreError(
            .lossRefused,
            "'\(location)' was not migrated, because data would be lost. Keep the data in the new model or the mapping, or allow the loss (--allow-loss, MigrationOptions.allowsLoss):"
                + losses.map { "\n  \($0)" }.joined(), underlying: MigrationLossRefusal(losses: losses))
    }
}
