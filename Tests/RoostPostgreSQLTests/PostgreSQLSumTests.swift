#if PostgreSQL
    import Testing

    @testable import RoostPostgreSQL

    @Suite("Sums of the server")
    struct PostgreSQLSumTests {
        private static func bytes(_ parts: [UInt16]) -> [UInt8] {
            parts.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        }

        private static func sum(_ parts: [UInt16]) -> Int64? {
            bytes(parts).withUnsafeBytes { PostgreSQLSum.wrapping(binary: $0) }
        }

        @Test(
            "a sum in binary format is read modulo 2⁶⁴",
            arguments: [
                ([0, 0, 0, 0], 0), ([1, 0, 0, 0, 7], 7), ([1, 0, 0x4000, 0, 7], -7),
                // Zeros at the end are omitted.
                ([1, 1, 0, 0, 5], 50_000), ([2, 1, 0, 0, 1, 9999], 19_999),
                // 2⁶³ and 2⁶⁴ + 3
                ([5, 4, 0, 0, 922, 3372, 368, 5477, 5808], Int64.min), ([5, 4, 0, 0, 1844, 6744, 737, 955, 1619], 3),
            ] as [([UInt16], Int64)])
        func readsBinary(parts: [UInt16], sum: Int64) {
            #expect(Self.sum(parts) == sum)
        }

        @Test(
            "a sum with invalid bytes is refused",
            arguments: [
                [], [0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0, 10_000], [1, 0, 0, 1, 5], [1, 0, 0xC000, 0, 5],
                [2, 0, 0, 0, 5, 5], [1, 0xFFFF, 0, 0, 5], [1, 9, 0, 0, 5], [0xFFFF, 0, 0, 0, 5],
            ] as [[UInt16]])
        func refusesBinary(parts: [UInt16]) {
            #expect(Self.sum(parts) == nil)
        }

        @Test(
            "a sum in text format is read modulo 2⁶⁴",
            arguments: [
                ("0", 0), ("-7", -7), ("9223372036854775808", Int64.min), ("18446744073709551619", 3),
                ("-18446744073709551619", -3), ("", nil), ("-", nil), ("1.5", nil), ("NaN", nil),
            ] as [(String, Int64?)])
        func readsText(text: String, sum: Int64?) {
            #expect(PostgreSQLSum.wrapping(text: text) == sum)
        }
    }
#endif
