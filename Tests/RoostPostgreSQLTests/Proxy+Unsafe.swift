#if PostgreSQL
    import Foundation
    import RoostSystem

    /// A proxy between a store and the real server.
    ///
    /// It forwards messages until a test sets another mode. It listens on a Unix socket in its own
    /// directory.
    final class Proxy: @unchecked Sendable {
        // Proof of Sendable: `mode`, `later`, `sockets`, `cuts` and `messagesLeft` are used only
        // while `lock` is held; the rest never changes.

        enum Mode: Sendable {
            case passing
            /// Forwards one message with this text, and ends the connection instead of forwarding
            /// the answer.
            case swallowingAnswer(to: String)
            /// Like `swallowingAnswer`, but refuses all new connections from then on.
            case swallowingAnswerForGood(to: String)
            case refusing
            /// Ends the connection once, before a message with this text reaches the server.
            case swallowing(String)
            /// Replies with these bytes to any message, and then ends its connection.
            case answering([UInt8])
            /// Accepts connections, but forwards nothing.
            case silent
        }

        /// The directory of the socket, for the parameter `host`.
        let directory: String
        private let target: String
        private let lock = NSLock()
        private var mode = Mode.passing
        private var later: [Mode] = []
        private var sockets: [Int32] = []
        /// The range of the random number of messages between two cuts; nil for no cuts.
        private var cuts: ClosedRange<Int>?
        private var messagesLeft = 0
        private let listener: Int32

        /// Starts to listen.
        ///
        /// - Parameter host: The directory of the real server's socket.
        /// - Throws: An error of the system.
        init(host: String) throws {
            directory = "/tmp/roost-proxy-\(UInt32.random(in: .min ... .max))"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            target = "\(host)/.s.PGSQL.5432"
            listener = try Self.make("\(directory)/.s.PGSQL.5432") { listen($0, 16) == 0 && $1 }
            let socket = listener
            Thread.detachNewThread {
                while true {
                    let client = accept(socket, nil, nil)
                    guard client >= 0 else { return }
                    Thread.detachNewThread { self.serve(client) }
                }
            }
        }

        /// Sets the mode, and the modes that follow it.
        func set(_ mode: Mode, then later: Mode...) { lock.withLock { (self.mode, self.later) = (mode, later) } }

        private func advance() { lock.withLock { mode = later.isEmpty ? .passing : later.removeFirst() } }

        func stop() {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
            cut()
            try? FileManager.default.removeItem(atPath: directory)
        }

        func cut() { lock.withLock { for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) } } }

        /// Ends all connections repeatedly, each time after a random number of messages in `range`.
        ///
        /// A `range` of nil stops this.
        func cut(every range: ClosedRange<Int>?) {
            lock.withLock { (cuts, messagesLeft) = (range, range.map { Int.random(in: $0) } ?? 0) }
        }

        private func count() {
            lock.withLock {
                guard let cuts else { return }
                messagesLeft -= 1
                guard messagesLeft <= 0 else { return }
                messagesLeft = Int.random(in: cuts)
                for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
            }
        }

        private struct Failure: Error { let code: Int32 }

        /// Creates a socket, and binds or connects it.
        private static func make(_ path: String, isServer: Bool = true, _ done: (Int32, Bool) -> Bool) throws -> Int32 {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            guard descriptor >= 0 else { throw Failure(code: errno) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { bytes in
                for (index, byte) in path.utf8.prefix(bytes.count - 1).enumerated() { bytes[index] = byte }
            }
            let code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    isServer
                        ? bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                        : connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard done(descriptor, code == 0) else { throw Failure(code: errno) }
            return descriptor
        }

        private func serve(_ client: Int32) {
            var isRefusing = false
            if case .refusing = lock.withLock({ mode }) { isRefusing = true }
            guard !isRefusing, let server = try? Self.make(target, isServer: false, { $1 }) else {
                close(client)
                return
            }
            lock.withLock { sockets += [client, server] }
            defer {
                lock.withLock { sockets.removeAll { $0 == client || $0 == server } }
                close(client)
                close(server)
            }
            var swallows = false
            while true {
                var entries = [
                    pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: server, events: Int16(POLLIN), revents: 0),
                ]
                guard poll(&entries, 2, -1) > 0 else { return }
                count()
                if entries[0].revents != 0 {
                    guard let bytes = Self.read(client) else { return }
                    switch lock.withLock({ mode }) {
                    case .swallowing(let text) where bytes.contains(text):
                        advance()
                        return
                    case .swallowingAnswer(let text) where bytes.contains(text):
                        advance()
                        swallows = true
                    case .swallowingAnswerForGood(let text) where bytes.contains(text):
                        set(.refusing)
                        swallows = true
                    case .silent: continue
                    case .answering(let answer):
                        _ = Self.write(answer, to: client)
                        return
                    default: break
                    }
                    guard Self.write(bytes, to: server) else { return }
                }
                if entries[1].revents != 0 {
                    let bytes = Self.read(server)
                    if case .silent = lock.withLock({ mode }) {
                        // If the server ends an idle connection, the client must not notice the end.
                        _ = poll(&entries, 1, -1)
                        continue
                    }
                    guard let bytes, !swallows, Self.write(bytes, to: client) else { return }
                }
            }
        }

        private static func read(_ socket: Int32) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(socket, &bytes, bytes.count, 0)
            return count > 0 ? Array(bytes[..<count]) : nil
        }

        private static func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
            var start = 0
            while start < bytes.count {
                let count = bytes[start...].withUnsafeBytes {
                    send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                start += count
            }
            return true
        }
    }

    extension [UInt8] {
        fileprivate func contains(_ text: String) -> Bool { firstRange(of: Array(text.utf8)) != nil }
    }
#endif
