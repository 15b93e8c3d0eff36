extension JSONTokenizer {
    /// The current number as a 64-bit integer; nil for any other number or token.
    package var integer: Int64? {
        guard token == .number, isWhole else { return nil }
        return withText { JSONNumbers.integer($0) }
    }

    /// The double nearest to the current number or special string such as `"NaN"`; nil for any
    /// other token, or if the value is out of range.
    ///
    /// Restores every bit from the output of ``JSONText/append(_:to:)-(Double,_)``.
    package var double: Double? {
        if token == .number { return withText { JSONNumbers.double($0) } }
        guard token == .string else { return nil }
        return withText { JSONNumbers.special($0) ?? JSONNumbers.nan($0) }
    }

    /// The float nearest to the current number or special string such as `"NaN"`; nil for any other
    /// token, or if the value is out of range.
    package var float: Float? {
        if token == .number { return withText { JSONNumbers.float($0) } }
        guard token == .string else { return nil }
        return withText { text in
            if let special = JSONNumbers.special(text) { return Float(special) }
            return JSONNumbers.floatNaN(text)
        }
    }
}
