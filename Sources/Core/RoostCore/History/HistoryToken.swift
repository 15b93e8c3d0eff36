/// A position in the history of one store.
///
/// Save a token, so that a later run of the program can read the transactions after it:
///
/// ```swift
/// for transaction in try store.history(after: token) {
///     apply(transaction)
///     token = transaction.token
/// }
/// UserDefaults.standard.set(token.description, forKey: "token")
/// ```
///
/// A token belongs to the store that created it. Another store throws `invalidRequest` for the
/// token. If transactions after the token are missing, the store throws `historyExpired`.
public struct HistoryToken: Hashable, Sendable {
    package let storeUUID: StoreUUID
    /// The generation of the store after the transaction.
    package let position: UInt64
    /// A part of the transaction's checksum.
    ///
    /// If a store is restored to an older state and then changed differently, its new marks differ.
    package let mark: UInt32

    package init(storeUUID: StoreUUID, position: UInt64, mark: UInt32) {
        (self.storeUUID, self.position, self.mark) = (storeUUID, position, mark)
    }
}

extension HistoryToken: LosslessStringConvertible {
    /// The text form, which ``init(_:)`` reads.
    public var description: String { "\(storeUUID):\(position):\(mark)" }

    /// Reads the text form; returns nil for any other text.
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
