#if PostgreSQL
    internal import Dispatch
    internal import RoostCore
    internal import RoostSystem

    /// The signal of a store on a server, which all openings of the store in a process share:
    /// NOTIFY.
    ///
    /// It is sent after a commit, in a transaction of its own: transactions that notify wait for
    /// each other until they are durable, and commits must not. Where it does not come, watchers
    /// find a commit when they next look.
    final class PostgreSQLSignal: CommitSignal {
        private struct State {
            /// Whether a notification is on its way.
            var isSending = false
            /// Whether there were commits since it left.
            var isDue = false
        }

        let id: CommitSignalID
        private let location: PostgreSQLLocation
        private let settings: PostgreSQLSettings
        private let channel: String
        /// The session that sends.
        private let lock: PostgreSQLStoreLock
        /// Whether the profile has notifications; without, watchers look each second.
        private var notifies: Bool { settings.profile == .postgresql }
        private let state = Mutex(State())
        private let queue = DispatchQueue(label: "roost notifier")

        init(
            _ location: PostgreSQLLocation, settings: PostgreSQLSettings, uuid: StoreUUID,
            lock: PostgreSQLStoreLock
        ) {
            (self.location, self.settings, self.lock) = (location, settings, lock)
            let number = UInt64(bitPattern: PostgreSQLTextHash.value("\(location.name) \(uuid)"))
            id = CommitSignalID(device: .max, inode: number)
            // A name is bound to a database, and copies of a store have its UUID.
            channel =
                "roost_" + String(UInt64(bitPattern: PostgreSQLTextHash.value("\(location.schema) \(uuid)")), radix: 16)
        }

        /// Empty, because the signal is not a file.
        var path: String { "" }

        /// The least time between two notifications, which are a third of the work of a small
        /// commit.
        private static let pauseMicroseconds: UInt32 = 10_000

        /// Sends NOTIFY at once, or after a pause if the last one was sent just now.
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
                    _ = try connection.withPatience(settings.connectTimeout) { () throws(StoreError) in
                        try connection.query(sql)
                    }
                }
            }
            do throws(StoreError) { try notify() } catch {
                // Its session may have ended. Without a new one, watchers find the commit when they next look.
                guard (try? lock.renewIfLost()) != nil else { return }
                _ = try? notify()
            }
        }

        /// Waits a moment until the notification of the last commit was sent.
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
                        // Without a connection the watcher finds commits each second.
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

        /// Calls `body` for each notification until the connection is lost or `isWanted` returns
        /// false.
        private static func listen(
            _ location: PostgreSQLLocation, settings: PostgreSQLSettings, channel: String, isWanted: () -> Bool,
            _ body: () -> Void
        ) throws(StoreError) {
            let connection = try PostgreSQLConnection(location, settings: settings)
            defer { connection.close() }
            try connection.query("LISTEN \(channel)")
            // Commits between two connections.
            body()
            while isWanted() { if try connection.waitForNotification(milliseconds: 200) { body() } }
        }
    }

    /// An observation of a signal, which ends when it is released.
    final class PostgreSQLObservation: Sendable {}

    /// A number for a text.
    enum PostgreSQLTextHash {
        /// FNV-1a; see <http://www.isthe.com/chongo/tech/comp/fnv/>.
        static func value(_ text: String) -> Int64 {
            Int64(bitPattern: text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
        }
    }
#endif
