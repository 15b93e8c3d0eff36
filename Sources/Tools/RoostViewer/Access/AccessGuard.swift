#if Interactive
    internal import RoostSystem

    /// A guard that decides which requests are answered.
    ///
    /// The start address contains a token that works once. The response to this address sets a
    /// cookie. All other requests need this cookie or the ``programToken``, except requests for
    /// files of the page.
    ///
    /// The cookie alone is not sufficient: a browser also sends it for pages on other ports of this
    /// machine. So the `Host` header, and any `Origin` header, must name this server.
    final class AccessGuard: Sendable {
        enum Verdict {
            case allowed
            /// The request has the start token, and its response sets the cookie.
            case starts(cookie: String)
            case refused(ViewerError)
        }

        private let startToken: Mutex<String?>
        private let session = AccessGuard.secret()
        private let programToken: String?
        let port: UInt16
        /// The path and the query that start the page.
        let startAddress: String

        init(port: UInt16, programToken: String?) {
            (self.port, self.programToken) = (port, programToken)
            let token = Self.secret()
            startToken = Mutex(token)
            startAddress = "/?token=\(token)"
        }

        /// Returns 128 bits of the system's random numbers, as text.
        private static func secret() -> String {
            var generator = SystemRandomNumberGenerator()
            return Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        }

        func verdict(_ request: HTTPRequest) -> Verdict {
            guard let host = request.headers["host"], isOwn(host) else {
                return .refused(
                    ViewerError(
                        .misdirected, code: "wrongHost", message: "This server answers at 127.0.0.1 and localhost only."
                    )
                )
            }
            guard comesFromThisPage(request, host: host) else {
                return .refused(
                    ViewerError(
                        .forbidden, code: "wrongOrigin", message: "Requests from other web pages are refused."))
            }
            if request.method == "GET", !request.isHead, request.segments.isEmpty, let token = request.value("token"),
                takes(token)
            {
                return .starts(cookie: "\(cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict")
            }
            if hasCookie(request) || hasProgramToken(request) { return .allowed }
            return .refused(
                ViewerError(
                    .forbidden, code: "noAccess",
                    message:
                        "Open the address that 'roost browse' printed. It works once; for another browser, start the command again."
                ))
        }

        /// Returns whether a host is this server.
        ///
        /// For `localhost` any port is accepted, because a tunnel may listen on another port.
        private func isOwn(_ host: String) -> Bool {
            if host == "127.0.0.1:\(port)" || host == "localhost" { return true }
            guard host.hasPrefix("localhost:") else { return false }
            let digits = host.dropFirst("localhost:".count)
            return !digits.isEmpty && digits.utf8.count <= 5 && digits.utf8.allSatisfy { (48...57).contains($0) }
        }

        /// Returns whether the request comes from this page or from the user.
        ///
        /// A user may follow a link from any page, because the linking page cannot read the
        /// response.
        private func comesFromThisPage(_ request: HTTPRequest, host: String) -> Bool {
            if let origin = request.headers["origin"], origin != "http://\(host)" { return false }
            switch request.headers["sec-fetch-site"] {
            case nil, "same-origin", "none": return true
            default: return request.method == "GET" && request.headers["sec-fetch-mode"] == "navigate"
            }
        }

        private func takes(_ token: String) -> Bool {
            startToken.withLock { expected in
                guard let known = expected, Self.isEqual(token, known) else { return false }
                expected = nil
                return true
            }
        }

        private var cookieName: String { "roost-\(port)" }

        private func hasCookie(_ request: HTTPRequest) -> Bool {
            (request.headers["cookie"] ?? "").split(separator: ";").contains { pair in
                let halves = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                return halves.count == 2 && halves[0] == cookieName && Self.isEqual(String(halves[1]), session)
            }
        }

        private func hasProgramToken(_ request: HTTPRequest) -> Bool {
            guard let programToken, let value = request.headers["authorization"], value.hasPrefix("Bearer ") else {
                return false
            }
            return Self.isEqual(String(value.dropFirst("Bearer ".count)), programToken)
        }

        /// Returns whether two texts are equal, in a time that depends only on their lengths.
        private static func isEqual(_ left: String, _ right: String) -> Bool {
            guard left.utf8.count == right.utf8.count else { return false }
            return zip(left.utf8, right.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
        }
    }
#endif
