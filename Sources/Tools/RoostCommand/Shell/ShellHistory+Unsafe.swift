internal import Foundation
internal import RoostCore
internal import RoostFiles
internal import RoostSystem

/// The statements that a user typed, saved in a file that only this user can read.
///
/// Each statement is a line. A line feed in a statement is written as `\n`, a carriage return as
/// `\r`, and a backslash as `\\`. Concurrent shells append to the same file, with one write for
/// each statement.
final class ShellHistory {
    /// The maximum number of statements that are read from the file.
    static let entryLimit = 5000
    private static let entryByteLimit = 16 * 1024

    private(set) var entries: [String] = []
    /// The path of the file, or nil to save nothing.
    private let path: String?
    /// The error that prevents saving, as a message.
    private(set) var problem: String?

    /// Returns the path of the user's history file.
    ///
    /// The file is below `XDG_STATE_HOME` or, if that is not an absolute path, below
    /// `~/.local/state`. Returns nil if neither directory is known.
    static func path(_ environment: [String: String]) -> String? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/roost/shell-history" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state/roost/shell-history"
    }

    /// Reads the last `byteLimit` bytes of the file at `path`, which need not exist.
    init(_ path: String?, byteLimit: Int = 64 << 20) {
        self.path = path
        guard let path else { return }
        do throws(SystemError) {
            try Self.makeDirectory((path as NSString).deletingLastPathComponent)
            let text = try Self.read(path, byteLimit: byteLimit)
            let lines = text.split(separator: "\n")
            entries = lines.suffix(Self.entryLimit).map { Self.unescaped($0) }
            if lines.count > 2 * Self.entryLimit { try Self.replace(path, by: lines.suffix(Self.entryLimit)) }
        } catch { problem = "the history '\(path)' is not kept: \(error)" }
    }

    /// Adds a statement, and returns whether it was added.
    ///
    /// Refuses a statement that is empty or too long, contains a NUL, begins with a blank, or
    /// equals the last one.
    func append(_ statement: String) -> Bool {
        guard !statement.isEmpty, statement.first?.isWhitespace == false, statement != entries.last,
            statement.utf8.count <= Self.entryByteLimit, !statement.utf8.contains(0)
        else { return false }
        entries.append(statement)
        guard let path, problem == nil else { return true }
        do throws(SystemError) { try Self.append(Self.escaped(statement) + "\n", to: path) } catch {
            problem = "the history '\(path)' is not kept: \(error)"
        }
        return true
    }

    // MARK: Text

    static func escaped(_ statement: String) -> String {
        statement.replacing("\\", with: "\\\\").replacing("\n", with: "\\n").replacing("\r", with: "\\r")
    }

    static func unescaped(_ line: some StringProtocol) -> String {
        var result = ""
        var isEscaped = false
        for character in line {
            if isEscaped {
                result.append(character == "n" ? "\n" : character == "r" ? "\r" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                result.append(character)
            }
        }
        return result
    }

    // MARK: Files

    /// Creates missing directories, which only the user can access.
    private static func makeDirectory(_ path: String) throws(SystemError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw SystemError(code: errno) }
        let parent = (path as NSString).deletingLastPathComponent
        guard parent != path else { throw SystemError(code: ENOENT) }
        try makeDirectory(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError(code: errno) }
    }

    private static func withFile<Result>(
        _ path: String, flags: Int32, _ body: (Int32) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        // Refuses symbolic links, and does not block on a pipe.
        let descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw SystemError(code: errno) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else {
            let code = errno
            _ = close(descriptor)
            throw SystemError(code: code)
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            _ = close(descriptor)
            throw SystemError(code: EINVAL)
        }
        let result: Result
        do throws(SystemError) { result = try body(descriptor) } catch {
            _ = close(descriptor)
            throw error
        }
        guard close(descriptor) == 0 else { throw SystemError(code: errno) }
        return result
    }

    /// Returns the complete lines in the last bytes of a file, or an empty text without a file.
    private static func read(_ path: String, byteLimit: Int) throws(SystemError) -> String {
        var bytes: [UInt8] = []
        var start: off_t = 0
        do throws(SystemError) {
            try withFile(path, flags: O_RDONLY) { (descriptor) throws(SystemError) in
                let size = lseek(descriptor, 0, SEEK_END)
                start = max(0, size - off_t(byteLimit))
                guard size >= 0, lseek(descriptor, start, SEEK_SET) == start else { throw SystemError(code: errno) }
                var chunk = [UInt8](repeating: 0, count: 64 * 1024)
                while bytes.count < byteLimit {
                    // SAFETY: `read` writes at most as many bytes as the buffer has.
                    let count = chunk.withUnsafeMutableBytes { SystemCalls.read(descriptor, into: $0) }
                    if count == 0 { return }
                    if count < 0 {
                        if errno == EINTR { continue }
                        throw SystemError(code: errno)
                    }
                    bytes.append(contentsOf: chunk[..<count])
                }
            }
        } catch {
            guard error.code == ENOENT else { throw error }
        }
        guard start > 0 else { return String(decoding: bytes, as: UTF8.self) }
        // The first line may be incomplete.
        return String(decoding: bytes.drop { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    private static func write(_ text: String, to descriptor: Int32) throws(SystemError) {
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            // SAFETY: `write` only reads the bytes from `offset` to the end of the array.
            let count = bytes.withUnsafeBytes {
                SystemCalls.write(UnsafeRawBufferPointer(rebasing: $0[offset...]), to: descriptor)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw SystemError(code: errno)
            }
            offset += count
        }
    }

    private static func append(_ text: String, to path: String) throws(SystemError) {
        try withFile(path, flags: O_WRONLY | O_APPEND | O_CREAT) { (descriptor) throws(SystemError) in
            // The file may have become readable for other users.
            guard fchmod(descriptor, 0o600) == 0 else { throw SystemError(code: errno) }
            try write(text, to: descriptor)
        }
    }

    /// Replaces the file atomically.
    private static func replace(_ path: String, by lines: ArraySlice<Substring>) throws(SystemError) {
        let temporary = "\(path).\(getpid())"
        // An earlier process with the same process ID may have left this file. If the file cannot
        // be removed, creating it again fails.
        _ = unlink(temporary)
        do throws(SystemError) {
            try withFile(temporary, flags: O_WRONLY | O_CREAT | O_EXCL) { (descriptor) throws(SystemError) in
                try write(lines.joined(separator: "\n") + "\n", to: descriptor)
            }
            guard rename(temporary, path) == 0 else { throw SystemError(code: errno) }
        } catch {
            _ = unlink(temporary)
            throw error
        }
    }
}
