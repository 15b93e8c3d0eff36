public import RoostCore

/// A difference between two stores.
///
/// ```swift
/// for difference in try StoreComparison.diff(monday, today) {
///     if difference.kind == .onlyInSecond { print("new: \(difference.object)") }
///     if difference.kind == .changed { print("changed: \(difference.object)") }
/// }
/// ```
public struct StoreDifference: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The kinds of difference.
    public enum Kind: String, Sendable, Codable {
        /// The models describe different data, so that records cannot be compared.
        case model
        /// An object that only the first store has.
        case onlyInFirst
        /// An object that only the second store has.
        case onlyInSecond
        /// An object that both have, with different properties or of different entities.
        case changed
        /// A link, at its place, that only the first store has.
        case linkOnlyInFirst
        /// A link, at its place, that only the second store has.
        case linkOnlyInSecond
    }

    /// The kind of this difference.
    public var kind: Kind
    /// The object, as `Entity/p<key>`; for a link, the one it starts from; empty for a difference
    /// of models.
    public var object: String
    /// The properties that differ; for a link, the relationship; for models, the entities.
    package var properties: [String]
    /// The object that a link refers to.
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

/// Compares two stores by content, whatever their types.
///
/// ```swift
/// let original = try StoreRegistry.standard.open(.sqlite("music.sqlite"))
/// let copy = try StoreRegistry.standard.open(.lmdb("music.lmdb"))
/// let differences = try StoreComparison.diff(original, copy)
/// print(differences.isEmpty ? "equal" : "different")
/// ```
public enum StoreComparison {
    /// Finds the first differences between two stores: in key order, objects by root entity, then
    /// links by relationship.
    ///
    /// Reads both stores side by side, each record once, with memory for two batches. Versions,
    /// generations, metadata and types do not count. Stores whose models are not compatible have
    /// one difference, of kind `model`.
    ///
    /// - Parameters:
    ///   - first: A store.
    ///   - second: The store it is compared with.
    ///   - limit: The maximum number of differences to find; the comparison ends there.
    ///   - trustingDigests: Whether equal recorded digests count as equal content. Then equal
    ///     stores are compared in O(1), but damage and changes by other programs are not detected.
    ///   - cancellation: What ends the comparison early, with code `cancelled`.
    /// - Returns: The differences; empty exactly when the contents are equal.
    /// - Throws: `corrupted`, naming the damaged record; `cancelled`; other errors of reading.
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

    /// Returns the entities in which two models describe different data, or nil.
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
