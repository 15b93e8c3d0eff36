#if PostgreSQL
    internal import Dispatch
    internal import RoostCore
    internal import RoostSystem

    /// The NOTIFY signal of an open store on a server.
    ///
    /// All open instances of a store have the same ``id`` if their locations have equal names and
    /// ports.
    ///
    /// The signal is sent after a commit, in a separate transaction, because transactions that
    /// notify wait for each other until they are durable. If a notification is lost, watchers find
    /// the commit with their next check.
    final class PostgreSQLSignal: CommitSignal {
        private struct State {
            var isSending = false
            /// Whether a commit followed the start of the last notification.
            var isDue = false
        }

        let id: CommitSignalID
        private let location: PostgreSQLLocation
        private let settings: PostgreSQLSettings
        private let channel: String
        /// The lock of the store, whose session sends the notifications.
        private let lock: PostgreSQLStoreLock
        /// Whether the profile has notifications; if not, watchers rely on a check every second.
        private var notifies: Bool { settings.profile == .postgresql }
        private let state = Mutex(State())
        private let queue = DispatchQueue(label: "roost notifier")

        init(
            _ location: PostgreSQLLocation, settings: PostgreSQLSettings, uuid: StoreUUID,
            lock: PostgreSQLStoreLock
        ) {
            (self.location, self.settings, self.lock) = (location, settings, lock)
            // A copy of a store on another server of the same host differs only in the port.
            let port = location.parameters.first { $0.key == "port" }?.value ?? ""
            let number = UInt64(bitPattern: PostgreSQLTextHash.value("\(location.name) \(port) \(uuid)"))
            id = CommitSignalID(device: .max, inode: number)
            // Copies of a store share its UUID, and another store can have its schema name.
            channel =
                "roost_" + String(UInt64(bitPattern: PostgreSQLTextHash.value("\(location.schema) \(uuid)")), radix: 16)
        }

        /// Empty, because the signal is not a file.
        var path: String { "" }

        /// The minimum time between two notifications.
        ///
        /// Each takes a third of the time of a small commit.
        private static let pauseMicroseconds: UInt32 = 10_000

        /// Sends NOTIFY at once, or after a pause if another NOTIFY was just sent.
        func raise() {
            guard notifies else { return }
            let isFirst = state.withLock { state in
                defer { (state.isDue, state.isSending) = (state.isSending, true) }
                return !state.isSending
            }
            guard isFirst else { return }
            queue.async { [self] in
                repeat {
                    send()
                    usleep(Self.pauseMicroseconds)
                } while state.withLock { state in
                    defer { (state.isSending, state.isDue) = (state.isDue, false) }
                    return state.isDue
                }
            }
        }

        private func send() {
            let sql = "BEGIN; SET LOCAL synchronous_commit = off; NOTIFY \(channel); COMMIT"
            func notify() throws(StoreError) {
                try lock.withConnection { (connection) throws(StoreError) in
                    _ = try connection.withTimeout(settings.connectTimeout) { () throws(StoreError) in
                        try connection.query(sql)
                    }
                }
            }
            do throws(StoreError) { try notify() } catch {
                // The session may have ended. If it cannot be renewed, watchers find the commit
                // later.
                guard (try? lock.renewIfLost()) != nil else { return }
                _ = try? notify()
            }
        }

        /// Waits up to a second until the notification of the last commit is sent.
        func finish() {
            guard state.withLock({ $0.isSending }) else { return }
            let isSent = DispatchSemaphore(value: 0)
            queue.async { isSent.signal() }
            _ = isSent.wait(timeout: .now() + .seconds(1))
        }

        func observe(_ body: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? {
            guard notifies else { return nil }
            let observation = PostgreSQLObservation()
            let (location, settings, channel) = (location, settings, channel)
            do throws(SystemFailure) {
                try SystemThread.start("roost listener", stackByteCount: 1 << 20) { [weak observation] in
                    while observation != nil {
                        // Without a connection, the watcher still checks for commits every second.
                        _ = try? Self.listen(
                            location, settings: settings, channel: channel, isWanted: { observation != nil }, body)
                        usleep(500_000)
                    }
                }
            } catch {
                return nil
            }
            return observation
        }

        /// Calls `body` at the start and after notifications, until the connection is lost or
        /// `isWanted` returns false.
        private static func listen(
            _ location: PostgreSQLLocation, settings: PostgreSQLSettings, channel: String, isWanted: () -> Bool,
            _ body: () -> Void
        ) throws(StoreError) {
            let connection = try PostgreSQLConnection(location, settings: settings)
            defer { connection.close() }
            try connection.query("LISTEN \(channel)")
            // Commits may have taken place while no connection was listening.
            body()
            while isWanted() { if try connection.waitForNotification(milliseconds: 200) { body() } }
        }
    }

    /// An observation of a signal, which ends when this object is deallocated.
    final class PostgreSQLObservation: Sendable {}

    enum PostgreSQLTextHash {
        /// FNV-1a; see <http://www.isthe.com/chongo/tech/comp/fnv/>.
        static func value(_ text: String) -> Int64 {
            Int64(bitPattern: text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
        }
    }
#endif
