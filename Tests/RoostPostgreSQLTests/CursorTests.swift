#if PostgreSQL
    import RoostCore
    import RoostSQL
    import Testing

    @testable import RoostPostgreSQL

    @Suite(
        "Cursors of a server", .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct CursorTests {
        /// Returns the number of rows in each answer to a cursor.
        private func parts(of sql: String) throws -> [Int] {
            let place = try PostgreSQLLocation("\(PostgreSQLServer.parameters ?? "") schema=any")
            let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            try connection.query("BEGIN")
            let cursor = PostgreSQLCursor(connection, sql: sql)
            var parts: [Int] = []
            while try cursor.step() {
                if cursor.row == 0 { parts.append(Int(cursor.result?.rowCount ?? 0)) }
            }
            return parts
        }

        @Test("a cursor holds few large rows at once, also at its beginning")
        func largeRows() throws {
            let parts = try parts(of: "SELECT repeat('x', 1 << 20) FROM generate_series(1, 20)")
            #expect(parts == [4] + Array(repeating: 1, count: 16))
        }

        @Test("a cursor fetches more and more small rows at once")
        func smallRows() throws {
            #expect(try parts(of: "SELECT generate_series(1, 1000)") == [4, 64, 128, 256, 512, 36])
        }
    }
#endif
