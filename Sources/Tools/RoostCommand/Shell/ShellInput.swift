internal import RoostCore
internal import RoostSystem

/// A source of lines for a shell.
protocol ShellInput: AnyObject {
    /// Reads the next line.
    ///
    /// - Returns: The line without its line ending; ``ShellInputLine/interrupted`` after Ctrl-C, or
    ///   ``ShellInputLine/end``.
    /// - Throws: Errors of reading; `cancelled` after a signal that ends the command.
    func next(_ prompt: String) throws(StoreError) -> ShellInputLine

    /// Remembers a statement for recall.
    func remember(_ statement: String)
}

enum ShellInputLine {
    case line(String)
    /// Ctrl-C, which discards the typed text.
    case interrupted
    case end
}

extension ShellInput {
    func remember(_ statement: String) {}
}

/// The lines of standard input or of a file.
final class StreamInput: ShellInput {
    private let read: (_ bytes: inout [UInt8]) throws(StoreError) -> Bool
    /// Shows a prompt; nil without a terminal.
    private let show: ((String) -> Void)?
    private let name: String
    private var bytes: [UInt8] = []
    private var start = 0
    /// The position from which the search for a line ending continues.
    private var searched = 0
    private var isAtEnd = false

    /// Creates an input; `read` appends bytes to an array, and returns false at the end.
    init(
        _ name: String, show: ((String) -> Void)? = nil,
        read: @escaping (_ bytes: inout [UInt8]) throws(StoreError) -> Bool
    ) {
        (self.name, self.show, self.read) = (name, show, read)
    }

    func next(_ prompt: String) throws(StoreError) -> ShellInputLine {
        show?(prompt)
        while true {
            if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                return try line(to: end, next: end + 1)
            }
            searched = bytes.count
            if isAtEnd {
                guard start < bytes.count else { return .end }
                return try line(to: bytes.count, next: bytes.count)
            }
            guard bytes.count - start <= ShellStatementBuffer.byteLimit else {
                throw StoreError(
                    .limitExceeded,
                    "A line of \(name) has more than \(ByteCountText.text(ShellStatementBuffer.byteLimit)).")
            }
            if start > 0 {
                bytes.removeFirst(start)
                searched -= start
                start = 0
            }
            isAtEnd = try !read(&bytes)
            if show != nil, Interruption.shared.takeInterrupt() {
                bytes.removeAll()
                (start, searched) = (0, 0)
                return .interrupted
            }
        }
    }

    private func line(to end: Int, next: Int) throws(StoreError) -> ShellInputLine {
        defer { (start, searched) = (next, next) }
        var line = bytes[start..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw StoreError(.invalidRequest, "A line of \(name) is not UTF-8; write the line in UTF-8.")
        }
        return .line(text)
    }
}
