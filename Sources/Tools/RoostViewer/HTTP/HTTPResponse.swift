#if Interactive
    internal import RoostJSONText

    struct HTTPResponse: Sendable {
        struct Status: Hashable, Sendable {
            let code: UInt32

            static let ok = Status(code: 200)
            static let created = Status(code: 201)
            static let accepted = Status(code: 202)
            static let badRequest = Status(code: 400)
            static let forbidden = Status(code: 403)
            static let notFound = Status(code: 404)
            static let methodNotAllowed = Status(code: 405)
            static let conflict = Status(code: 409)
            static let tooLarge = Status(code: 413)
            static let misdirected = Status(code: 421)
            static let unprocessable = Status(code: 422)
            static let failure = Status(code: 500)
            static let unavailable = Status(code: 503)
        }

        var status: Status
        var body: [UInt8]
        var headers: [(name: String, value: String)]

        init(_ status: Status = .ok, type: String, body: [UInt8], headers: [(name: String, value: String)] = []) {
            (self.status, self.body) = (status, body)
            self.headers = [("Content-Type", type)] + headers
        }

        init(_ status: Status = .ok, json: JSONNode) {
            self.init(status, type: "application/json", body: JSONText.bytes(json))
        }

        init(_ status: Status, text: String) {
            self.init(status, type: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
        }
    }
#endif
