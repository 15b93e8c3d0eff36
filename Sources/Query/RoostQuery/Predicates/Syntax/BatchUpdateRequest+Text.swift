package import RoostCore

extension BatchUpdateRequest {
    /// Adds an assignment in text form, such as `plays = plays + 1` or `album = NULL`.
    ///
    /// The text is parsed as a comparison, which gives literals the type of the property.
    ///
    /// - Throws: `invalidRequest` for any other text, and for a second assignment to a property;
    ///   the errors of parsing a predicate.
    package mutating func set(_ assignment: String, model: ManagedObjectModel) throws(StoreError) {
        guard
            case .comparison(let comparison) = try FetchRequest.Predicate(assignment, for: entity, model: model),
            comparison.operator == .equal, comparison.modifier == .direct, comparison.options == [],
            case .keyPath(let path) = comparison.left
        else {
            throw StoreError(
                .invalidRequest,
                "'\(assignment)' is not an assignment; write a property, = and an expression, as in plays = plays + 1.")
        }
        let name = path.joined(separator: ".")
        guard values.updateValue(comparison.right, forKey: name) == nil else {
            throw StoreError(.invalidRequest, "'\(entity).\(name)' is set twice.")
        }
    }
}
