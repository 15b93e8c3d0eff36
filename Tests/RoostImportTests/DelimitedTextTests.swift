import Foundation
import RoostCore
import RoostSystem
import TestSamples
import Testing

@testable import RoostImport

@Suite("Comma-separated values")
struct DelimitedTextTests {
    @Test(
        "lines of CSV end with LF, CR LF or CR, and empty lines are skipped",
        arguments: [
            "a,b\n1,x\n2,y\n", "a,b\r\n1,x\r\n2,y", "a,b\r1,x\r2,y\r", "\n\na,b\n\n1,x\n\r\n2,y\n\n",
            "a,b\r\r\n1,x\r\r\n2,y\r\r\n",
            "a,b\r\n1,x\r\r\n2,y\r\r\n",
        ])
    func lineEnds(text: String) throws {
        #expect(try ImportBench().rows(text) == [["a": 1, "b": "x"], ["a": 2, "b": "y"]])
    }

    @Test(
        "in a text of one column, a line with only the separator is null, and empty lines are skipped",
        arguments: ["\n", "\r\n", "\r"])
    func oneColumn(end: String) throws {
        let text = ["a", "", ",", "x", "", ",", "", ""].joined(separator: end)
        #expect(try ImportBench().rows(text) == [[:], ["a": "x"], [:]])
        #expect(ImportBench().message("a\nx,\n") == "'rows', line 2: the row has 2 cells, and the header has 1.")
    }

    @Test("a line break of a different kind than the header's is part of a cell")
    func otherBreaks() throws {
        #expect(try ImportBench().rows("a,b\n1\r2,x\n\r,y\n") == [["a": "1\r2", "b": "x"], ["a": "\r", "b": "y"]])
        #expect(try ImportBench().rows("a,b\r1\n2,x\r\n3,y\r") == [["a": "1\n2", "b": "x"], ["a": "\n3", "b": "y"]])
    }

    @Test("quoted cells can contain quotes, separators and line breaks")
    func quotes() throws {
        let rows = try ImportBench().rows("a,b\n\"x, \"\"y\"\"\",\"1\n2\"\n\"\"\"\",\"\"\n")
        #expect(rows == [["a": "x, \"y\"", "b": "1\n2"], ["a": "\"", "b": ""]])
    }

    @Test("an empty cell is null, and an empty quoted cell an empty text")
    func nulls() throws {
        #expect(try ImportBench().rows("a,b,c\n,\"\",x\n,,\n") == [["b": "", "c": "x"], [:]])
    }

    @Test("the separator is the most frequent of , ; tab and | in the header", arguments: [",", ";", "\t", "|"])
    func delimiters(delimiter: String) throws {
        let text = "a b\(delimiter)\"c,;|\"\(delimiter)d\n1\(delimiter)2\(delimiter)3\n"
        #expect(try ImportBench().rows(text) == [["a b": 1, "c,;|": 2, "d": 3]])
    }

    @Test("a given separator is used, and text without a header gets column names")
    func givenForm() throws {
        let bench = ImportBench {
            $0.delimiter = UInt8(ascii: ":")
            $0.hasHeader = false
        }
        #expect(try bench.rows("1:x\n2:y,z\n") == [["column1": 1, "column2": "x"], ["column1": 2, "column2": "y,z"]])
    }

    @Test("the error for text without a header does not speak of a header")
    func problemsWithoutHeader() {
        let bench = ImportBench { $0.hasHeader = false }
        #expect(bench.message("1,2\n3\n") == "'rows', line 2: the row has 1 cells, and the first row has 2.")
        #expect(bench.message("") == "'rows' is empty.")
    }

    @Test("rows longer than a piece of the input are read whole")
    func pieces() throws {
        let long = String(repeating: "é\"\"x,\n", count: 120_000)
        let text = Array("a,b\n1,\"\(long)\"\n2,\"\(long)\"\n".utf8)
        let reader = try DelimitedReader(
            try ImportBench.input(text, pieceByteCount: 777), encoding: nil, delimiter: nil, hasHeader: true)
        let wanted = Array(long.replacing("\"\"", with: "\"").utf8)
        for _ in 0..<2 {
            #expect(try reader.next())
            #expect(Array(reader.bytes(of: reader.row.cells[1])) == wanted)
        }
        #expect(try !reader.next())
    }

