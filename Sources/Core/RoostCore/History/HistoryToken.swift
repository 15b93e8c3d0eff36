/// A position in the history of one store.
///
/// Store a token, and continue after it later, also after the program was started again:
///
/// ```swift
/// for transaction in try store.history(after: token) {
///     apply(transaction)
///     token = transaction.token
/// }
/// UserDefaults.standard.set(token.description, forKey: "token")
/// ```
///
/// A token belongs to the store that gave it. Other stores refuse it with code `invalidRequest`. A
/// store that no longer has everything after the token throws `historyExpired`.
public struct HistoryToken: Hashable, Sendable {
    /// The identity of the store.
    package let storeUUID: StoreUUID
    /// The generation of the store after the transaction.
    package let position: UInt64
    /// A part of the transaction's checksum, which differs where the store was put back to an older
    /// state and continued from there.
    package let mark: UInt32

    /// Creates a token.
    package init(storeUUID: StoreUUID, position: UInt64, mark: UInt32) {
        (self.storeUUID, self.position, self.mark) = (storeUUID, position, mark)
    }
}

extension HistoryToken: LosslessStringConvertible {
    /// The text form, which ``init(_:)`` reads.
    public var description: String { "\(storeUUID):\(position):\(mark)" }

    /// Reads the text form; nil for any other text.
    public init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let uuid = StoreUUID(String(parts[0])), let position = UInt64(parts[1]),
            let mark = UInt32(parts[2])
        else { return nil }
        self.init(storeUUID: uuid, position: position, mark: mark)
        guard self.description == description else { return nil }
    }
}

extension HistoryToken: Codable {
    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let token = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text is not a history token.")
        }
        self = token
    }
}
