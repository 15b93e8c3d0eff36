#if PostgreSQL
    /// The escaped form of texts in a database.
    ///
    /// Texts in PostgreSQL cannot contain U+0000. U+0000 is stored as U+0001 U+0001, and U+0001 as
    /// U+0001 U+0002. Escaping preserves order, equality and prefixes.
    enum PostgreSQLText {
        static func needsEscape(_ bytes: UnsafeRawBufferPointer) -> Bool { scan(bytes).hasLow }

        /// Returns whether any byte is less than 2, and whether all bytes are ASCII.
        static func scan(_ bytes: UnsafeRawBufferPointer) -> (hasLow: Bool, isASCII: Bool) {
            let high: UInt64 = 0x8080_8080_8080_8080
            var (low, bits): (UInt64, UInt64) = (0, 0)
            guard bytes.count >= 8 else {
                for byte in bytes {
                    if byte < 2 { low = high }
                    bits |= UInt64(byte)
                }
                return (low != 0, bits & high == 0)
            }
            // SAFETY: a word is read only where all of its eight bytes are before `count`.
            let last = bytes.count - 8
            var offset = 0
            while true {
                let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                // This sets the highest bit of some byte if, and only if, a byte of the word is less
                // than 2.
                low |= (word &- 0x0202_0202_0202_0202) & ~word
                bits |= word
                guard offset < last else { break }
                offset = min(offset + 8, last)
            }
            return (low & high != 0, bits & high == 0)
        }

        static func append(_ bytes: UnsafeRawBufferPointer, to form: inout [UInt8]) {
            guard needsEscape(bytes) else { return form.append(contentsOf: bytes) }
            for byte in bytes {
                if byte < 2 { form += [1, byte + 1] } else { form.append(byte) }
            }
        }

        /// Returns the text of an escaped form, or nil if the form is invalid.
        static func text(_ form: UnsafeRawBufferPointer) -> [UInt8]? {
            guard form.contains(1) else { return Array(form) }
            var text: [UInt8] = []
            text.reserveCapacity(form.count)
            var isEscaped = false
            for byte in form {
                if isEscaped {
                    guard byte == 1 || byte == 2 else { return nil }
                    text.append(byte - 1)
                    isEscaped = false
                } else if byte == 1 {
                    isEscaped = true
                } else {
                    text.append(byte)
                }
            }
            return isEscaped ? nil : text
        }
    }
#endif
