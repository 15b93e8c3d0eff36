extension StoreError {
    /// How many differences a message tells; more are only counted.
    private static let toldDifferenceCount = 3
    /// How long one difference may be in a message.
    private static let differenceCharacterCount = 120

    /// The error of opening a store with a model that is not compatible with its own: what differs, and what can be done.
    ///
    /// - Parameters:
    ///   - store: The store, as messages name it.
    ///   - model: The model that the store has.
    ///   - expected: The model that it was to be opened with.
    /// - Returns: The error, of code `modelMismatch`.
    package static func modelMismatch(
        _ store: String, has model: ManagedObjectModel, expected: ManagedObjectModel
    ) -> StoreError {
        StoreError(
            .modelMismatch,
            "The store '\(store)' was made with another version of the model: \(differences(of: expected, from: model)). \(remedy(from: model, to: expected))"
        )
    }

    /// The first differences that need a migration, and how many more there are.
    package static func differences(of model: ManagedObjectModel, from old: ManagedObjectModel) -> String {
        let all = model.difference(from: old).filter(\.changesVersionHash)
        let told = all.prefix(toldDifferenceCount).map { difference in
            let place = [difference.entity, difference.property].compactMap { $0 }.joined(separator: ".")
            let details = difference.details.isEmpty ? "" : " (\(difference.details.joined(separator: ", ")))"
            let text = "\(place): \(difference.subject) \(difference.kind)\(details)"
            return text.count > differenceCharacterCount ? text.prefix(differenceCharacterCount) + "…" : text
        }
        return told.joined(separator: "; ") + (all.count > told.count ? "; and \(all.count - told.count) more" : "")
    }

    private static func remedy(from old: ManagedObjectModel, to model: ManagedObjectModel) -> String {
        let problems = MappingModel.inferenceProblems(from: old, to: model)
        guard let first = problems.first else {
            let mapping = try? MappingModel.inferred(from: old, to: model)
            let losesData = mapping?.remarks(from: old, to: model).contains { $0.kind == .loss } ?? false
            let loss = losesData ? ", which leaves data behind (roost model diff says what)" : ""
            return "A mapping can be inferred\(loss): migrate the store (roost migrate), or open it with its own model."
        }
        let place = [first.entity, first.property].compactMap { $0 }.joined(separator: ".")
        let more = problems.count > 1 ? " and \(problems.count - 1) more" : ""
        return
            "No mapping can be inferred, because of \(place)\(more) (roost model diff says why): migrate the store with a mapping model (roost migrate --mapping), or open it with its own model."
    }
}
