import Foundation
import RoostJSONText
import Testing

struct SeenToken: Equatable {
    var token: JSONTokenizer.Token
    var text: String
    var line: Int
    var column: Int
}

let limits = JSONTokenizer.Limits(tokenByteCount: 1 << 26)

/// Creates a tokenizer of a text that comes in chunks of `chunk` bytes.
func makeTokenizer(
    _ bytes: [UInt8], chunk: Int, syntax: JSONTokenizer.Syntax = .json, computesChecksum: Bool = false
) -> JSONTokenizer {
    var rest = bytes[...]
    return JSONTokenizer(syntax: syntax, limits: limits, computesChecksum: computesChecksum) { buffer in
        let next = rest.prefix(min(chunk, buffer.count))
        rest = rest.dropFirst(next.count)
        buffer.copyBytes(from: next)
        return next.count
    }
}

func tokens(
    _ bytes: [UInt8], chunk: Int, syntax: JSONTokenizer.Syntax = .json
) throws(JSONSyntaxError) -> [SeenToken] {
    var reader = makeTokenizer(bytes, chunk: chunk, syntax: syntax)
    var seen: [SeenToken] = []
    while try reader.next() != .end {
        let place = reader.tokenPosition
        seen.append(SeenToken(token: reader.token, text: reader.text, line: place.line, column: place.column))
    }
    return seen
}

/// Returns the error of reading a text in chunks, or nil.
func failure(_ bytes: [UInt8], chunk: Int, syntax: JSONTokenizer.Syntax = .json) -> JSONSyntaxError? {
    do throws(JSONSyntaxError) { _ = try tokens(bytes, chunk: chunk, syntax: syntax) } catch { return error }
    return nil
}

extension JSONSyntaxError {
    var isSyntax: Bool { if case .syntax = reason { true } else { false } }
    var isLimit: Bool { if case .limitExceeded = reason { true } else { false } }
}

@Suite("JSON tokenizer")
struct JSONTokenizerTests {
    private static let chunks = [1, 2, 3, 7, 64, 1 << 20]

