import Testing

@testable import RoostCommand

@Suite("Text on a terminal")
struct DisplayWidthTests {
    @Test(
        "the width of a text is the number of terminal columns that it fills",
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本語", 6), ("한국", 4), ("\u{1112}\u{1161}\u{11AB}", 2),
            ("ｆｕｌｌ", 8), ("ｱ", 1), ("😀", 2), ("👩‍👩‍👧‍👦", 2), ("👍🏽", 2), ("🇩🇪", 2), ("❤️", 2), ("❤", 1), ("✓", 1),
            ("Ночь", 4), ("a\u{200B}b", 2), ("ไทย", 3), ("नमस्ते", 4), ("…", 1), ("𝒳", 1), ("𠀀", 2), ("␊", 1), ("→", 1),
        ] as [(String, Int)])
    func width(text: String, columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
    }

    @Test(
        "a text that is too wide is cut between characters and ends with …",
        arguments: [
            ("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("日本", 1, "…"),
        ] as [(String, Int, String)])
    func fitting(text: String, columns: Int, shown: String) {
        let fitted = DisplayWidth.fitted(text, columns: columns)
        #expect(fitted == shown)
        #expect(DisplayWidth.of(fitted) <= columns)
    }

    @Test(
        "control characters are printed as visible symbols",
        arguments: [
            ("plain é 日", "plain é 日"), ("a\nb\tc\rd", "a␊b␉c␍d"), ("\u{1B}[31m", "␛[31m"), ("\u{0}\u{7F}", "␀␡"),
            ("\u{85}", "<U+0085>"), ("\u{202E}abc", "<U+202E>abc"), ("a\r\nb", "a␍␊b"), ("\u{2028}", "<U+2028>"),
        ])
    func visible(text: String, shown: String) {
        #expect(VisibleText.of(text) == shown)
    }

    @Test(
        "columns shrink to fit the terminal, the widest first, or are left out",
        arguments: [
            ([3, 4], 80, [3, 4]), ([3, 50, 4], 31, [3, 20, 4]), ([30, 30], 22, [10, 10]), ([30, 31], 23, [11, 10]),
            ([10, 10, 10, 10], 20, [9, 9]), ([100], 5, [5]), ([], 10, []), ([2, 2, 2], 3, [2]),
        ] as [([Int], Int, [Int])])
    func fit(wanted: [Int], line: Int, widths: [Int]) {
        #expect(TableStyle.fit(wanted, into: line) == widths)
    }

    @Test("tables use colors only on a terminal, and not with NO_COLOR")
    func style() {
        func style(_ environment: [String: String], terminal: Int?) -> TableStyle {
            TableStyle(environment: environment, terminalWidth: terminal)
        }
        #expect(style([:], terminal: 80).hasColors && style([:], terminal: 80).width == 80)
        #expect(!style([:], terminal: nil).hasColors && style([:], terminal: nil).width == nil)
        #expect(!style(["NO_COLOR": "1"], terminal: 80).hasColors && style(["NO_COLOR": ""], terminal: 80).hasColors)
        #expect(!style(["TERM": "dumb"], terminal: 80).hasColors)
        #expect(
            style(["COLUMNS": "40"], terminal: 80).width == 40 && style(["COLUMNS": "40"], terminal: nil).width == 40)
        #expect(style(["COLUMNS": "x"], terminal: 80).width == 80 && style([:], terminal: 0).width == nil)
        #expect(
            style([:], terminal: 80).null("x") == "\u{1B}[2mx\u{1B}[0m" && style([:], terminal: nil).null("x") == "x")
    }
}
