package enum TextEncoding: String, Sendable, CaseIterable {
    /// UTF-8, with or without a byte order mark.
    case utf8 = "utf-8"
    /// UTF-16, little-endian unless a byte order mark specifies big-endian.
    case utf16 = "utf-16"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"
    /// ISO 8859-1, in which each byte is the Unicode number of a character.
    case latin1 = "latin1"
    /// Windows-1252, which programs on Windows call ANSI.
    case windows1252 = "windows-1252"

    /// The characters of Windows-1252 from 0x80 to 0x9F, or nil for a byte without a character.
    static let windowsCharacters: [UInt16?] = [
        0x20AC, nil, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, nil,
        0x017D, nil, nil, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, nil, 0x017E, 0x0178,
    ]
}
