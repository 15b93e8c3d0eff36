internal import RoostCore

/// The history options, which configurations list among the options of a store.
enum HistoryOptions {
    private static let tracks = "tracksHistory"
    private static let days = "historyDays"
    private static let bytes = "historyBytes"

    static let descriptions = [
        StoreOptionDescription(
            tracks, values: .words(["true", "false"]), standard: "the setting of the store",
            summary: "Whether the store records its changes."),
        StoreOptionDescription(
            days, values: .number(0.001...999_999), standard: "any",
            summary: "The days of history that the store keeps."),
        StoreOptionDescription(
            bytes, values: .integer(1...Int.max), standard: "any",
            summary: "The bytes of history that the store keeps."),
    ]

    /// Returns a store's options, with the history options separated from the type's options.
    static func options(_ texts: [String: String]) -> StoreOptions {
        var typeOptions = texts
        for description in descriptions { typeOptions[description.name] = nil }
        var options = StoreOptions(typeOptions: typeOptions)
        options.tracksHistory = texts[tracks].map { $0 == "true" }
        let (days, bytes) = (texts[days].flatMap { Double($0) }, texts[bytes].flatMap { Int($0) })
        if days != nil || bytes != nil { options.historyRetention = HistoryRetention(days: days, byteCount: bytes) }
        return options
    }
}
