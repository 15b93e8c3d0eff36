#if PostgreSQL
    internal import RoostCore

    extension PostgreSQLResult {
        /// Reads a binary sum, and returns it modulo 2⁶⁴, or nil if it is null or missing.
        func sum(_ row: Int32, column: Int32) -> Int64? {
            guard row < rowCount, column < columnCount, !isNull(row, column: column) else { return nil }
            return PostgreSQLSum.wrapping(binary: bytes(row, column: column))
        }
    }

    /// Functions that read sums of 64-bit integers, which the server returns as NUMERIC.
    enum PostgreSQLSum {
        /// Reads a sum in binary format, and returns it modulo 2⁶⁴, or nil for invalid bytes.
        ///
        /// The format consists of parts of 2 bytes: the number of digits to base 10 000, the weight
        /// of the first digit, the sign, the number of decimal places, and the digits. Zero digits
        /// at the end are omitted.
        static func wrapping(binary bytes: UnsafeRawBufferPointer) -> Int64? {
            func part(_ index: Int) -> UInt16? {
                guard bytes.count >= index * 2 + 2 else { return nil }
                return UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
            }
            guard let digitCount = part(0), let first = part(1), let sign = part(2), part(3) == 0,
                sign == 0 || sign == 0x4000, bytes.count == 8 + Int(digitCount) * 2
            else { return nil }
            guard digitCount > 0 else { return 0 }
            let weight = Int(Int16(bitPattern: first))
            // The sum of at most 32 numbers, one for each writer place, has at most six digits to
            // base 10 000.
            guard (0..<8).contains(weight), digitCount <= weight + 1 else { return nil }
            var sum: Int64 = 0
            for index in 0...weight {
                let digit = index < digitCount ? part(4 + index) : 0
                guard let digit, digit < 10_000 else { return nil }
                sum = sum &* 10_000 &+ Int64(digit)
            }
            return sign == 0 ? sum : 0 &- sum
        }

        /// Reads a sum in decimal digits, and returns it modulo 2⁶⁴, or nil for other text.
        static func wrapping(text: String) -> Int64? {
            let isNegative = text.utf8.first == UInt8(ascii: "-")
            let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
            guard !digits.isEmpty else { return nil }
            var sum: Int64 = 0
            for digit in digits {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                sum = sum &* 10 &+ Int64(digit - UInt8(ascii: "0"))
            }
            return isNegative ? 0 &- sum : sum
        }
    }
#endif
