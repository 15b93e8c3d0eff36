#if Interactive
    import RoostCore
    import RoostJSONText
    import Testing

    @testable import RoostViewer

    @Suite struct AccessTests {
        private func status(
            _ address: String, _ headers: [String: String], method: String = "GET"
        ) throws -> UInt32 {
            let library = try ViewedLibrary()
            var all = ["host": "127.0.0.1:8080"]
            all.merge(headers) { $1 }
            let request = try #require(HTTPRequest(method, address: address, headers: all.filter { !$0.value.isEmpty }))
            return library.server.answer(request).status.code
        }

        @Test("the token of the start address gives a cookie once, and the cookie opens everything")
        func start() throws {
            let library = try ViewedLibrary()
            let request = try #require(
                HTTPRequest("GET", address: library.access.startAddress, headers: ["host": "127.0.0.1:8080"]))
            let first = library.server.answer(request)
            #expect(first.status == .ok)
            let cookie = try #require(first.headers.first { $0.name == "Set-Cookie" }).value
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
            #expect(!first.text.contains("token"))
            #expect(library.server.answer(request).status == .forbidden, "the token works once")
            let pair = String(cookie.prefix { $0 != ";" })
            let view = try #require(
                HTTPRequest(
                    "GET", address: "/library.json", headers: ["host": "127.0.0.1:8080", "cookie": "a=b; \(pair)"]))
            #expect(library.server.answer(view).status == .ok)
        }

        @Test(
            "without the cookie nothing of a store is answered",
            arguments: ["/", "/library", "/library.json", "/-/session.json", "/library/Album/1/cover.bin", "/?token=0"])
        func noCookie(address: String) throws {
            #expect(try status(address, [:]) == 403)
            #expect(try status(address, ["cookie": "roost-8080=00000000000000000000000000000000"]) == 403)
            #expect(try status(address, ["authorization": "Bearer wrong-token-wrong-t"]) == 403)
        }

        @Test(
            "another host is refused, and localhost at any port is not",
            arguments: [
                ("127.0.0.1:8080", true), ("localhost:8080", true), ("localhost:9999", true), ("localhost", true),
                ("127.0.0.1:8081", false), ("evil.example", false), ("127.0.0.1.evil.example:8080", false),
                ("localhost.evil.example", false), ("localhost:8080.evil.example", false), ("localhost:", false),
                ("localhostx8080", false),
                ("", false),
            ])
        func host(name: String, isAllowed: Bool) throws {
            let answer = try status(
                "/library.json", ["host": name, "authorization": "Bearer \(ViewedLibrary.token)"])
            #expect(answer == (isAllowed ? 200 : 421))
        }

        @Test("a request from another page is refused, also from one on another port of this machine")
        func origin() throws {
            let bearer = ["authorization": "Bearer \(ViewedLibrary.token)"]
            func with(_ more: [String: String]) -> [String: String] { bearer.merging(more) { $1 } }
            #expect(try status("/library.json", with(["origin": "http://127.0.0.1:8080"])) == 200)
            #expect(try status("/library.json", with(["origin": "http://127.0.0.1:3000"])) == 403)
            #expect(try status("/library.json", with(["origin": "null"])) == 403)
            #expect(try status("/library.json", with(["sec-fetch-site": "same-site"])) == 403)
            #expect(
                try status("/library.json", with(["sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"])) == 403)
            #expect(
                try status("/library", with(["sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"])) == 200)
            let post = with(["sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"])
            #expect(try status("/library/-/undo.json", post, method: "POST") == 403)
        }

        @Test(
            "every answer has the headers that protect the page",
            arguments: ["/library.json", "/library", "/-/page/page.js", "/nothing.json"])
        func headers(address: String) throws {
            let library = try ViewedLibrary()
            let headers = Dictionary(try library.send(address).headers.map { ($0.name, $0.value) }) { $1 }
            #expect(headers["X-Content-Type-Options"] == "nosniff")
            #expect(headers["Referrer-Policy"] == "no-referrer")
            #expect(headers["Cross-Origin-Resource-Policy"] == "same-origin")
            #expect(headers["Cache-Control"] == "no-store")
            if headers["Content-Type"] != "application/json" {
                let policy = try #require(headers["Content-Security-Policy"])
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
            }
        }

        @Test(
            "an address that is not UTF-8 in percent encoding is none",
            arguments: ["/%", "/%f", "/%ff", "/%+1", "/a%00b", "library", "/x?a=%zz"])
        func wrongAddress(address: String) { #expect(HTTPRequest("GET", address: address, headers: [:]) == nil) }

        @Test("parts of an address are decoded one by one, so that a slash in a name stays in it")
        func decoding() throws {
            let request = try #require(
                HTTPRequest("GET", address: "/a%2Fb/c%20d+e?x=1+2%2B3&y", headers: [:]))
            #expect(request.segments == ["a/b", "c d+e"])
            #expect(request.query.map(\.name) == ["x", "y"])
            #expect(request.value("x") == "1 2+3")
            #expect(request.value("y") == nil)
        }

        @Test("a token for programs that can be guessed is refused")
        func shortToken() throws {
            var options = StoreViewer.Options()
            options.programToken = "short"
            #expect(throws: StoreError.self) { _ = try StoreViewer([], version: "0", options: options) }
        }

        @Test("stores get short names for addresses, each its own")
        func names() {
            #expect(StoreViewer.name("music.sqlite", besides: []) == "music")
            #expect(StoreViewer.name("music.lmdb", besides: ["music"]) == "music-2")
            #expect(StoreViewer.name("<script>.db", besides: []) == "script")
            #expect(StoreViewer.name("../..", besides: []) == "store")
            #expect(StoreViewer.name("- -", besides: []) == "store")
        }
    }
#endif
