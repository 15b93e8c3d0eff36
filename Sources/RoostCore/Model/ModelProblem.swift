/// One thing that is wrong with a model.
public struct ModelProblem: Hashable, Sendable, CustomStringConvertible {
    /// The entity concerned; nil when it is the model as a whole.
    public let entity: String?
    /// The property concerned, if it is one.
    public let property: String?
    /// What is wrong and what to do about it.
    public let message: String

    /// Makes a problem.
    public init(entity: String?, property: String? = nil, _ message: String) {
        self.entity = entity
        self.property = property
        self.message = message
    }

    /// The place and the message: `Entity.property: message`.
    public var description: String {
        let place = [entity, property].compactMap { $0 }.joined(separator: ".")
        return place.isEmpty ? message : "\(place): \(message)"
    }
}

extension StoreError {
    /// An error that lists every problem of a model, one a line.
    public static func invalidModel(_ problems: [ModelProblem]) -> StoreError {
        StoreError(.invalidModel, "The model is not valid:\n" + problems.map { "  \($0)" }.joined(separator: "\n"))
    }
}
