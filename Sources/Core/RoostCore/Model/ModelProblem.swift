package struct ModelProblem: Hashable, Sendable, CustomStringConvertible {
    /// The affected entity; nil for the whole model.
    package let entity: String?
    package let property: String?
    package let message: String

    package init(entity: String?, property: String? = nil, message: String) {
        self.entity = entity
        self.property = property
        self.message = MessageText.bounded(message)
    }

    /// The location and the message: `Entity.property: message`.
    package var description: String {
        let place = [entity, property].compactMap { $0 }.joined(separator: ".")
        return place.isEmpty ? message : "\(MessageText.bounded(place)): \(message)"
    }
}

extension StoreError {
    package static func invalidModel(_ problems: [ModelProblem]) -> StoreError {
        StoreError(.invalidModel, list("The model is not valid:", problems: problems))
    }

    /// Returns a title, then a line for each problem that fits into a message.
    package static func list(_ title: String, problems: [some CustomStringConvertible]) -> String {
        var text = title
        for (number, problem) in problems.enumerated() {
            let line = "\n  \(problem)"
            guard text.utf8.count + line.utf8.count < MessageText.maximumByteCount - 100 else {
                return text + "\n  And \(problems.count - number) more problems."
            }
            text += line
        }
        return text
    }
}
