extension StoreError {
    /// The maximum number of differences in a message.
    private static let toldDifferenceCount = 3
    /// The maximum length of one difference in a message.
    private static let differenceCharacterCount = 120

    /// Returns the error for opening a store with an incompatible model.
    ///
    /// - Parameters:
    ///   - store: The name of the store in the message.
    ///   - model: The model of the store.
    ///   - expected: The model that the caller expected.
    /// - Returns: An error with code `modelMismatch`.
    public static func modelMismatch(
        _ store: String, has model: ManagedObjectModel, expected: ManagedObjectModel
    ) -> StoreError {
        StoreError(
            .modelMismatch,
            "The store '\(store)' was made with another version of the model: \(differences(of: expected, from: model)). Migrate the store (roost migrate), or open it with its own model. `roost model diff` reports whether a mapping can be inferred, and what it loses."
        )
    }

    /// Returns a text with the first differences that need a migration, and the number of others.
    package static func differences(of model: ManagedObjectModel, from old: ManagedObjectModel) -> String {
        let all = model.difference(from: old).filter(\.changesVersionHash)
        let told = all.prefix(toldDifferenceCount).map { difference in
            let text = difference.text
            return text.count > differenceCharacterCount ? text.prefix(differenceCharacterCount) + "…" : text
        }
        return told.joined(separator: "; ") + (all.count > told.count ? "; and \(all.count - told.count) more" : "")
    }
}
