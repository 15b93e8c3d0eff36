import RoostCore

/// The rows of a CSV file in the format of RFC 4180.
struct CSVRows {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the fields of the next row, or nil at the end.
    ///
    /// A row that is not UTF-8, or lacks a closing quote, has no fields.
    mutating func next() -> [String]? {
        guard offset < bytes.count else { return nil }
        var (fields, isQuoted) = ([[UInt8]()], false)
        row: while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                if isQuoted, offset < bytes.count, bytes[offset] == byte {
                    fields[fields.count - 1].append(byte)
                    offset += 1
                } else {
                    isQuoted.toggle()
                }
            case UInt8(ascii: ",") where !isQuoted: fields.append([])
            case UInt8(ascii: "\r") where !isQuoted: continue
            case UInt8(ascii: "\n") where !isQuoted: break row
            default: fields[fields.count - 1].append(byte)
            }
        }
        let texts = fields.compactMap { String(validating: $0, as: UTF8.self) }
        return isQuoted || texts.count < fields.count ? [] : texts
    }

    /// The types that ``value(_:type:)`` supports.
    static let types: Set<AttributeType> = [.string, .integer16, .integer32, .integer64, .double, .float, .boolean]

    /// Returns `text` as a value of the given type, or nil if it is not valid or the type is not
    /// supported.
    static func value(_ text: String, type: AttributeType?) -> Value? {
        switch type {
        case .string: .string(text)
        case .integer16, .integer32, .integer64: Int64(text).map(Value.int)
        case .double, .float: Double(text).map(Value.double)
        case .boolean: ["true": true, "false": false][text].map(Value.bool)
        default: nil
        }
    }
}
