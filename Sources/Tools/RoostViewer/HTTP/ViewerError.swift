#if Interactive
    internal import RoostCore
    internal import RoostJSONText

    /// The reason why a request is refused or fails.
    struct ViewerError: Error {
        /// One rule that a change breaks.
        struct Failure {
            /// The property, or nil for the whole object.
            var property: String?
            var message: String
        }

        var status: HTTPResponse.Status
        /// The error's name for programs.
        var code: String
        var message: String
        /// The position of a syntax error in a predicate, in UTF-16 units, or nil.
        var offset: Int?
        var failures: [Failure] = []
        /// The object's current stored state, for a conflict about an existing object.
        var current: JSONNode?

        init(_ status: HTTPResponse.Status, code: String? = nil, message: String) {
            (self.status, self.message) = (status, message)
            self.code = code ?? (status == .notFound ? "notFound" : "badRequest")
        }

        init(_ error: StoreError) {
            status =
                switch error.code {
                case .notFound, .objectNotFound, .unknownEntity: .notFound
                case .invalidRequest, .unknownProperty, .invalidValue, .unsupported, .limitExceeded: .badRequest
                case .conflict: .conflict
                case .validationFailed, .constraintViolation, .deleteDenied: .unprocessable
                case .busy, .timedOut: .unavailable
                case .readOnly, .permissionDenied: .forbidden
                default: .failure
                }
            (code, message) = (error.code.description, error.message)
            failures = error.failures.map { Failure(property: $0.property, message: $0.message) }
            for violation in error.violations {
                for attribute in violation.attributes {
                    failures.append(Failure(property: attribute, message: "\(violation.existing) has the same value."))
                }
            }
        }

        init(any error: any Error) {
            switch error {
            case let error as ViewerError: self = error
            case let error as StoreError: self.init(error)
            default: self.init(.failure, code: "failure", message: "\(error)")
            }
        }

        var json: JSONNode {
            var members = [
                JSONMember("code", .string(code)), JSONMember("message", .string(message)),
            ]
            if let offset {
                members.append(JSONMember("offset", .number("\(offset)")))
                members.append(JSONMember("length", .number("1")))
            }
            if !failures.isEmpty {
                let list = failures.map { failure in
                    JSONNode(
                        .object([
                            JSONMember("property", JSONNode(failure.property)),
                            JSONMember("message", .string(failure.message)),
                        ]))
                }
                members.append(JSONMember("failures", .array(list)))
            }
            if let current { members.append(JSONMember("current", current)) }
            return JSONNode(.object(members))
        }

        var response: HTTPResponse { HTTPResponse(status, json: JSONNode(.object([JSONMember("error", json)]))) }
    }
#endif
