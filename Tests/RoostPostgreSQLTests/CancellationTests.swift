#if PostgreSQL
    import Foundation
    import RoostCore
    import RoostSQL
    import Testing

    @testable import RoostPostgreSQL

    @Suite(
        "Cancelled statements on a server",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct CancellationTests {
        /// Expects that a long statement, cancelled at once, fails with `cancelled`.
        private func expectCancellation(on connection: PostgreSQLConnection) {
            expectCancellation(on: connection) { () throws(StoreError) in
                _ = try connection.query("SELECT pg_sleep(600)")
            }
        }

        /// Expects that the statements of `body`, cancelled at once, fail with `cancelled`.
        private func expectCancellation(
            on connection: PostgreSQLConnection, _ body: () throws(StoreError) -> Void
        ) {
            #expect(codeAfterCancelling(body, on: connection) == .cancelled)
        }

        /// Cancels the statements of `body` at once, and returns the code of its error, if any.
        private func codeAfterCancelling(
            _ body: () throws(StoreError) -> Void, on connection: PostgreSQLConnection
        ) -> StoreError.Code? {
            do throws(StoreError) {
                try connection.ending(
                    when: { () throws(StoreError) in throw StoreError(.cancelled, "enough") }, body)
                return nil
            } catch {
                return error.code
            }
        }

        /// Cancels a task as soon as a transaction waits for a lock of a table.
        private func cancel(
            _ task: Task<StoreError.Code?, Never>, whenWaitingFor table: String, of meeting: Meeting
        ) throws {
            nonisolated(unsafe) let observer = try meeting.session(running: "COMMIT")
            let isWaiting =
                "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = '\(table)'::regclass AND NOT granted)"
            let deadline = ContinuousClock.now + .seconds(60)
            Thread.detachNewThread {
                while ContinuousClock.now < deadline,
                    (try? observer.query(isWaiting).text(0, column: 0)) == "f"
                {}
                observer.close()
                task.cancel()
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

        @Test("a cancelled statement of a snapshot ends neither the snapshot's transaction nor other cursors")
        func keepsView() throws {
            let place = try PostgreSQLLocation("\(PostgreSQLServer.parameters ?? "") schema=any")
            let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            try connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            connection.view = PostgreSQLView(hasSavepoint: false)
            let cursor = PostgreSQLCursor(connection, sql: "SELECT generate_series(1, 1000)")
            #expect(try cursor.step())
            var count = 1
            for isCursor in [true, false, true] {
                let slow =
                    isCursor
                    ? try connection.rows("SELECT pg_sleep(600)") : try connection.statement("SELECT pg_sleep(600)")
                expectCancellation(on: connection) { () throws(StoreError) in _ = try slow.step() }
                slow.reset()
                #expect(connection.isInTransaction)
                for _ in 0..<100 { if try cursor.step() { count += 1 } }
            }
            while try cursor.step() { count += 1 }
            #expect(count == 1000)
        }

        @Test("cancelling while rows that were requested ahead arrive does not close other cursors")
        func keepsCursorsBesideRowsAhead() throws {
            let place = try PostgreSQLLocation("\(PostgreSQLServer.parameters ?? "") schema=any")
            let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            try connection.query(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(PostgreSQLView.setSavepoint)")
            connection.view = PostgreSQLView(hasSavepoint: true)
            let other = PostgreSQLCursor(connection, sql: "SELECT generate_series(1, 1000)")
            #expect(try other.step())
            // The first four parts have 452 rows. Row 453 comes slowly, and the connection requests
            // it ahead if the fourth part came quickly. Without checks, the savepoint stays.
            let slow = PostgreSQLCursor(
                connection,
                sql:
                    "SELECT CASE WHEN n = 453 THEN (SELECT count(*) FROM pg_sleep(0.3)) END FROM generate_series(1, 453) AS n"
            )
            for _ in 0..<452 { #expect(try slow.step()) }
            let code = codeAfterCancelling({ () throws(StoreError) in _ = try slow.step() }, on: connection)
            #expect(code == nil || code == .cancelled)
            slow.reset()
            var count = 1
            while try other.step() { count += 1 }
            #expect(count == 1000)
        }

        @Test(
            "a fetch that is cancelled while it waits leaves its snapshot and the other fetches usable",
            arguments: PostgreSQLProfile.allCases)
        func keepsSnapshot(profile: PostgreSQLProfile) async throws {
            let count = 10_000
            let meeting = try Meeting(nodeCount: Int64(count), profile: profile)
            defer { meeting.destroy() }
            let snapshot = try meeting.store.snapshot()
            defer { snapshot.close() }
            let tally = try snapshot.recordedTally()
            let other = try snapshot.fetch(FetchRequest("Node"))
            var batch = RecordBatch(model: meeting.model)
            #expect(try other.next(into: &batch) && batch.count < count)
            var found = batch.count
            var changes = ChangeSet(model: meeting.model)
            try changes.insert(ObjectID("Node", key: 20_000), values: ["value": 1])
            _ = try meeting.store.commit(changes)

            let blocker = try meeting.session(running: "LOCK TABLE \"Node_fans\" IN ACCESS EXCLUSIVE MODE")
            defer { blocker.close() }
            let blocked = FetchRequest(
                "Node",
                where: .comparison(
                    FetchRequest.Comparison(
                        left: .keyPath(["friends", "value"]), operator: .equal, right: .constant(.int(1)),
                        modifier: .any)))
            nonisolated(unsafe) let shared = snapshot
            let task = Task { () -> StoreError.Code? in
                do throws(StoreError) {
                    let cursor = try shared.fetch(blocked)
                    var batch = RecordBatch(model: shared.model)
                    while try cursor.next(into: &batch) {}
                    return nil
                } catch {
                    return error.code
                }
            }
            try cancel(task, whenWaitingFor: "\"Node_fans\"", of: meeting)
            #expect(await task.value == .cancelled)
            blocker.close()

            while try other.next(into: &batch) { found += batch.count }
            #expect(found == count)
            #expect(try snapshot.count(FetchRequest("Node")) == count)
            #expect(try snapshot.fetch(blocked).next(into: &batch) == false)
            #expect(try snapshot.recordedTally() == tally)
        }
    }
#endif
