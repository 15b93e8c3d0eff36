#if Interactive
    internal import CMicroHTTPD
    internal import Foundation
    internal import RoostCore
    internal import RoostSystem

    /// An HTTP server at 127.0.0.1, using libmicrohttpd, with one thread for each connection.
    ///
    /// - Requests with a body of more than ``bodyLimit`` bytes are refused.
    /// - ``stop()`` must be called before the server is deallocated.
    final class HTTPServer {
        static let bodyLimit = 16 << 20
        /// The number of seconds without data after which a connection is closed.
        private static let idleSeconds: UInt32 = 30
        private static let connectionLimit: UInt32 = 64
        /// The request headers that are read.
        private static let headerNames = [
            "host", "origin", "cookie", "authorization", "content-type", "prefer", "sec-fetch-site", "sec-fetch-mode",
        ]

        /// The object that the library passes to its callbacks.
        private final class Context: Sendable {
            let answer: @Sendable (HTTPRequest) -> HTTPResponse

            init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.answer = answer }
        }

        /// A request that is being received, which only the thread of its connection accesses.
        private final class Arrival {
            let address: String?
            var hasBegun = false
            var body: [UInt8] = []
            var isTooLarge = false

            init(_ address: String?) { self.address = address }
        }

        private let daemon: OpaquePointer
        private let context: Unmanaged<Context>
        let port: UInt16

        /// Starts a server at a port, or at any free port for 0.
        ///
        /// Several threads can call `answer` at once.
        ///
        /// - Throws: `busy` if the port is in use; `permissionDenied` or `ioFailure` if the system
        ///   refuses the port.
        init(port: UInt16, answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) throws(StoreError) {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
            let context = Unmanaged.passRetained(Context(answer))
            errno = 0
            // SAFETY: the call copies the address. `context` is retained until `stop`, which
            // releases it only after the library's last callback.
            let daemon = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    roost_http_start(
                        address, context.toOpaque(), { _, text, _ in HTTPServer.arrived(text) },
                        { context, connection, _, method, _, bytes, count, state in
                            HTTPServer.handle(
                                context, connection: connection, method: method, bytes: bytes, count: count,
                                state: state)
                        },
                        { _, _, state, _ in HTTPServer.completed(state) },
                        { _, _, text in text.map { strlen($0) } ?? 0 },
                        Self.idleSeconds, Self.connectionLimit)
                }
            }
            guard let daemon else {
                context.release()
                throw Self.refusal(errno, port: port)
            }
            self.port = roost_http_port(daemon)
            guard self.port != 0 else {
                MHD_stop_daemon(daemon)
                context.release()
                throw StoreError(.ioFailure, "The system does not report the port of the server. Choose a port.")
            }
            (self.daemon, self.context) = (daemon, context)
        }

        private static func refusal(_ code: Int32, port: UInt16) -> StoreError {
            let reason = code == 0 ? "no reason was given" : String(cString: strerror(code))
            let place = port == 0 ? "127.0.0.1" : "127.0.0.1, port \(port)"
            let storeCode: StoreError.Code =
                switch code {
                case EADDRINUSE: .busy
                case EACCES: .permissionDenied
                default: .ioFailure
                }
            return StoreError(
                storeCode,
                "A server could not be started at \(place): \(reason). Choose another port, or leave it out for a free one."
            )
        }

        /// Stops the server after the current requests are answered.
        func stop() {
            MHD_stop_daemon(daemon)
            context.release()
        }

        // MARK: Calls of the library

        private static func arrived(_ text: UnsafePointer<CChar>?) -> UnsafeMutableRawPointer? {
            let arrival = Arrival(text.flatMap { String(validatingCString: $0) })
            // Released by `completed`.
            return Unmanaged.passRetained(arrival).toOpaque()
        }

        private static func completed(_ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) {
            guard let pointer = state?.pointee else { return }
            // SAFETY: this releases the object retained by `arrived`. The library calls
            // `completed` once for each request.
            Unmanaged<Arrival>.fromOpaque(pointer).release()
            state?.pointee = nil
        }

        // The library determines the types of these parameters.
        // swift-format-ignore
        private static func handle(
        _ context: UnsafeMutableRawPointer?, connection: OpaquePointer?, method: UnsafePointer<CChar>?,
        bytes: UnsafePointer<CChar>?, count: UnsafeMutablePointer<Int>?,
        state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result {
        guard let context, let connection, let method, let count, let pointer = state?.pointee else { return .NO }
        // SAFETY: `init` retains the object of `context` until `stop`, and `arrived` retains the object of `pointer`
        // until `completed`.
        let server = Unmanaged<Context>.fromOpaque(context).takeUnretainedValue()
        let arrival = Unmanaged<Arrival>.fromOpaque(pointer).takeUnretainedValue()
        guard arrival.hasBegun else {
            // The first call for a request has only the headers.
            arrival.hasBegun = true
            return .YES
        }
        if count.pointee > 0 {
            arrival.isTooLarge = arrival.isTooLarge || arrival.body.count + count.pointee > bodyLimit
            if let bytes, !arrival.isTooLarge {
                // SAFETY: the library provides `count` bytes during the call.
                arrival.body += UnsafeRawBufferPointer(start: bytes, count: count.pointee)
            }
            count.pointee = 0
            return .YES
        }
        return send(response(arrival, method: String(cString: method), connection: connection, server: server), to: connection)
    }

        private static func response(
            _ arrival: Arrival, method: String, connection: OpaquePointer, server: Context
        ) -> HTTPResponse {
            guard !arrival.isTooLarge else { return HTTPResponse(.tooLarge, text: "The request is too large.") }
            var headers: [String: String] = [:]
            for name in headerNames {
                guard let value = MHD_lookup_connection_value(connection, .HEADER_KIND, name) else { continue }
                headers[name] = String(cString: value)
            }
            // The library omits the body of a response to HEAD.
            let isHead = method == "HEAD"
            guard let address = arrival.address,
                var request = HTTPRequest(isHead ? "GET" : method, address: address, headers: headers)
            else {
                return HTTPResponse(.badRequest, text: "The address is not percent-encoded UTF-8.")
            }
            (request.body, request.isHead) = (arrival.body, isHead)
            let socket = roost_http_socket(connection)
            if socket >= 0 {
                request.isAbandoned = { Self.isClosed(socket) }
            }
            return server.answer(request)
        }

        /// Returns whether the connection has failed, or the client has closed its side.
        private static func isClosed(_ socket: Int32) -> Bool {
            var byte: UInt8 = 0
            let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            return count == 0 || count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR
        }

        private static func send(_ answer: HTTPResponse, to connection: OpaquePointer) -> MHD_Result {
            let response = answer.body.withUnsafeBytes { bytes in
                // SAFETY: the library copies the bytes and does not change them.
                MHD_create_response_from_buffer(
                    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
            }
            guard let response else { return .NO }
            defer { MHD_destroy_response(response) }
            for (name, value) in answer.headers where MHD_add_response_header(response, name, value) != MHD_Result.YES {
                return .NO
            }
            return MHD_queue_response(connection, answer.status.code, response)
        }
    }
#endif
