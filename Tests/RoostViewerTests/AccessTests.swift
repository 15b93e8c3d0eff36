#if Interactive
    import RoostCore
    import RoostJSONText
    import Testing

    @testable import RoostViewer

    @Suite("Access to the browser's server")
    struct AccessTests {
        private func status(
            _ address: String, headers: [String: String], method: String = "GET"
        ) throws -> UInt32 {
            let library = try ViewedLibrary()
            var all = ["host": "127.0.0.1:8080"]
            all.merge(headers) { $1 }
            let request = try #require(HTTPRequest(method, address: address, headers: all.filter { !$0.value.isEmpty }))
            return library.server.answer(request).status.code
        }

        @Test("the start address sets a cookie once, and the cookie opens the views")
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
            "the server answers 403 without a valid cookie or token",
            arguments: ["/", "/library", "/library.json", "/-/session.json", "/library/Album/1/cover.bin", "/?token=0"])
        func noCookie(address: String) throws {
            #expect(try status(address, headers: [:]) == 403)
            #expect(try status(address, headers: ["cookie": "roost-8080=00000000000000000000000000000000"]) == 403)
            #expect(try status(address, headers: ["authorization": "Bearer wrong-token-wrong-t"]) == 403)
        }

        @Test(
            "the server answers only requests whose Host is its own address or localhost",
            arguments: [
                ("127.0.0.1:8080", true), ("localhost:8080", true), ("localhost:9999", true), ("localhost", true),
                ("127.0.0.1:8081", false), ("evil.example", false), ("127.0.0.1.evil.example:8080", false),
                ("localhost.evil.example", false), ("localhost:8080.evil.example", false), ("localhost:", false),
                ("localhostx8080", false),
                ("", false),
            ])
        func host(name: String, isAllowed: Bool) throws {
            let answer = try status(
                "/library.json", headers: ["host": name, "authorization": "Bearer \(ViewedLibrary.token)"])
            #expect(answer == (isAllowed ? 200 : 421))
        }

        @Test("a request from another origin is refused, except a GET that opens a page")
        func origin() throws {
            let bearer = ["authorization": "Bearer \(ViewedLibrary.token)"]
            func with(_ more: [String: String]) -> [String: String] { bearer.merging(more) { $1 } }
            #expect(try status("/library.json", headers: with(["origin": "http://127.0.0.1:8080"])) == 200)
            #expect(try status("/library.json", headers: with(["origin": "http://127.0.0.1:3000"])) == 403)
            #expect(try status("/library.json", headers: with(["origin": "null"])) == 403)
            #expect(try status("/library.json", headers: with(["sec-fetch-site": "same-site"])) == 403)
            #expect(
                try status(
                    "/library.json", headers: with(["sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"]))
                    == 403)
            #expect(
                try status("/library", headers: with(["sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"]))
                    == 200)
            let post = with(["sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"])
            #expect(try status("/library/-/undo.json", headers: post, method: "POST") == 403)
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
            "an address with a wrong escape or a NUL, or without a first slash, is refused",
            arguments: ["/%", "/%f", "/%ff", "/%+1", "/a%00b", "library", "/x?a=%zz"])
        func wrongAddress(address: String) { #expect(HTTPRequest("GET", address: address, headers: [:]) == nil) }

        @Test("each part of an address is decoded alone, so names keep their slashes")
        func decoding() throws {
            let request = try #require(
                HTTPRequest("GET", address: "/a%2Fb/c%20d+e?x=1+2%2B3&y", headers: [:]))
            #expect(request.segments == ["a/b", "c d+e"])
            #expect(request.query.map(\.name) == ["x", "y"])
            #expect(request.value("x") == "1 2+3")
            #expect(request.value("y") == nil)
        }

        @Test("a token for programs with fewer than 16 characters is refused", arguments: ["short", "éééééééé"])
        func shortToken(token: String) throws {
            var options = StoreViewer.Options()
            options.programToken = token
            #expect(throws: StoreError.self) { _ = try StoreViewer([], version: "0", options: options) }
        }

        @Test("each store gets a short name of its own for addresses")
        func names() {
            #expect(StoreViewer.name("music.sqlite", besides: []) == "music")
            #expect(StoreViewer.name("music.lmdb", besides: ["music"]) == "music-2")
            #expect(StoreViewer.name("<script>.db", besides: []) == "script")
            #expect(StoreViewer.name("../..", besides: []) == "store")
            #expect(StoreViewer.name("- -", besides: []) == "store")
        }
    }
#endif
