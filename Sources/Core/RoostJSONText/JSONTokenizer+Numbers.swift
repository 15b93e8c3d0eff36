extension JSONTokenizer {
    /// The number as a whole number of 64 bits; nil when it has a fraction or an exponent, is out
    /// of range, or is not a number.
    package var integer: Int64? {
        guard token == .number, isWhole else { return nil }
        return withText { JSONNumbers.integer($0) }
    }

    /// The number, or the string that stands for one, as the nearest double; nil when it is neither
    /// or out of range.
    ///
    /// Reads what ``JSONText/append(_:to:)-(Double,_)`` writes, every bit kept, and any other JSON
    /// number.
    package var double: Double? {
        if token == .number { return withText { JSONNumbers.double($0) } }
        guard token == .string else { return nil }
        return withText { JSONNumbers.special($0) ?? JSONNumbers.nan($0) }
    }

    /// The number, or the string that stands for one, as the nearest float; nil when it is neither
    /// or out of range.
    ///
    /// Reads what ``JSONText/append(_:to:)-(Float,_)`` writes, every bit kept, and any other JSON
    /// number.
    package var float: Float? {
        if token == .number { return withText { JSONNumbers.float($0) } }
        guard token == .string else { return nil }
        return withText { text in
            if let special = JSONNumbers.special(text) { return Float(special) }
            return JSONNumbers.floatNaN(text)
        }
    }
}
