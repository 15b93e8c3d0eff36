public import RoostCore

/// A difference between two stores.
public struct StoreDifference: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The kinds of difference.
    public enum Kind: String, Sendable, Codable {
        /// The models describe different data, so records cannot be compared.
        case model
        /// An object that only the first store has.
        case onlyInFirst
        /// An object that only the second store has.
        case onlyInSecond
        /// An object whose entity or stored values differ between the stores.
        case changed
        /// A link that the second store lacks, or has only at another position.
        case linkOnlyInFirst
        /// A link that the first store lacks, or has only at another position.
        case linkOnlyInSecond
    }

    /// The kind of this difference.
    public var kind: Kind
    /// The object, as `Entity/p<key>`.
    ///
    /// For a link, the source object. Empty for a difference of models.
    public var object: String
    /// The properties that differ.
    ///
    /// For a link, the relationship. For models, the entities.
    package var properties: [String]
    /// The target object of a link.
    package var target: String?

    /// One line, without stored values.
    public var description: String {
        switch kind {
        case .model: "models differ in \(properties.joined(separator: ", "))"
        case .onlyInFirst: "- \(object)"
        case .onlyInSecond: "+ \(object)"
        case .changed: "! \(object): \(properties.joined(separator: ", "))"
        case .linkOnlyInFirst: "- \(properties.joined()) from \(object) to \(target ?? "")"
        case .linkOnlyInSecond: "+ \(properties.joined()) from \(object) to \(target ?? "")"
        }
    }
}

/// A comparison of the contents of two stores of any types.
///
/// ```swift
/// let original = try StoreRegistry.standard.open(.sqlite("music.sqlite"))
/// let copy = try StoreRegistry.standard.open(.lmdb("music.lmdb"))
/// let differences = try StoreComparison.diff(original, copy)
/// print(differences.isEmpty ? "equal" : "different")
/// ```
public enum StoreComparison {
    /// Finds the first differences between two stores.
    ///
    /// Compares the objects of each root entity, then the links of each relationship, in key order.
    /// Reads each record at most once, and holds one batch of each store in memory. Ignores
    /// versions, generations, metadata and store types. Stores with incompatible models have one
    /// difference, of kind `model`.
    ///
    /// - Parameters:
    ///   - first: A store.
    ///   - second: The store to compare with `first`.
    ///   - limit: The number of differences, at least 1, at which the comparison ends.
    ///   - trustingDigests: Whether equal recorded digests count as equal content. If true, stores
    ///     with equal digests are not read, so damage and changes by other programs are not
    ///     detected.
    ///   - cancellation: An object that can cancel the comparison, which then throws `cancelled`.
    /// - Returns: The differences; empty if the contents are equal.
    /// - Throws: `corrupted`, naming the damaged record; `cancelled`; other read errors.
    public static func diff(
        _ first: any PersistentStore, _ second: any PersistentStore, limit: Int = 20, trustingDigests: Bool = false,
        cancellation: ConversionCancellation? = nil
    ) throws(StoreError) -> [StoreDifference] {
        let (left, right) = (try first.snapshot(), try second.snapshot())
        defer {
            left.close()
            right.close()
        }
        if let difference = modelDifference(left.model, right.model) { return [difference] }
        if trustingDigests, let a = try left.recordedTally(), let b = try right.recordedTally(),
            a.entities == b.entities,
            a.relationships == b.relationships
        {
            return []
        }
        var merge = ContentMerge(left, right: right, limit: max(1, limit), cancellation: cancellation)
        try merge.run()
        return merge.differences
    }

    private static func modelDifference(_ left: ManagedObjectModel, _ right: ManagedObjectModel) -> StoreDifference? {
        let names = Set(left.entities.map(\.name)).union(right.entities.map(\.name)).sorted()
        let different = names.filter { name in
            guard let a = left.entity(name), let b = right.entity(name) else { return true }
            return a.versionHash != b.versionHash || a.number != b.number || a.layout.fields != b.layout.fields
        }
        guard !different.isEmpty else { return nil }
        return StoreDifference(kind: .model, object: "", properties: different.map(\.text), target: nil)
    }
}
