#if Interactive
    import Foundation
    import RoostSystem
    import Testing

    /// `roost browse` as a process, asked over the network like a browser asks it.
    @Suite("roost browse", .serialized)
    struct BrowseCommandTests {
        /// One answer of the server.
        private struct Answer {
            var status: Int
            var headers: String
            var body: String
        }

        /// Sends bytes to a port of this machine, and returns everything that comes back.
        private func exchange(_ port: UInt16, _ text: String) throws -> Answer {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
            let connected = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(connected == 0)
            let bytes = Array(text.utf8)
            try #require(send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
            var answer: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65536)
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { answer += buffer[..<count] }
            let parts = String(decoding: answer, as: UTF8.self).split(
                separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            let status = parts.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return Answer(
                status: status, headers: String(parts.first ?? ""), body: parts.count > 1 ? String(parts[1]) : "")
        }

        private func get(_ port: UInt16, _ path: String, _ headers: String = "") throws -> Answer {
            try exchange(
                port, "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\(headers)\r\n")
        }

        /// Starts the command, and returns the port and the path of its address.
        private func start(
            _ place: Workplace, _ arguments: [String] = []
        ) throws -> (run: RunningCommand, port: UInt16, path: String) {
            let run = try place.start(["browse", "a", "--no-open"] + arguments)
            try run.waitForOutput(lines: 1)
            let text = try run.outputSoFar()
            let match = try #require(
                text.firstMatch(of: /^http:\/\/127\.0\.0\.1:(\d+)(\/\?token=[0-9a-f]{32})\n$/), "\(text)")
            return (run, try #require(UInt16(match.1)), String(match.2))
        }

        private func end(_ run: RunningCommand) throws -> CommandResult {
            kill(run.process.processIdentifier, SIGINT)
            return try run.wait()
        }

        @Test("roost browse serves a store to the holder of its token until Ctrl-C")
        func session() throws {
            let place = try Workplace()
            try place.makeStore("sqlite", "a")
            let (run, port, path) = try start(place)
            #expect(try get(port, "/a.json").status == 403)
            let first = try get(port, path)
            #expect(first.status == 200)
            let cookie = try #require(first.headers.firstMatch(of: /Set-Cookie: ([^;]+);/)).1
            #expect(try get(port, path).status == 403, "the token works once")
            let overview = try get(port, "/a.json", "Cookie: \(cookie)\r\n")
            #expect(overview.status == 200)
            let info = try place.roost("info", "a", "--json").json()
            let digest = try #require(info["digest"] as? String)
            #expect(overview.body.contains(digest))
            #expect(try get(port, "/a", "Cookie: \(cookie)\r\n").body.contains("<title>Roost</title>"))
            #expect(try get(port, "/-/page/page.js").headers.contains("text/javascript"))
            let result = try end(run)
            #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        }

        @Test("roost browse changes a store only with --write")
        func write() throws {
            let place = try Workplace()
            try place.makeStore("sqlite", "a")
            let body = #"{"values":{"name":"New"}}"#
            for (arguments, status) in [([String](), 403), (["--write"], 201)] {
                let (run, port, path) = try start(place, arguments)
                let cookie = try #require(try get(port, path).headers.firstMatch(of: /Set-Cookie: ([^;]+);/)).1
                let headers = [
                    "POST /a/Genre.json HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close", "Cookie: \(cookie)",
                    "Content-Type: application/json", "Content-Length: \(body.utf8.count)",
                ]
                let answer = try exchange(port, headers.joined(separator: "\r\n") + "\r\n\r\n" + body)
                #expect(answer.status == status, "\(answer.body)")
                #expect(try end(run).code == 0)
            }
            #expect(try place.roost("fetch", "a", "Genre", "--where=name == 'New'", "--count").output == "1\n")
            #expect(try place.roost("check", "a").code == 0)
        }

        @Test("roost browse answers again after requests that are not HTTP")
        func garbage() throws {
            let place = try Workplace()
            try place.makeStore("sqlite", "a")
            let (run, port, path) = try start(place)
            for text in [
                "\r\n\r\n", "GET\r\n\r\n",
                "GET /%ff.json HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n",
                "GET / HTTP/1.0\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                "GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\n\r\n",
            ] {
                let answer = try exchange(port, text + "GET / HTTP/1.0\r\n\r\n")
                #expect(answer.status == 0 || answer.status >= 400, "\(text.prefix(40)): \(answer.status)")
            }
            #expect(try get(port, path).status == 200)
            #expect(try end(run).code == 0)
        }

        @Test("roost browse refuses wrong ports, missing stores, ports in use and short tokens")
        func refusals() throws {
            let place = try Workplace()
            try place.makeStore("sqlite", "a")
            try place.roost("browse", "a", "--port=70000").expectError(2, containing: "65535")
            try place.roost("browse", "missing.sqlite", "--no-open").expectError(3, containing: "missing.sqlite")
            let (run, port, _) = try start(place)
            try place.roost("browse", "a", "--no-open", "--port=\(port)").expectError(3, containing: "port")
            #expect(try end(run).code == 0)
            try place.roost(
                "browse", "a", "--no-open", through: ["/usr/bin/env", "ROOST_BROWSE_TOKEN=short"]
            ).expectError(2, containing: "at least 16")
        }
    }
#endif
