package import Foundation
internal import RoostSystem

/// The settings of a history, which a store saves with the transactions.
package struct HistorySettings: Hashable, Sendable {
    /// The generation after which all changes are recorded.
    package var start: UInt64
    /// The mark of the transaction at ``start``, or a random number if the history begins there.
    package var startMark: UInt32
    /// The number of bytes of all transactions up to ``start``.
    package var startByteCount: UInt64
    /// The time of the first transaction after ``start``; nil if no transaction follows.
    package var firstTime: Int64?
    /// The time of the last transaction up to ``start``.
    package var startTime: Int64
    package var retention: HistoryRetention

    package init(after generation: Generation, time: Int64 = .min, retention: HistoryRetention = HistoryRetention()) {
        start = generation.number
        startMark = .random(in: .min ... .max)
        startByteCount = 0
        startTime = time
        self.retention = retention
    }

    /// The settings as JSON text.
    package var bytes: [UInt8] {
        get throws(StoreError) {
            var members: [String: MetadataValue] = [
                "start": .int(Int64(bitPattern: start)), "startMark": .int(Int64(startMark)),
                "startByteCount": .int(Int64(bitPattern: startByteCount)), "startTime": .int(startTime),
            ]
            if let firstTime { members["firstTime"] = .int(firstTime) }
            if let days = retention.days { members["days"] = .double(days) }
            if let count = retention.byteCount { members["byteCount"] = .int(Int64(count)) }
            return try MetadataDocument.encode(members)
        }
    }

    /// A cache of the last decoded settings, because most commits decode the same bytes.
    private static let last = Mutex<(bytes: [UInt8], settings: HistorySettings)?>(nil)

    package init(_ bytes: [UInt8]) throws(StoreError) {
        if let last = Self.last.withLock({ $0 }), last.bytes == bytes {
            self = last.settings
            return
        }
        try self.init(decoding: bytes)
        let settings = self
        Self.last.withLock { $0 = (bytes, settings) }
    }

    private init(decoding bytes: [UInt8]) throws(StoreError) {
        let members: [String: MetadataValue]
        do throws(StoreError) { members = try MetadataDocument.decode(bytes) } catch {
            throw HistoryBytesReader.damaged("its settings are not readable")
        }
        func number(_ name: String) throws(StoreError) -> Int64 {
            guard case .int(let number)? = members[name] else {
                throw HistoryBytesReader.damaged("its setting '\(name)' is missing")
            }
            return number
        }
        start = UInt64(bitPattern: try number("start"))
        guard let mark = UInt32(exactly: try number("startMark")) else {
            throw HistoryBytesReader.damaged("its setting 'startMark' is not a mark")
        }
        startMark = mark
        startByteCount = UInt64(bitPattern: try number("startByteCount"))
        startTime = try number("startTime")
        firstTime = members["firstTime"] == nil ? nil : try number("firstTime")
        retention = HistoryRetention()
        if case .double(let days)? = members["days"] { retention.days = days }
        if case .int(let count)? = members["byteCount"] { retention.byteCount = Int(count) }
    }
}

extension HistoryRetention {
    package func requireValid() throws(StoreError) {
        guard days.map({ $0 > 0 && $0 < 1e6 }) ?? true, byteCount.map({ $0 > 0 }) ?? true else {
            throw StoreError(
                .invalidRequest, "The limits of a history must be above 0, and days below a million.")
        }
    }
}

/// The clock of histories, in microseconds since 2001-01-01.
package enum HistoryClock {
    package static func now() -> Int64 { microseconds(Date()) }

    package static func microseconds(_ date: Date) -> Int64 {
        let value = (date.timeIntervalSinceReferenceDate * 1e6).rounded()
        return Int64(exactly: value) ?? (value < 0 ? .min : .max)
    }

    static func date(_ microseconds: Int64) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(microseconds) / 1e6)
    }
}

extension StoreOptions {
    /// Throws `unsupported` if the options request a history that the type cannot record.
    package func requireHistory(of type: any PersistentStoreType) throws(StoreError) {
        guard tracksHistory == true || historyRetention != nil, !type.capabilities.contains(.history) else { return }
        throw StoreError(.unsupported, "Stores of type '\(type.name)' cannot record a history.")
    }

    /// Returns whether opening the store with these options changes its history.
    ///
    /// - Throws: `readOnly` if the history would change in a store that is opened read-only;
    ///   `invalidRequest`; `corrupted`.
    package func changesHistory(_ settings: [UInt8]?, of location: StoreLocation) throws(StoreError) -> Bool {
        try historyRetention?.requireValid()
        let retention = try settings.map { (bytes) throws(StoreError) in try HistorySettings(bytes).retention }
        guard (tracksHistory ?? (settings != nil)) || historyRetention == nil else {
            throw StoreError(
                .invalidRequest,
                "Cannot limit the history of '\(location)': its history is turned off. Set tracksHistory to true too.")
        }
        let isRecorded = tracksHistory ?? (settings != nil)
        guard isRecorded != (settings != nil) || isRecorded && historyRetention ?? retention != retention else {
            return false
        }
        guard !isReadOnly else {
            throw StoreError(
                .readOnly,
                "The store '\(location)' is opened read-only, so its history cannot be turned on, turned off or limited. Open it for writing once."
            )
        }
        return true
    }
}
