extension JSONNode.Content {
    /// Returns the content for a double, every bit kept: a number, or a string where JSON has no
    /// number for it.
    ///
    /// The text is that of ``JSONText/append(_:to:)-(Double,_)``.
    package static func double(_ value: Double) -> Self {
        var text = TextBuffer(capacity: 64)
        JSONText.append(value, to: &text)
        let spelled = String(decoding: text.bytes, as: UTF8.self)
        return value.isFinite ? .number(spelled) : .string(String(spelled.dropFirst().dropLast()))
    }

    /// The content as a double; nil for anything that is neither a number nor stands for one, and
    /// out of range.
    ///
    /// Reads what ``double(_:)`` returns, and any other JSON or JSON5 number.
    package var double: Double? {
        switch self {
        case .number(var text), .string(var text):
            text.withUTF8 { bytes in
                let bytes = UnsafeRawBufferPointer(bytes)
                if let special = JSONNumbers.special(bytes) { return special }
                guard case .number = self else { return JSONNumbers.nan(bytes) }
                return JSONNumbers.double(bytes)
            }
        default: nil
        }
    }
}
