package import RoostJSONText

extension StoreError {
    /// Creates the error for text that is not the expected JSON.
    ///
    /// If the source of the text threw a `StoreError`, the result is that error. Only a syntax
    /// error uses `code`.
    package init(_ error: JSONSyntaxError, in name: String, code: Code) {
        self.init(error, prefix: "\(name), ", code: code)
    }

    init(_ error: JSONSyntaxError, prefix: String, code: Code) {
        let isSentence = error.message.hasSuffix("?") || error.message.hasSuffix(".")
        let message = "\(prefix)\(error)\(isSentence ? "" : ".")"
        switch error.reason {
        case .source(let source as StoreError): self = source
        case .source(let source): self.init(.ioFailure, message, underlying: source)
        case .syntax: self.init(code, message)
        case .limitExceeded: self.init(.limitExceeded, message)
        case .outOfMemory: self.init(.outOfResources, message)
        case .brokenSource: self.init(.internalInconsistency, message)
        }
    }
}
