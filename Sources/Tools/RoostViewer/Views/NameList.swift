#if Interactive
    /// A list of names in an address, separated by commas.
    ///
    /// A backslash precedes a comma or backslash that belongs to a name.
    enum NameList {
        /// Returns the parts of a list, without blanks around them.
        static func parts(_ text: String) -> [String] {
            var parts = [""]
            var isEscaped = false
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\\" where !isEscaped:
                    isEscaped = true
                    continue
                case "," where !isEscaped: parts.append("")
                default: parts[parts.count - 1].unicodeScalars.append(scalar)
                }
                isEscaped = false
            }
            return parts.map { part in
                var part = part.drop(while: \.isWhitespace)
                while part.last?.isWhitespace ?? false { part.removeLast() }
                return String(part)
            }
        }
    }
#endif
