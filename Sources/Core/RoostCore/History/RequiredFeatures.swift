/// The names of the features that a program must know to open a store, as the store lists them.
package struct RequiredFeatures: Sendable {
    /// The features that this program knows.
    private static let known: Set<String> = ["history"]

    private let names: [String]

    /// Reads names that are separated by commas.
    package init(_ bytes: some Collection<UInt8>) {
        names = String(decoding: bytes, as: UTF8.self).split(separator: ",").map(String.init)
    }

    /// Throws code `unsupportedVersion`, naming the feature, if this program does not know one.
    package func require(in store: String) throws(StoreError) {
        guard let unknown = names.first(where: { !Self.known.contains($0) }) else { return }
        throw StoreError(
            .unsupportedVersion,
            "'\(store)' requires the feature '\(unknown)', which this program does not know. Use a newer program.")
    }
}
