#if PostgreSQL
    import Foundation
    import RoostCore
    import Testing

    @testable import RoostPostgreSQL

    @Suite(
        "Cancelled statements on a server",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct CancellationTests {
        /// Expects that a long statement, cancelled at once, fails with `cancelled`.
        private func expectCancellation(on connection: PostgreSQLConnection) {
            #expect {
                try connection.ending(
                    when: { () throws(StoreError) in throw StoreError(.cancelled, "enough") },
                    { () throws(StoreError) in _ = try connection.query("SELECT pg_sleep(600)") })
            } throws: {
                ($0 as? StoreError)?.code == .cancelled
            }
        }

        @Test("a cancelled statement ends after the connection timeout if the server is silent")
        func silentServer() throws {
            let proxy = try Proxy(host: try #require(PostgreSQLServer.host))
            defer { proxy.stop() }
            let options = StoreOptions(typeOptions: ["connectTimeoutSeconds": "5"])
            let place = try PostgreSQLLocation("host=\(proxy.directory) dbname=roost user=roost schema=any")
            let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(options))
            defer { connection.close() }
            proxy.set(.silent)
            // The wait has its own limit, because the statement may never end.
            let isDone = DispatchSemaphore(value: 0)
            nonisolated(unsafe) let unsafe = connection
            Thread.detachNewThread {
                expectCancellation(on: unsafe)
                isDone.signal()
            }
            try #require(isDone.wait(timeout: .now() + 120) == .success)
            #expect(!connection.isSound)
        }

        @Test("a connection is usable after the server has ended a cancelled statement")
        func endedByServer() throws {
            let place = try PostgreSQLLocation("\(PostgreSQLServer.parameters ?? "") schema=any")
            let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            expectCancellation(on: connection)
            #expect(try connection.query("SELECT 7").text(0, column: 0) == "7")
        }
    }
#endif
