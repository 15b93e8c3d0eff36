#if Macros
    internal import RoostSystem

    /// A reader and writer of messages on standard input and output.
    ///
    /// A message is JSON, preceded by its byte count (8 bytes, little-endian).
    enum PluginPipe {
        /// The maximum length of a message, in bytes; a greater length means corrupt input.
        private static let maximumByteCount = 1 << 30

        /// Reads a message, or returns nil if the input ends or is corrupt.
        static func read() -> [UInt8]? {
            guard let header = read(byteCount: 8) else { return nil }
            let count = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard count <= maximumByteCount else { return nil }
            return read(byteCount: Int(count))
        }

        static func write(_ message: [UInt8]) -> Bool {
            let count = UInt64(message.count)
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + message
            return bytes.withUnsafeBytes { buffer in
                var start = 0
                while start < buffer.count {
                    let written = SystemCalls.write(UnsafeRawBufferPointer(rebasing: buffer[start...]), to: 1)
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { return false }
                    start += written
                }
                return true
            }
        }

        private static func read(byteCount: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: byteCount)
            let isComplete = bytes.withUnsafeMutableBytes { buffer in
                var start = 0
                while start < buffer.count {
                    let count = SystemCalls.read(0, into: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return false }
                    start += count
                }
                return true
            }
            return isComplete ? bytes : nil
        }
    }
#endif
