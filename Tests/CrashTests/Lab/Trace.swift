import Foundation

/// One recorded change of the file system (`crashrecorder.h`).
struct TraceRecord {
    enum Kind: UInt8 {
        case created = 1
        case truncated, written, synced, syncedDirectory, renamed, unlinked, linked, madeDirectory, removedDirectory
        case marked, syncedAll, exchanged, failedSync
    }

    let kind: Kind
    /// Whether a write is durable when it returns.
    let isDurable: Bool
    /// The name of the changed file, or the text of a mark.
    let path: String
    /// The second name of a rename or exchange.
    let other: String
    /// The offset of a write, or the new size of a truncated file.
    let offset: Int
    let inode: UInt64
    let data: [UInt8]

    var summary: String {
        switch kind {
        case .written: "write of \(data.count) bytes at \(offset)"
        case .truncated: "\(path) gets \(offset) bytes"
        case .renamed, .exchanged: "\(kind) \(path) to \(other)"
        default: "\(kind) \(path)"
        }
    }
}

/// The changes in a directory while a process ran.
struct Trace {
    private(set) var records: [TraceRecord] = []

    init() {}

    init(contentsOf location: URL) throws {
        var rest = ArraySlice([UInt8](try Data(contentsOf: location)))
        func number(_ count: Int) throws -> Int {
            var value: UInt64 = 0
            for (index, byte) in try take(count).enumerated() { value |= UInt64(byte) << UInt64(8 * index) }
            return Int(truncatingIfNeeded: value)
        }
        func take(_ count: Int) throws -> ArraySlice<UInt8> {
            guard rest.count >= count else { throw Unreadable(what: "the trace ends in the middle of a record") }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        while !rest.isEmpty {
            let kind = UInt8(truncatingIfNeeded: try number(1))
            guard let kind = TraceRecord.Kind(rawValue: kind) else { throw Unreadable(what: "record of kind \(kind)") }
            let flags = try number(1)
            let (pathLength, otherLength, dataLength) = (try number(2), try number(2), try number(4))
            let (offset, inode) = (try number(8), UInt64(bitPattern: Int64(try number(8))))
            records.append(
                TraceRecord(
                    kind: kind, isDurable: flags & 1 != 0, path: String(decoding: try take(pathLength), as: UTF8.self),
                    other: String(decoding: try take(otherLength), as: UTF8.self), offset: offset, inode: inode,
                    data: Array(try take(dataLength))))
        }
    }

    struct Unreadable: Error { let what: String }
}
