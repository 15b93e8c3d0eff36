internal import CZlib
internal import RoostCore

/// A decompressor for `Z_MODELCACHE`.
enum Inflate {
    /// Returns the decompressed bytes of a raw DEFLATE stream (RFC 1951).
    static func raw(_ bytes: [UInt8], limit: Int, what: String) throws(StoreError) -> [UInt8] {
        var stream = z_stream()
        // Negative window bits mean no zlib header and no checksum (zlib manual, inflateInit2).
        let status = inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            throw StoreError(.outOfResources, "Cannot unpack \(what): zlib failed to start (\(status)).")
        }
        defer { _ = inflateEnd(&stream) }
        var input = bytes
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        guard let inputCount = UInt32(exactly: input.count) else {
            throw StoreError(.limitExceeded, "\(what) has \(input.count) packed bytes, which is too many.")
        }
        var code = Z_OK
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = inputCount
            while code == Z_OK, output.count <= limit {
                let produced = piece.withUnsafeMutableBufferPointer { piece in
                    stream.next_out = piece.baseAddress
                    stream.avail_out = UInt32(piece.count)
                    // zlib has the whole input, so Z_BUF_ERROR means that the input is truncated.
                    code = inflate(&stream, Z_NO_FLUSH)
                    return piece.count - Int(stream.avail_out)
                }
                output += piece[..<produced]
            }
        }
        guard output.count <= limit else {
            throw StoreError(.limitExceeded, "\(what) unpacks to more than \(limit) bytes.")
        }
        guard code != Z_MEM_ERROR else {
            throw StoreError(.outOfResources, "Cannot unpack \(what): zlib has no memory.")
        }
        guard code == Z_STREAM_END else {
            throw StoreError(.corrupted, "\(what) is damaged: its packed data cannot be read (zlib \(code)).")
        }
        return output
    }
}
