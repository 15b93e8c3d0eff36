internal import Foundation
internal import RoostCore

extension FaultyStoreType.Fault {
    var altersValues: Bool {
        switch self {
        case .truncatesAtNUL, .normalizesText, .takesEmptyForNull, .roundsDates, .dropsSignOfZero, .foldsNaNs,
            .narrowsIntegers, .narrowsDecimals:
            true
        default: false
        }
    }

    /// Returns the records after the fault has altered their values.
    func altered(_ batch: RecordBatch) throws(StoreError) -> RecordBatch {
        var result = RecordBatch(model: batch.model)
        for index in 0..<batch.count {
            try result.append(
                batch.id(at: index), version: batch.version(at: index),
                values: batch.values(at: index).mapValues { altered($0) })
        }
        return result
    }

    private func altered(_ value: Value) -> Value {
        if case .composite(let elements) = value { return .composite(elements.mapValues { altered($0) }) }
        switch (self, value) {
        case (.truncatesAtNUL, .string(let text)):
            return .string(String(text.unicodeScalars.prefix { $0 != "\u{0}" }))
        case (.normalizesText, .string(let text)): return .string(text.precomposedStringWithCanonicalMapping)
        case (.takesEmptyForNull, .string(let text)): return text.isEmpty ? .null : value
        case (.roundsDates, .date(let date)):
            return .date(
                Date(
                    timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * 1000).rounded() / 1000))
        case (.dropsSignOfZero, .double(let number)): return number == 0 ? 0.0 : value
        case (.foldsNaNs, .double(let number)): return number.isNaN ? .double(.nan) : value
        case (.narrowsIntegers, .int(let number)):
            return .int(Int64(exactly: Double(number)) ?? (number > 0 ? .max : .min))
        case (.narrowsDecimals, .decimal(let number)):
            return number.isNaN ? value : .decimal(Decimal(NSDecimalNumber(decimal: number).doubleValue))
        default: return value
        }
    }
}
