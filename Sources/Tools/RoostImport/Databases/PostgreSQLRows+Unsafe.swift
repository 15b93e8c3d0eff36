internal import RoostCore

#if PostgreSQL
    internal import RoostPostgreSQL

    final class PostgreSQLRows: ForeignRows {
        private let rows: ForeignPostgreSQLRows
        private let kinds: [PostgreSQLKind]
        private var scratch: [UInt8] = []

        init(_ rows: ForeignPostgreSQLRows, kinds: [PostgreSQLKind]) { (self.rows, self.kinds) = (rows, kinds) }

        func step() throws(StoreError) -> Bool { try rows.step() }

        func cell(_ column: Int32) throws(StoreError) -> ForeignCell {
            let kind = kind(column)
            return try rows.withText(column) { (text) throws(StoreError) in
                text.map { Self.cell($0, kind: kind) } ?? .null
            }
        }

        func withBytes<Result>(
            _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
        ) throws(StoreError) -> Result {
            let kind = kind(column)
            return try rows.withText(column) { (text) throws(StoreError) in
                let text = text ?? UnsafeRawBufferPointer(start: nil, count: 0)
                guard kind == .bytes, Self.decode(text, into: &scratch) else { return try body(text) }
                let decoded = scratch
                return try decoded.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try body(bytes) }
            }
        }

        private func kind(_ column: Int32) -> PostgreSQLKind {
            let column = Int(column)
            return kinds.indices.contains(column) ? kinds[column] : .text
        }

        private static func cell(_ text: UnsafeRawBufferPointer, kind: PostgreSQLKind) -> ForeignCell {
            switch kind {
            case .text, .uuid: return .text
            case .bytes: return .blob
            case .boolean: return .integer(text.first == UInt8(ascii: "t") ? 1 : 0)
            case .integer: return integer(text).map { .integer($0) } ?? .text
            case .real: return Double(String(decoding: text, as: UTF8.self)).map { .real($0) } ?? .text
            case .float: return Float(String(decoding: text, as: UTF8.self)).map { .real(Double($0)) } ?? .text
            case .decimal: return DecimalNumber(utf8: text).map { .decimal($0) } ?? .text
            case .date: return PostgreSQLDate.read(text).map { .date($0.seconds, isExact: $0.isExact) } ?? .text
            }
        }

        private static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
            let isNegative = text.first == UInt8(ascii: "-")
            var value: Int64 = 0
            guard text.count > (isNegative ? 1 : 0) else { return nil }
            for byte in text.dropFirst(isNegative ? 1 : 0) {
                let digit = Int64(byte) - 48
                guard (0..<10).contains(digit) else { return nil }
                let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
                let (sum, isOverflow) = product.addingReportingOverflow(isNegative ? -digit : digit)
                guard !isTooLarge, !isOverflow else { return nil }
                value = sum
            }
            return value
        }

        /// Decodes hexadecimal text such as `\x00ff`, or returns false for other text.
        private static func decode(_ text: UnsafeRawBufferPointer, into bytes: inout [UInt8]) -> Bool {
            bytes.removeAll(keepingCapacity: true)
            guard text.count >= 2, text.count % 2 == 0, text[0] == UInt8(ascii: "\\"), text[1] == UInt8(ascii: "x")
            else { return false }
            bytes.reserveCapacity(text.count / 2 - 1)
            var place = 2
            while place < text.count {
                guard let high = digit(text[place]), let low = digit(text[place + 1]) else { return false }
                bytes.append(high << 4 | low)
                place += 2
            }
            return true
        }

        private static func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
            default: nil
            }
        }
    }
#endif
