#if Interactive
    internal import CRoostPage

    /// The files of the page, which are embedded in the program.
    enum PageFiles {
        /// The headers of every response.
        static let headers: [(name: String, value: String)] = [
            ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ]
        /// The content policy of the page's files, which allows only content from this server.
        static let pagePolicy =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        /// The content policy of all other responses, which allows no content.
        static let valuePolicy = "default-src 'none'; sandbox; frame-ancestors 'none'"

        private static let all: [String: [UInt8]] = {
            var files: [String: [UInt8]] = [:]
            // SAFETY: the array of files is a constant of the program, and its last entry has no name.
            guard var file = roost_page_files() else { return files }
            while let name = file.pointee.name, let bytes = file.pointee.bytes {
                files[String(cString: name)] = Array(UnsafeBufferPointer(start: bytes, count: file.pointee.count))
                file += 1
            }
            return files
        }()

        static func response(_ name: String) -> HTTPResponse? {
            guard let bytes = all[name], let type = type(of: name) else { return nil }
            return HTTPResponse(type: type, body: bytes, headers: [("Content-Security-Policy", pagePolicy)])
        }

        private static func type(of name: String) -> String? {
            switch name.split(separator: ".").last {
            case "html": "text/html; charset=utf-8"
            case "js": "text/javascript; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "svg": "image/svg+xml"
            default: nil
            }
        }
    }
#endif
