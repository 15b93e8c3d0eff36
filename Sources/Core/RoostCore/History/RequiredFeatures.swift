/// The names of the features that a program must support to open a store.
package struct RequiredFeatures: Sendable {
    private static let known: Set<String> = ["history"]

    private let names: [String]

    /// Reads a comma-separated list of names.
    package init(_ bytes: some Collection<UInt8>) {
        names = String(decoding: bytes, as: UTF8.self).split(separator: ",").map(String.init)
    }

    package func require(in store: String) throws(StoreError) {
        guard let unknown = names.first(where: { !Self.known.contains($0) }) else { return }
        throw StoreError(
            .unsupportedVersion,
            "'\(store)' requires the feature '\(unknown)', which this program does not know. Use a newer program.")
    }
}