    @Test(
        "the tokenizer reads each valid text alike in chunks of any size",
        arguments: JSONCases.accepted + JSONCases.tolerated)
    func accepts(_ example: JSONCase) throws {
        let whole = try tokens(example.bytes, chunk: 1 << 20)
        for chunk in Self.chunks { #expect(try tokens(example.bytes, chunk: chunk) == whole) }
    }

    @Test(
        "the tokenizer refuses each invalid text at its position, in any chunks",
        arguments: JSONCases.refused + JSONCases.untolerated)
    func refuses(_ example: JSONCase) throws {
        let error = try #require(failure(example.bytes, chunk: 1 << 20))
        #expect(error.isSyntax)
        if let column = example.column { #expect(error.position == TextPosition(line: 1, column: column)) }
        for chunk in Self.chunks { #expect(failure(example.bytes, chunk: chunk)?.description == error.description) }
    }

    @Test("there are at least as many accepted, refused and optional JSON cases as in JSONTestSuite")
    func caseCount() {
        #expect(JSONCases.accepted.count >= 95)
        #expect(JSONCases.refused.count >= 188)
        #expect(JSONCases.tolerated.count + JSONCases.untolerated.count >= 35)
    }

    @Test(
        "the tokenizer refuses each truncated array or object",
        arguments: JSONCases.accepted.filter { $0.bytes.last == 0x5D || $0.bytes.last == 0x7D })
    func refusesTruncated(_ example: JSONCase) {
        for count in 0..<example.bytes.count {
            #expect(failure(Array(example.bytes.prefix(count)), chunk: 3) != nil, "cut to \(count) bytes")
        }
    }

    @Test("JSON tokens have their texts, lines and columns")
    func knowsPositions() throws {
        let text = "{\"a\\n\": [1,\n  \"жé\", -2.5e1],\n \"ж\": true, \"n\": null}"
        let seen = try tokens(Array(text.utf8), chunk: 2)
        #expect(
            seen == [
                SeenToken(token: .beginObject, text: "{", line: 1, column: 1),
                SeenToken(token: .key, text: "a\n", line: 1, column: 2),
                SeenToken(token: .beginArray, text: "[", line: 1, column: 9),
                SeenToken(token: .number, text: "1", line: 1, column: 10),
                SeenToken(token: .string, text: "жé", line: 2, column: 3),
                SeenToken(token: .number, text: "-2.5e1", line: 2, column: 9),
                SeenToken(token: .endArray, text: "]", line: 2, column: 15),
                SeenToken(token: .key, text: "ж", line: 3, column: 2),
                SeenToken(token: .true, text: "true", line: 3, column: 7),
                SeenToken(token: .key, text: "n", line: 3, column: 13),
                SeenToken(token: .null, text: "null", line: 3, column: 18),
                SeenToken(token: .endObject, text: "}", line: 3, column: 22),
            ])
    }

    @Test("columns count characters, even beyond the tokenizer's buffer")
    func columnsOfLongLines() throws {
        let long = String(repeating: "ж", count: 300_000)
        let error = try #require(failure(Array("[1,\n\"\(long)\", \"\(long)\", x]".utf8), chunk: 4096))
        #expect(error.position == TextPosition(line: 2, column: 2 * 300_002 + 5))
    }

    @Test(
        "the position of a token does not depend on the positions that were asked for before",
        arguments: [1, 3, 64, 1 << 20])
    func positionsOfSomeTokens(chunk: Int) throws {
        let elements = (0..<100).map { "{\"ж\($0)\": [\"é\", \($0)]}" + ($0.isMultiple(of: 40) ? "\n" : " ") }
        let text = Array("[\(elements.joined(separator: ","))]".utf8)
        for step in [1, 2, 7, 50] {
            var reader = makeTokenizer(text, chunk: chunk)
            var count = 0
            while try reader.next() != .end {
                count += 1
                guard count.isMultiple(of: step) else { continue }
                let position = TextPosition(of: reader.tokenByteOffset, in: text)
                #expect(reader.tokenPosition == position)
                #expect(reader.tokenLine == position.line)
            }
        }
    }

    @Test("the positions of all tokens of a text on one line take linear time")
    func positionsOfLongLine() throws {
        func seconds(separator: String) throws -> Double {
            let numbers = (0..<10_000).map { "\($0)" }
            var reader = JSONTokenizer(Array("[\(numbers.joined(separator: separator))]".utf8), limits: limits)
            let start = processorSeconds()
            var last = TextPosition(line: 1, column: 1)
            while try reader.next() != .end { last = reader.tokenPosition }
            #expect(last.line == 1 || last.column < 6)
            return processorSeconds() - start
        }
        let manyLines = try seconds(separator: ",\n")
        // Counting each token's column from the start of the line would take 100 times as long.
        #expect(try seconds(separator: ", ") < 10 * manyLines)
    }

    /// Returns the processor time of this thread, which does not depend on other tests.
    private func processorSeconds() -> Double {
        var time = timespec()
        #expect(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("the tokenizer resolves each escape sequence", arguments: [1, 3, 64])
    func resolvesEscapes(chunk: Int) throws {
        let seen = try tokens(
            Array(#"["\"\\\/\b\f\n\r\tx\u0000\u00e9\u20ac\ud83e\udd89\uDBFF\uDFFD\u007f","plain","é\n"]"#.utf8),
            chunk: chunk)
        #expect(seen[1].text == "\"\\/\u{8}\u{C}\n\r\tx\u{0}é€🦉\u{10FFFD}\u{7F}")
        #expect(seen[2].text == "plain")
        #expect(seen[3].text == "é\n")
    }

    @Test("a special character is written and read at any offset of a string")
    func specialCharacters() throws {
        for special in ["\"", "\\", "\n", "\u{1}", "\u{1F}", "\u{7F}", "é", "東", "𝄞", "\u{0}"] {
            for before in 0...17 {
                for after in [0, 1, 7, 8, 9] {
                    let string = String(repeating: "a", count: before) + special + String(repeating: "z", count: after)
                    var text = TextBuffer()
                    JSONText.append(string, to: &text)
                    let scalars = string.unicodeScalars.map { scalar -> String in
                        switch scalar {
                        case "\"", "\\": "\\" + String(scalar)
                        case "\n": "\\n"
                        case "\u{0}"..."\u{1F}":
                            "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
                        default: String(scalar)
                        }
                    }
                    #expect(String(decoding: text.bytes, as: UTF8.self) == "\"" + scalars.joined() + "\"")
                    var reader = JSONTokenizer(text.bytes, limits: limits)
                    #expect(try reader.next() == .string)
                    #expect(reader.text == string)
                }
            }
        }
    }

    @Test("a duplicate key is found among 20 000 members")
    func manyKeys() throws {
        let members = (0..<20_000).map { "\"k\($0)\":{\"k\($0)\":0}" }
        _ = try tokens(Array("{\(members.joined(separator: ","))}".utf8), chunk: 999)
        let error = try #require(failure(Array("{\(members.joined(separator: ",")),\"k777\":1}".utf8), chunk: 999))
        #expect(error.message == "the key 'k777' occurs twice in this object")
    }

    @Test("a token longer than a chunk is read whole")
    func longToken() throws {
        let long = String(repeating: "0123456789 abcdef", count: 50_000)
        let seen = try tokens(
            Array("[\"\(long)\",\"\\n\(long)\",1\(String(repeating: "0", count: 400_000))]".utf8), chunk: 1000)
        #expect(seen[1].text == long)
        #expect(seen[2].text == "\n" + long)
        #expect(seen[3].text.utf8.count == 400_001)
    }

    @Test("an endless key is refused when it exceeds its limit", arguments: ["", "\\u0061", "é"])
    func endlessKey(begin: String) throws {
        var (given, byteCount) = (Array("{\"\(begin)".utf8), 0)
        var reader = JSONTokenizer(limits: limits) { buffer in
            let next = given.isEmpty ? [UInt8](repeating: UInt8(ascii: "k"), count: buffer.count) : given
            given = []
            byteCount += next.count
            buffer.copyBytes(from: next)
            return next.count
        }
        #expect(try reader.next() == .beginObject)
        do throws(JSONSyntaxError) {
            _ = try reader.next()
            Issue.record("a key without an end was read")
        } catch {
            #expect(error.isLimit)
            #expect(error.description == "line 1, column 2: a key is longer than 1048576 bytes")
        }
        #expect(byteCount <= 4 * limits.keyByteCount)
    }

    @Test("a key of the maximum length is read, and one byte more is refused")
    func longestKey() throws {
        // The limit includes the quotes.
        let longest = String(repeating: "k", count: limits.keyByteCount - 2)
        let seen = try tokens(Array("{\"\(longest)\": \"\(longest)more\"}".utf8), chunk: 100_000)
        #expect(seen.map(\.token) == [.beginObject, .key, .string, .endObject])
        #expect(failure(Array("{\"\(longest)k\": 1}".utf8), chunk: 1 << 21)?.isLimit == true)
        #expect(failure(Array("{\"\(longest)k\": 1}".utf8), chunk: 1000)?.isLimit == true)
    }

    @Test("capturing an endless string stops at the limit")
    func endlessCapturedValue() throws {
        var (given, byteCount) = (Array("[\"".utf8), 0)
        var reader = JSONTokenizer(limits: limits) { buffer in
            let next = given.isEmpty ? [UInt8](repeating: UInt8(ascii: "v"), count: buffer.count) : given
            given = []
            byteCount += next.count
            buffer.copyBytes(from: next)
            return next.count
        }
        do throws(JSONSyntaxError) {
            _ = try reader.captureValue(byteCountLimit: 1 << 20)
            Issue.record("a value without an end was read")
        } catch {
            #expect(error.isLimit)
        }
        #expect(byteCount <= 4 << 20)
    }

    // MARK: JSON Lines

    @Test("JSON Lines are read, and empty lines skipped", arguments: [1, 2, 100])
    func readsLines(chunk: Int) throws {
        let seen = try tokens(Array("\n{\"a\":1}\r\n\n  7\n\"x\"".utf8), chunk: chunk, syntax: .lines)
        #expect(seen.map(\.token) == [.beginObject, .key, .number, .endObject, .number, .string])
        #expect(seen.map(\.line) == [2, 2, 2, 2, 4, 5])
        #expect(try tokens([], chunk: chunk, syntax: .lines).isEmpty)
    }

    @Test(
        "a JSON Lines value that crosses or shares a line is refused",
        arguments: ["{\"a\":\n1}", "[1,\n2]", "7 8", "{}[]\n", "{\n}"])
    func valueAcrossLines(text: String) {
        #expect(failure(Array(text.utf8), chunk: 100, syntax: .lines) != nil)
    }

    // MARK: Skipping and capturing

    @Test("skipped values are passed over, and captured ones keep their spelling")
    func skippingAndCapturing() throws {
        var reader = makeTokenizer(
            Array(#"{"a": {"b": [1, {"c": []}]}, "d": [ 1 , "x" ] , "e": 5, "f": "é"}"#.utf8), chunk: 3)
        #expect(try reader.next() == .beginObject)
        #expect(try reader.nextKey())
        try reader.skipValue()
        #expect(try reader.nextKey() && reader.text == "d")
        #expect(String(decoding: try reader.captureValue(byteCountLimit: 100), as: UTF8.self) == #"[ 1 , "x" ]"#)
        #expect(try reader.nextKey())
        #expect(String(decoding: try reader.captureValue(byteCountLimit: 100), as: UTF8.self) == "5")
        #expect(try reader.nextKey())
        #expect(String(decoding: try reader.captureValue(byteCountLimit: 100), as: UTF8.self) == "\"é\"")
        #expect(try !reader.nextKey())
        #expect(try reader.next() == .end)
    }

    @Test("capturing a value longer than the limit is refused")
    func captureLimit() throws {
        var reader = makeTokenizer(Array("[[1,2,3,4,5,6,7,8,9]]".utf8), chunk: 3)
        #expect(try reader.next() == .beginArray)
        var isLimit = false
        do throws(JSONSyntaxError) { _ = try reader.captureValue(byteCountLimit: 10) } catch { isLimit = error.isLimit }
        #expect(isLimit)
    }

    @Test("a key longer than the limit is accepted inside a captured value and refused outside of it")
    func longKeyInCapturedValue() throws {
        let long = String(repeating: "k", count: limits.keyByteCount)
        var reader = makeTokenizer(Array("{\"a\": {\"\(long)\": 1}, \"\(long)\": 2}".utf8), chunk: 1 << 20)
        #expect(try reader.next() == .beginObject)
        #expect(try reader.nextKey())
        #expect(try reader.captureValue(byteCountLimit: 1 << 22).count == limits.keyByteCount + 7)
        var isLimit = false
        do throws(JSONSyntaxError) { _ = try reader.nextKey() } catch { isLimit = error.isLimit }
        #expect(isLimit)
    }

    @Test("keys are found in a name table by their bytes alone")
    func findsNames() throws {
        let table = JSONNameTable(["title", "é", "", "tit", "x\"y"])
        var found: [Int?] = []
        var reader = makeTokenizer(
            Array(#"{"tit":0,"\u00e9":0,"e\u0301":0,"":0,"x\"y":0,"titl":0,"title":0}"#.utf8), chunk: 5)
        #expect(try reader.next() == .beginObject)
        while try reader.nextKey() {
            found.append(reader.index(in: table))
            try reader.skipValue()
        }
        #expect(found == [3, 1, nil, 2, 4, nil, 0])
    }

    @Test("the text checksum covers the bytes before a token, in any chunks", arguments: [1, 5, 1 << 20])
    func computesChecksum(chunk: Int) throws {
        let text = Array("{\"long\": \"\(String(repeating: "é", count: 100_000))\",\n \"checksum\": 0}".utf8)
        var reader = makeTokenizer(text, chunk: chunk, computesChecksum: true)
        #expect(try reader.next() == .beginObject)
        #expect(try reader.nextKey())
        try reader.skipValue()
        #expect(try reader.nextKey())
        var whole = TextChecksum()
        whole.add(Array(text.prefix(reader.tokenByteOffset)))
        let found = reader.checksumBeforeToken()
        let value = try #require(found)
        #expect(value == whole.value)
        #expect(TextChecksum.text(value).count == 32)
    }

    @Test(
        "a JSON number is converted to an exact integer and to the nearest finite double, or to nil",
        arguments: [
            ("0", 0, 0), ("-0", 0, -0.0), ("9223372036854775807", .max, 0x1p63),
            ("-9223372036854775808", .min, -0x1p63),
            ("9223372036854775808", nil, 0x1p63), ("-9223372036854775809", nil, -0x1p63), ("1.0", nil, 1),
            ("1e2", nil, 100),
            ("1e400", nil, nil), ("-1e400", nil, nil), ("1e-400", nil, 0), ("5e-324", nil, .leastNonzeroMagnitude),
            ("2.2250738585072011e-308", nil, Double(bitPattern: 0x000F_FFFF_FFFF_FFFF)),
            ("1.7976931348623157e308", nil, .greatestFiniteMagnitude), ("0.1", nil, 0.1),
            ("9007199254740993", 9_007_199_254_740_993, 9_007_199_254_740_992),
            ("1.00000000000000011102230246251565404236316680908203125", nil, 1),
            ("1.00000000000000011102230246251565404236316680908203126", nil, 1.0000000000000002),
        ] as [(String, Int64?, Double?)])
    func convertsNumber(text: String, integer: Int64?, double: Double?) throws {
        var reader = makeTokenizer(Array(text.utf8), chunk: 1)
        #expect(try reader.next() == .number)
        #expect(reader.integer == integer)
        #expect(reader.double?.bitPattern == double?.bitPattern)
    }
}
