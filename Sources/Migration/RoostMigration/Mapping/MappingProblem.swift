package import RoostCore

/// A problem of a mapping model, or a reason why no mapping model can be inferred.
package struct MappingProblem: Hashable, Sendable, CustomStringConvertible {
    /// The entity mapping, or nil for a problem of the whole mapping model or of inference.
    package let mapping: String?
    /// The destination entity, or nil for a problem of a mapping model.
    package let entity: String?
    package let property: String?
    /// The problem and its remedy.
    package let message: String

    /// Creates a problem, and shortens a very long message in the middle.
    package init(mapping: String? = nil, entity: String? = nil, property: String? = nil, message: String) {
        self.mapping = mapping
        self.entity = entity
        self.property = property
        self.message = MessageText.bounded(message)
    }

    /// The text form with place and message: `Entity.property: message` or `mapping 'NoteToNote',
    /// title: message`.
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
    package static func invalidMappingModel(_ problems: [MappingProblem]) -> StoreError {
        StoreError(.invalidMappingModel, list("The mapping model is not valid:", problems: problems))
    }

    package static func mappingNotInferable(_ problems: [MappingProblem]) -> StoreError {
        StoreError(
            .mappingNotInferable,
            list("No mapping model can be inferred; give an explicit one, or change the model:", problems: problems))
    }
}
