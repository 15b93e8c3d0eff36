extension StoreError {
    private static let toldDifferenceCount = 3
    private static let differenceCharacterCount = 120

    /// Returns the error for opening a store with an incompatible model.
    ///
    /// - Parameters:
    ///   - store: The store's name.
    ///   - model: The store's model.
    ///   - expected: The caller's model.
    /// - Returns: An error with code `modelMismatch`.
    public static func modelMismatch(
        _ store: String, has model: ManagedObjectModel, expected: ManagedObjectModel
    ) -> StoreError {
        StoreError(
            .modelMismatch,
            "The store '\(store)' was made with another version of the model: \(differences(of: expected, from: model)). Migrate the store (roost migrate), or open it with its own model. `roost model diff` reports whether a mapping can be inferred, and what it loses."
        )
    }

    /// Returns the first differences that need a migration, and the number of others.
    package static func differences(of model: ManagedObjectModel, from old: ManagedObjectModel) -> String {
        let all = model.difference(from: old).filter(\.changesVersionHash)
        let told = all.prefix(toldDifferenceCount).map { difference in
            let text = difference.text
            return text.count > differenceCharacterCount ? text.prefix(differenceCharacterCount) + "…" : text
        }
        return told.joined(separator: "; ") + (all.count > told.count ? "; and \(all.count - told.count) more" : "")
    }
}
