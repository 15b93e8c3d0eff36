internal import RoostCore
internal import RoostJSONText
internal import RoostSystem
internal import RoostText

/// The history of a store as a member of its document.
///
/// The settings come first, then one line for each part of a transaction: the transaction's
/// position, the part's number and the part's bytes as base64.
struct DocumentHistory {
    private static let settingsKey = "settings"
    private static let transactionsKey = "transactions"

    private(set) var settings: [UInt8]?
    private(set) var parts: [(place: HistoryPlace, bytes: [UInt8])] = []

    /// Writes the value of the member and a comma.
    static func append(
        _ settings: [UInt8], history: any HistoryEntries, to output: DocumentOutput
    ) throws(StoreError) {
        output.text.append(contentsOf: "{\"\(settingsKey)\": ".utf8)
        output.text.append(contentsOf: settings)
        output.text.append(contentsOf: ", \"\(transactionsKey)\": [".utf8)
        var next = try history.historyPlace(from: HistoryPlace(0))
        var separator = "\n"
        while let place = next {
            guard let bytes = try history.historyBytes(at: place) else { break }
            output.text.append(contentsOf: "\(separator)[\(place.position), \(place.part), ".utf8)
            JSONText.append(Base64.text(of: bytes), to: &output.text)
            output.text.append(contentsOf: "]".utf8)
            try output.flushIfFull()
            separator = ",\n"
            next = try history.historyPlace(after: place)
        }
        output.text.append(contentsOf: (separator == "\n" ? "]},\n" : "\n]},\n").utf8)
    }

    init(_ text: inout JSONTokenReader) throws(StoreError) {
        try text.expect(.beginObject, "the history, an object,")
        while try text.nextKey() {
            switch text.text {
            case Self.settingsKey:
                settings = try text.captureValue(byteCountLimit: JSONTokenReader.maximumTokenByteCount)
            case Self.transactionsKey:
                try text.expect(.beginArray, "the transactions of the history, an array,")
                while try text.nextElement() {
                    guard text.token == .beginArray else { throw text.mismatch("a part of a transaction, an array,") }
                    parts.append(try Self.part(&text))
                }
            default:
                throw text.unknown("member", name: "'\(text.text)'", among: [Self.settingsKey, Self.transactionsKey])
            }
        }
        guard settings != nil else { throw text.error("the history has no 'settings'") }
    }

    private static func part(
        _ text: inout JSONTokenReader
    ) throws(StoreError) -> (place: HistoryPlace, bytes: [UInt8]) {
        try text.expect(.number, "the position of a transaction")
        guard let position = UInt64(text.text) else { throw text.error("the position is not a number of 64 bits") }
        try text.expect(.number, "the number of a part")
        guard let part = UInt32(text.text) else { throw text.error("the part is not a number of 32 bits") }
        try text.expect(.string, "bytes as base64")
        guard let bytes = Base64.bytes(text.text) else { throw text.error("the bytes of a transaction are not base64") }
        try text.expect(.endArray, "the end of a part")
        return (HistoryPlace(position, part: part), bytes)
    }
}
