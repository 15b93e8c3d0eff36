#if PostgreSQL
    internal import Foundation

    /// The text of a statement as the key of a dictionary, compared by bytes.
    ///
    /// Each commit looks up several texts, so only the beginning and the end of a long text are
    /// hashed. These parts contain the names of tables.
    struct PostgreSQLStatementText: Hashable {
        private static let partByteCount = 96

        let sql: String

        init(_ sql: String) { self.sql = sql }

        static func == (left: Self, right: Self) -> Bool {
            var (left, right) = (left.sql, right.sql)
            return left.withUTF8 { left in
                right.withUTF8 { right in
                    guard left.count == right.count, let one = left.baseAddress, let other = right.baseAddress else {
                        return left.isEmpty && right.isEmpty
                    }
                    // SAFETY: both have `left.count` bytes.
                    return one == other || memcmp(one, other, left.count) == 0
                }
            }
        }

        func hash(into hasher: inout Hasher) {
            var sql = sql
            sql.withUTF8 { bytes in
                let bytes = UnsafeRawBufferPointer(bytes)
                hasher.combine(bytes.count)
                let beginning = bytes.prefix(Self.partByteCount)
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: beginning))
                let end = bytes.dropFirst(beginning.count).suffix(Self.partByteCount)
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: end))
            }
        }
    }
#endif
