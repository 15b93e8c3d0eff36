internal import RoostCore

/// A converter of XML files to UTF-8.
enum XMLText {
    /// Returns the document as UTF-8 without a byte-order mark.
    ///
    /// Reads UTF-8 and UTF-16, and refuses other encodings.
    static func utf8(_ bytes: [UInt8], file: String) throws(StoreError) -> [UInt8] {
        let head = Array(bytes.prefix(4)) + [UInt8](repeating: 0xFF, count: 4 - min(4, bytes.count))
        if (head[0] == 0 && head[1] == 0) || (head[0] == 0xFF && head[1] == 0xFE && head[2] == 0 && head[3] == 0) {
            throw refused("UTF-32", file: file)
        }
        let text: [UInt8]
        switch (head[0], head[1], head[2]) {
        case (0xEF, 0xBB, 0xBF): text = Array(bytes.dropFirst(3))
        case (0xFE, 0xFF, _): text = try utf16(bytes.dropFirst(2), isBigEndian: true, file: file)
        case (0xFF, 0xFE, _): text = try utf16(bytes.dropFirst(2), isBigEndian: false, file: file)
        case (0, UInt8(ascii: "<"), _): return try utf16(bytes[...], isBigEndian: true, file: file)
        case (UInt8(ascii: "<"), 0, _): return try utf16(bytes[...], isBigEndian: false, file: file)
        default: text = bytes
        }
        if text.count == bytes.count, let name = declaredEncoding(text) {
            let upper = name.uppercased()
            guard upper == "UTF-8" || upper == "UTF8" || upper == "US-ASCII" || upper == "ASCII" else {
                throw refused("'\(String(name.prefix(40)))'", file: file)
            }
        }
        guard String(validating: text, as: UTF8.self) != nil else {
            throw StoreError(.invalidModel, "'\(file)' is not valid UTF-8 text; save it as UTF-8.")
        }
        return text
    }

    private static func refused(_ encoding: String, file: String) -> StoreError {
        StoreError(.invalidModel, "'\(file)' is written in encoding \(encoding), which is not read; save it as UTF-8.")
    }

    private static func utf16(
        _ bytes: ArraySlice<UInt8>, isBigEndian: Bool, file: String
    ) throws(StoreError) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isBigEndian ? first << 8 | second : second << 8 | first)
            index += 2
        }
        guard index == bytes.endIndex, let text = String(validating: units, as: UTF16.self) else {
            throw StoreError(.invalidModel, "'\(file)' is not valid UTF-16 text; save it as UTF-8.")
        }
        return Array(text.utf8)
    }

    /// Returns the encoding named by the XML declaration in the first 200 bytes, or nil.
    private static func declaredEncoding(_ text: [UInt8]) -> String? {
        let head = String(decoding: text.prefix(200), as: UTF8.self)
        guard head.hasPrefix("<?xml"), let end = head.firstRange(of: "?>") else { return nil }
        let declaration = head[..<end.lowerBound]
        guard let name = declaration.firstRange(of: "encoding") else { return nil }
        let value = declaration[name.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "\t" }
        guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
        return String(value.dropFirst().prefix { $0 != quote })
    }
}
