internal import Foundation
internal import RoostCore
internal import RoostFiles
internal import RoostMigration
internal import RoostSystem

extension StreamInput {
    private static let chunkByteCount = 64 * 1024

    /// Returns the lines of standard input; `isPrompting` shows prompts to a user.
    static func standard(isPrompting: Bool) -> StreamInput {
        let cancellation = Interruption.shared.readingCancellation
        let show: ((String) -> Void)? = isPrompting ? { Console().show($0) } : nil
        return StreamInput(StandardInput.name, show: show) { (bytes) throws(StoreError) in
            var chunk = [UInt8](repeating: 0, count: chunkByteCount)
            if isPrompting {
                do throws(StoreError) { try Interruption.shared.waitForTyping() } catch {
                    guard Interruption.shared.hasInterrupt else { throw error }
                    return true
                }
            }
            let result = chunk.withUnsafeMutableBytes { buffer in
                Result { () throws(StoreError) in try StandardInput.read(into: buffer, cancellation: cancellation) }
            }
            let count = try result.get()
            bytes.append(contentsOf: chunk[..<count])
            return count > 0
        }
    }

    /// Opens a file as a source of lines.
    ///
    /// - Throws: `notFound` or `ioFailure` if the file cannot be opened.
    static func file(_ path: String) throws(StoreError) -> StreamInput {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw cannotRead(path, code: errno) }
        let file = OpenFile(descriptor)
        return StreamInput("'\(path)'") { (bytes) throws(StoreError) in
            var chunk = [UInt8](repeating: 0, count: chunkByteCount)
            while true {
                try Interruption.shared.check()
                // SAFETY: `read` writes at most as many bytes as the buffer has.
                let count = chunk.withUnsafeMutableBytes { SystemCalls.read(file.descriptor, into: $0) }
                if count >= 0 {
                    bytes.append(contentsOf: chunk[..<count])
                    return count > 0
                }
                if errno != EINTR { throw cannotRead(path, code: errno) }
            }
        }
    }

    private static func cannotRead(_ path: String, code: Int32) -> StoreError {
        StoreError(
            code == ENOENT ? .notFound : .ioFailure, "'\(path)' cannot be read: \(SystemError(code: code)).",
            underlying: SystemError(code: code))
    }
}

/// An open file that is closed when the object is deallocated.
private final class OpenFile {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // An error of closing is ignored, because the file was only read.
        _ = close(descriptor)
    }
}
