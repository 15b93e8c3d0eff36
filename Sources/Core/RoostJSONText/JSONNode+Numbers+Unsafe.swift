extension JSONNode.Content {
    /// Returns the content that ``JSONText/append(_:to:)-(Double,_)`` writes for a double.
    package static func double(_ value: Double) -> Self {
        var text = TextBuffer(capacity: 64)
        JSONText.append(value, to: &text)
        let spelled = String(decoding: text.bytes, as: UTF8.self)
        return value.isFinite ? .number(spelled) : .string(String(spelled.dropFirst().dropLast()))
    }

    /// The content as a double; nil if it is out of range, or neither a number nor a special string
    /// such as `NaN`.
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
