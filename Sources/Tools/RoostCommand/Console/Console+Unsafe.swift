internal import Foundation
internal import RoostCore
internal import RoostJSONText
internal import RoostSystem

/// Standard output and standard error.
struct Console: Sendable {
    /// Whether standard error is a terminal, so that progress is shown.
    let showsProgress: Bool

    init() { showsProgress = isatty(STDERR_FILENO) == 1 }

    /// Writes a result and a line feed to standard output.
    ///
    /// If the reader has closed standard output, the command closes its stores and ends without a
    /// message, like a program that SIGPIPE ends.
    func print(_ text: String) throws {
        try write(Array((text + "\n").utf8))
    }

    /// Writes bytes to standard output.
    func write(_ bytes: borrowing [UInt8]) throws(OutputError) {
        if Interruption.shared.isReadingCancelled { throw OutputError(reason: .interrupted) }
        guard let code = Self.write(bytes, to: STDOUT_FILENO) else { return }
        throw OutputError(reason: code == EPIPE ? .readerGone : .system(code))
    }

    func printJSON(_ value: some Encodable) throws { try print(Self.json(value)) }

    func printJSONLine(_ value: some Encodable) throws {
        try print(String(decoding: JSONText.bytes(try JSONNode(encoding: value), style: .compact), as: UTF8.self))
    }

    static func json(_ value: some Encodable) throws -> String {
        String(decoding: JSONText.bytes(try JSONNode(encoding: value), style: .lines), as: UTF8.self)
    }

    /// Writes one line to standard error, and ignores a failure.
    func printError(_ message: String) {
        // A line feed or an escape sequence in a path must not look like a second message.
        let line = String(
            String.UnicodeScalarView(
                Self.punctuated(message).unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        _ = Self.write(Array("roost: \(line)\n".utf8), to: STDERR_FILENO)
    }

    /// Returns a message with the program's punctuation.
    ///
    /// A single sentence ends without a full stop, as in other programs. Several sentences end with
    /// a punctuation mark.
    static func punctuated(_ message: String) -> String {
        let isOneSentence = message.firstRange(of: ". ") == nil
        if isOneSentence, message.hasSuffix("."), !message.hasSuffix("..") { return String(message.dropLast()) }
        guard !isOneSentence, let last = message.last, !".?!…:".contains(last) else { return message }
        return message + "."
    }

    /// Writes a text unchanged to standard error, and ignores a failure.
    func show(_ text: String) { _ = Self.write(Array(text.utf8), to: STDERR_FILENO) }

    /// Replaces the progress line, if standard error is a terminal.
    ///
    /// An empty text removes the line.
    func showProgress(_ text: String) {
        guard showsProgress else { return }
        _ = Self.write(Array("\r\u{1B}[K\(text)".utf8), to: STDERR_FILENO)
    }

    /// Writes a question to standard error, and returns whether the answer is yes.
    ///
    /// The end of standard input counts as no.
    func ask(_ question: String) throws(StoreError) -> Bool {
        _ = Self.write(Array(question.utf8), to: STDERR_FILENO)
        // After the wait, `readLine` does not block, because a terminal delivers whole lines.
        try StandardInput.wait { () throws(StoreError) in try Interruption.shared.check() }
        guard let answer = readLine() else {
            _ = Self.write([UInt8(ascii: "\n")], to: STDERR_FILENO)
            return false
        }
        return ["y", "yes"].contains(answer.lowercased())
    }

    var tableStyle: TableStyle {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        return TableStyle(
            environment: ProcessInfo.processInfo.environment,
            terminalWidth: isTerminal ? Int(croost_terminal_width(STDOUT_FILENO)) : nil)
    }

    /// Opens `/dev/null` for each closed descriptor of standard input, output and error.
    ///
    /// Otherwise a store's file could get the descriptor of standard output, and a report would be
    /// written into the file. Reading input and writing output still fail, because input is opened
    /// only for writing, and output only for reading.
    static func fillStandardDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // `open` returns the lowest free descriptor, and all lower ones are open.
            guard open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == descriptor else {
                leave(.failure)
            }
        }
    }

    /// Ends the process at once.
    static func leave(_ code: ExitCode) -> Never { _exit(code.rawValue) }

    /// Writes all bytes, and returns nil or the value of `errno`.
    private static func write(_ bytes: borrowing [UInt8], to descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                let written = SystemCalls.write(rest, to: descriptor)
                if written < 0 {
                    if errno == EINTR || errno == EAGAIN { continue }
                    return errno
                }
                offset += written
            }
            return nil
        }
    }
}

struct OutputError: Error, CustomStringConvertible {
    enum Reason {
        /// The reader has ended, which is not an error of the command.
        case readerGone
        case interrupted
        /// The value of `errno`.
        case system(Int32)
    }

    let reason: Reason

    var description: String {
        switch reason {
        case .readerGone: "the reader of standard output has ended"
        case .interrupted: "interrupted"
        case .system(let code): "standard output cannot be written: \(String(cString: strerror(code)))"
        }
    }
}
