package import RoostCore

/// A problem of a mapping model, or a reason why none can be inferred.
package struct MappingProblem: Hashable, Sendable, CustomStringConvertible {
    /// The entity mapping concerned; nil when it is the mapping model as a whole, and where none
    /// could be inferred.
    package let mapping: String?
    /// The entity concerned: the destination's, or one of the source that has none there.
    package let entity: String?
    /// The property concerned, if it is one.
    package let property: String?
    /// The problem and its remedy.
    package let message: String

    /// Makes a problem; of a very long message the beginning and the end are kept.
    package init(mapping: String? = nil, entity: String? = nil, property: String? = nil, message: String) {
        self.mapping = mapping
        self.entity = entity
        self.property = property
        self.message = MessageText.bounded(message)
    }

    /// The place and the message: `Entity.property: message`,
    /// `mapping 'NoteToNote', title: message`.
    package var description: String {
        let place: String
        if let mapping {
            place = "mapping '\(mapping)'" + (property.map { ", \($0)" } ?? "")
        } else {
            place = [entity, property].compactMap { $0 }.joined(separator: ".")
        }
        return place.isEmpty ? message : "\(MessageText.bounded(place)): \(message)"
    }
}

extension StoreError {
    /// An error that lists the problems of a mapping model, one a line, as many as a message holds.
    package static func invalidMappingModel(_ problems: [MappingProblem]) -> StoreError {
        StoreError(.invalidMappingModel, list("The mapping model is not valid:", problems: problems))
    }

    /// An error that lists the reasons why no mapping model can be inferred, one a line, as many as
    /// a message holds.
    package static func mappingNotInferable(_ problems: [MappingProblem]) -> StoreError {
        StoreError(
            .mappingNotInferable,
            list("No mapping model can be inferred; give an explicit one, or change the model:", problems: problems))
    }
}
