#if Interactive
    import Foundation
    import RoostSystem
    import Testing

    /// `roost browse` as a process, which gets requests like those of a browser.
    @Suite("roost browse", .serialized)
    struct BrowseCommandTests {
        private struct Answer {
            var status: Int
            var headers: String
            var body: String
        }

        private func exchange(_ text: String, at port: UInt16) throws -> Answer {
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

        private func get(_ path: String, headers: String = "", at port: UInt16) throws -> Answer {
            try exchange(
                "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\(headers)\r\n", at: port)
        }

        private func start(
            _ arguments: [String] = [], in place: Workplace
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
            try place.makeStore("sqlite", named: "a")
            let (run, port, path) = try start(in: place)
            #expect(try get("/a.json", at: port).status == 403)
            let first = try get(path, at: port)
            #expect(first.status == 200)
            let cookie = try #require(first.headers.firstMatch(of: /Set-Cookie: ([^;]+);/)).1
            #expect(try get(path, at: port).status == 403, "the token works once")
            let overview = try get("/a.json", headers: "Cookie: \(cookie)\r\n", at: port)
            #expect(overview.status == 200)
            let info = try place.roost("info", "a", "--json").json()
            let digest = try #require(info["digest"] as? String)
            #expect(overview.body.contains(digest))
            #expect(try get("/a", headers: "Cookie: \(cookie)\r\n", at: port).body.contains("<title>Roost</title>"))
            #expect(try get("/-/page/page.js", at: port).headers.contains("text/javascript"))
            let result = try end(run)
            #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        }

        @Test(
            "roost browse changes a store only with --write",
            arguments: [([], 403, 0), (["--write"], 201, 1)] as [([String], Int, Int)])
        func write(arguments: [String], status: Int, count: Int) throws {
            let place = try Workplace()
            try place.makeStore("sqlite", named: "a")
            let body = #"{"values":{"name":"New"}}"#
            let (run, port, path) = try start(arguments, in: place)
            let cookie = try #require(try get(path, at: port).headers.firstMatch(of: /Set-Cookie: ([^;]+);/)).1
            let headers = [
                "POST /a/Genre.json HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close", "Cookie: \(cookie)",
                "Content-Type: application/json", "Content-Length: \(body.utf8.count)",
            ]
            let answer = try exchange(headers.joined(separator: "\r\n") + "\r\n\r\n" + body, at: port)
            #expect(answer.status == status, "\(answer.body)")
            #expect(try end(run).code == 0)
            #expect(try place.roost("fetch", "a", "Genre", "--where=name == 'New'", "--count").output == "\(count)\n")
            #expect(try place.roost("check", "a").code == 0)
        }

        @Test("roost browse still answers after malformed or too long requests")
        func garbage() throws {
            let place = try Workplace()
            try place.makeStore("sqlite", named: "a")
            let (run, port, path) = try start(in: place)
            for text in [
                "\r\n\r\n", "GET\r\n\r\n",
                "GET /%ff.json HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n",
                "GET / HTTP/1.0\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                "GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\n\r\n",
            ] {
                let answer = try exchange(text + "GET / HTTP/1.0\r\n\r\n", at: port)
                #expect(answer.status == 0 || answer.status >= 400, "\(text.prefix(40)): \(answer.status)")
            }
            #expect(try get(path, at: port).status == 200)
            #expect(try end(run).code == 0)
        }

        @Test("roost browse refuses wrong ports, missing stores, ports in use and short tokens")
        func refusals() throws {
            let place = try Workplace()
            try place.makeStore("sqlite", named: "a")
            try place.roost("browse", "a", "--port=70000").expectError(2, containing: "65535")
            try place.roost("browse", "missing.sqlite", "--no-open").expectError(3, containing: "missing.sqlite")
            let (run, port, _) = try start(in: place)
            try place.roost("browse", "a", "--no-open", "--port=\(port)").expectError(3, containing: "port")
            #expect(try end(run).code == 0)
            try place.roost(
                "browse", "a", "--no-open", through: ["/usr/bin/env", "ROOST_BROWSE_TOKEN=short"]
            ).expectError(2, containing: "at least 16")
        }
    }
#endif
