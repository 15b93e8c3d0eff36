#if Interactive
    internal import Foundation
    internal import RoostAppleModels
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostSystem

    /// Readable forms of values.
    enum PropertyForms {
        private static let formattedByteCount = 4 << 20
        private static let dumpedByteCount = 64 << 10

        /// Formats JSON or a property list as JSON, with a line for each item.
        ///
        /// Returns nil for other content, and for more than 4 MiB.
        static func formatted(_ bytes: [UInt8]) -> String? {
            guard bytes.count <= formattedByteCount else { return nil }
            if let node = json(bytes) { return String(decoding: JSONText.bytes(node, style: .lines), as: UTF8.self) }
            guard bytes.starts(with: Array("bplist".utf8)) || bytes.starts(with: Array("<?xml".utf8)),
                let list = try? PropertyListValue.read(bytes, file: "the value")
            else { return nil }
            return String(decoding: JSONText.bytes(node(list), style: .lines), as: UTF8.self)
        }

        /// Returns the node of a JSON object or list, or nil for other bytes.
        private static func json(_ bytes: [UInt8]) -> JSONNode? {
            guard DataKind(bytes.prefix(64)) == .json, let node = try? JSONNode(bytes) else { return nil }
            return node
        }

        private static func node(_ value: PropertyListValue) -> JSONNode {
            switch value {
            case .string(let text): JSONNode(text)
            case .integer(let number): JSONNode(.number("\(number)"))
            case .real(let number): number.isFinite ? JSONNode(.number("\(number)")) : JSONNode("\(number)")
            case .boolean(let flag): JSONNode(flag)
            case .date(let seconds): CellWriter.date(Date(timeIntervalSinceReferenceDate: seconds))
            case .data(let bytes): JSONNode("<\(bytes.count) bytes: \(Hexadecimal.text(bytes.prefix(32)))>")
            case .array(let values): JSONNode(list: values.map(node))
            case .dictionary(let members):
                JSONNode(.object(members.sorted { $0.key < $1.key }.map { JSONMember($0.key, node($0.value)) }))
            }
        }

        /// Returns a dump of the first 64 KiB.
        ///
        /// Each line has an offset, 16 bytes in hexadecimal, and the same bytes in ASCII.
        static func dump(_ bytes: [UInt8]) -> String {
            var lines: [String] = []
            for start in stride(from: 0, to: min(bytes.count, dumpedByteCount), by: 16) {
                let row = bytes[start..<min(start + 16, bytes.count)]
                let offset = String(start, radix: 16)
                let digits = row.map { Hexadecimal.text([$0]) }.joined(separator: " ")
                let ascii = row.map { (0x20..<0x7F).contains($0) ? Character(Unicode.Scalar($0)) : "." }
                lines.append(
                    String(repeating: "0", count: max(0, 8 - offset.count)) + offset + "  "
                        + digits.padding(toLength: 47, withPad: " ", startingAt: 0) + "  " + String(ascii))
            }
            if bytes.count > dumpedByteCount { lines.append("… and \(bytes.count - dumpedByteCount) more bytes") }
            return lines.joined(separator: "\n")
        }
    }
#endif
