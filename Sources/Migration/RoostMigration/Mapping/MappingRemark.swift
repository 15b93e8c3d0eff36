package import RoostCore

/// Something about a migration that can be said from models and mapping alone, before any object is read.
package struct MappingRemark: Hashable, Sendable, CustomStringConvertible {
    /// What a remark means for the data.
    package enum Kind: String, Sendable, CaseIterable, Codable {
        /// Data that the source has do not reach the destination.
        case loss
        /// The migration fails where the data do not meet a condition.
        case demand
        /// Nothing is lost, but something is made up, or looks like a mistake.
        case note
    }

    /// What it means for the data.
    package let kind: Kind
    /// The entity concerned: for a loss the source's, else the destination's.
    package let entity: String
    /// The property concerned, if it is one.
    package let property: String?
    /// What happens, for people.
    package let message: String
    /// The data that is lost; empty for other kinds of remarks, and for a loss that nothing can be
    /// counted of.
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
    /// Whether the model demands a destination for every object: what is mandatory with a least number of none may be empty.
    package var mustLeadSomewhere: Bool { !declaration.isOptional && (!isToMany || declaration.minCount > 0) }
}
