package import RoostCore

/// A statement about a migration, made from the models and the mapping without reading objects.
package struct MappingRemark: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable, Codable {
        /// A part of the source's data does not reach the destination.
        case loss
        /// The migration fails if the data does not meet a condition.
        case demand
        /// No data is lost, but the migration adds data, or the mapping looks like a mistake.
        case note
    }

    package let kind: Kind
    /// The entity concerned: a source entity for a loss, otherwise a destination entity.
    package let entity: String
    package let property: String?
    /// The consequence, as text for users.
    package let message: String
    /// The lost data; empty for other kinds of remarks, and for a loss that cannot be counted.
    package var losses: [MappingLoss] = []
    /// The number of the destination's uniqueness constraint that source objects may violate; nil
    /// for other remarks.
    package var constraint: Int?

    package init(_ kind: Kind, entity: String, property: String? = nil, message: String) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.message = message
    }

    /// The text form: `loss: Note.color: …`.
    package var description: String {
        "\(kind): \(entity)\(property.map { "." + $0 } ?? ""): \(message)"
    }
}

extension MappingRemark {
    /// Creates the remark on a mandatory relationship of the destination that no mapping sets from
    /// either end.
    package static func staysEmpty(_ relationship: String, of entity: EntityName) -> MappingRemark {
        MappingRemark(
            .note, entity: entity.text, property: relationship,
            message: "The relationship is mandatory, and stays empty in every object.")
    }
}

extension ManagedObjectModel.Relationship {
    /// Whether the model requires the relationship to have a destination.
    package var mustLeadSomewhere: Bool { !declaration.isOptional && (!isToMany || declaration.minCount > 0) }
}