    @Test(
        "the error for malformed CSV gives the reason and, where possible, the line",
        arguments: [
            ("a,b\n1,2\n3\n", "'rows', line 3: the row has 1 cells, and the header has 2."),
            ("a,b\n\"x\ny\",2\n3,4,5\n", "'rows', line 4: the row has 3 cells, and the header has 2."),
            ("a,b\r\"x\ry\",2\r3,4,5\r", "'rows', line 4: the row has 3 cells, and the header has 2."),
            ("a,b\r\"x\ny\",2\r3,4,5\r", "'rows', line 3: the row has 3 cells, and the header has 2."),
            ("a,\"b\rc\"\r1\r", "'rows', line 3: the row has 1 cells, and the header has 2."),
            ("a,b\n1,\"x\n", "'rows', line 2, column 'b': a quote is opened and never closed."),
            (
                "a,b\n1,\"x\"y\n",
                "'rows', line 2: column 'b' has text after its closing quote. Double the quotes inside a cell."
            ),
            ("", "'rows' is empty. Its first line must have the names of the columns."),
        ])
    func problems(text: String, message: String) {
        #expect(ImportBench().message(text) == message)
    }

    @Test("text that is not UTF-8 is refused unless its encoding is given")
    func latin1() throws {
        let bytes: [UInt8] = Array("a\nM".utf8) + [0xFC] + Array("ller\n".utf8)
        var bench = ImportBench()
        #expect { try bench.rows(bytes) } throws: { error in
            (error as? StoreError)?.message.hasPrefix("'rows', line 2: column 'a' has 'M") == true
        }
        bench.options.encoding = .latin1
        #expect(try bench.rows(bytes) == [["a": "Müller"]])
        bench.options.encoding = .windows1252
        #expect(try bench.rows(Array("a\n".utf8) + [0x80, 0x0A]) == [["a": "€"]])
    }

    @Test("UTF-16 without a byte order mark is refused")
    func unmarkedUTF16() {
        #expect(ImportBench().message("a\u{0},\u{0}b\n").contains("--encoding=utf-16"))
    }

    @Test("empty lines before the header are skipped")
    func emptyFirstLines() throws {
        #expect(try ImportBench().rows("\n\na;b\n1;2\n") == [["a": 1, "b": 2]])
    }

    @Test("a byte order mark selects UTF-8 or UTF-16")
    func byteOrderMarks() throws {
        let text = "a,ü\n1,😀\n"
        let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let swapped = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for bytes in [[0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + wide, [0xFE, 0xFF] + swapped] {
            #expect(try ImportBench().rows(bytes) == [["a": 1, "ü": "😀"]])
        }
        #expect(ImportBench { $0.encoding = .utf16 }.message("a\n1").contains("ends in the middle of a character"))
    }

    @Test("random quoted cells are read as they were written")
    func randomCells() throws {
        let seed = UInt64.random(in: 1...999_999)
        var random = SeededGenerator(seed: seed)
        let pieces = ["\"", ",", "\n", "\r", "x", "é", "😀", " ", "1", "\t", ";", "\u{0}"]
        for _ in 0..<200 {
            let width = Int.random(in: 2...5, using: &random)
            let rows = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                (0..<width).map { _ in
                    (0..<Int.random(in: 0...6, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                        .joined()
                }
            }
            func quoted(_ text: String) -> String { "\"\(text.replacing("\"", with: "\"\""))\"" }
            let header = (0..<width).map { "c\($0)" }.joined(separator: ",")
            let text = ([header] + rows.map { $0.map(quoted).joined(separator: ",") }).joined(separator: "\n")
            let reader = try DelimitedReader(
                try ImportBench.input(Array(text.utf8), pieceByteCount: Int.random(in: 1...9, using: &random)),
                encoding: nil, delimiter: UInt8(ascii: ","), hasHeader: true)
            for row in rows {
                #expect(try reader.next(), "seed \(seed)")
                #expect(reader.row.problem == nil, "seed \(seed)")
                let cells = reader.row.cells.map { String(decoding: reader.bytes(of: $0), as: UTF8.self) }
                #expect(cells == row, "seed \(seed)")
            }
            #expect(try !reader.next(), "seed \(seed)")
        }
    }
}
