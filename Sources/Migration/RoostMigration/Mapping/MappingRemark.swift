package import RoostCore

/// A statement about a migration that follows from models and mapping alone, before any object is
/// read.
package struct MappingRemark: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of remarks.
    package enum Kind: String, Sendable, CaseIterable, Codable {
        /// Some data of the source does not reach the destination.
        case loss
        /// The migration fails if the data does not meet a condition.
        case demand
        /// Nothing is lost, but something is made up, or looks like a mistake.
        case note
    }

    /// The kind of this remark.
    package let kind: Kind
    /// The entity concerned: for a loss the source's, else the destination's.
    package let entity: String
    /// The property concerned, if it is one.
    package let property: String?
    /// The consequence, for people.
    package let message: String
    /// The data that is lost; empty for other kinds of remarks, and for a loss that cannot be
    /// counted.
    package var losses: [MappingLoss] = []
    /// The number of the destination's uniqueness constraint that the source's objects need not
    /// meet yet; nil for other remarks.
    package var constraint: Int?

    /// Makes a remark.
    package init(_ kind: Kind, entity: String, property: String? = nil, message: String) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.message = message
    }

    /// The kind, the place and the message: `loss: Note.color: …`.
    package var description: String {
        "\(kind): \(entity)\(property.map { "." + $0 } ?? ""): \(message)"
    }
}

extension MappingRemark {
    /// A mandatory relationship of the destination, which no mapping fills from either end.
    package static func staysEmpty(_ relationship: String, of entity: EntityName) -> MappingRemark {
        MappingRemark(
            .note, entity: entity.text, property: relationship,
            message: "The relationship is mandatory, and stays empty in every object.")
    }
}

extension ManagedObjectModel.Relationship {
    /// Whether the model requires a destination for every object; a mandatory to-many relationship
    /// with a minimum of 0 may be empty.
    package var mustLeadSomewhere: Bool { !declaration.isOptional && (!isToMany || declaration.minCount > 0) }
}
