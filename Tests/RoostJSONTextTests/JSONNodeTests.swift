import RoostJSONText
import Testing

/// Reads a text into a tree, and returns the tree on one line.
private func compact(_ text: String, acceptsJSON5: Bool = false) throws(JSONSyntaxError) -> String {
    String(decoding: JSONText.bytes(try JSONNode(Array(text.utf8), acceptsJSON5: acceptsJSON5)), as: UTF8.self)
}

private func failure(_ text: String, acceptsJSON5: Bool) -> String? {
    do throws(JSONSyntaxError) { _ = try compact(text, acceptsJSON5: acceptsJSON5) } catch { return "\(error)" }
    return nil
}

@Suite("JSON trees")
struct JSONNodeTests {
    @Test(
        "each valid JSON text is read into a tree, and into the same tree as JSON5",
        arguments: (JSONCases.accepted + JSONCases.tolerated).filter { !$0.kind.contains("equal only canonically") })
    func accepts(_ example: JSONCase) throws {
        let strict = JSONText.bytes(try JSONNode(example.bytes))
        #expect(JSONText.bytes(try JSONNode(example.bytes, acceptsJSON5: true)) == strict)
        #expect(JSONText.bytes(try JSONNode(strict)) == strict)
    }

    @Test(
        "a JSON tree refuses each invalid text with the tokenizer's message",
        arguments: JSONCases.refused + JSONCases.untolerated)
    func refuses(_ example: JSONCase) throws {
        let expected = try #require(failure(example.bytes, chunk: 1 << 20)).description
        do throws(JSONSyntaxError) {
            _ = try JSONNode(example.bytes)
            Issue.record("a text that is not JSON was read")
        } catch {
            #expect(error.description == expected)
        }
    }

    @Test("nodes and keys of a JSON tree know their positions")
    func knowsPositions() throws {
        let bytes = Array("{\"é\": [1,\n  \"x\"]}".utf8)
        let node = try JSONNode(bytes)
        guard case .object(let members) = node.content, case .array(let items) = members[0].value.content else {
            Issue.record("unexpected tree: \(node)")
            return
        }
        #expect(members[0].keyOffset == 1)
        #expect(TextPosition(of: members[0].value.byteOffset, in: bytes) == TextPosition(line: 1, column: 7))
        #expect(TextPosition(of: items[1].byteOffset, in: bytes) == TextPosition(line: 2, column: 3))
    }

    @Test(
        "canonically equivalent keys of a JSON object are duplicates",
        arguments: [#"{"é": 1, "é": 2}"#, "{\"é\": 1, \"e\u{301}\": 2}"])
    func refusesEquivalentKeys(_ text: String) throws {
        #expect(try #require(failure(text, acceptsJSON5: false)).hasSuffix("occurs twice in this object"))
    }

    @Test("a JSON tree has no limit for the length of a key")
    func longKey() throws {
        let text = "{\"\(String(repeating: "k", count: 3 << 20))\":\"\(String(repeating: "v", count: 3 << 20))\"}"
        #expect(try compact(text) == text)
    }

    @Test("a JSON tree accepts 128 nested arrays and refuses 129", arguments: [false, true])
    func limitsDepth(acceptsJSON5: Bool) throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
        }
        #expect(try compact(nested(128), acceptsJSON5: acceptsJSON5) == nested(128))
        #expect(
            failure(nested(129), acceptsJSON5: acceptsJSON5)
                == "line 1, column 129: the text nests deeper than 128 arrays and objects")
    }

    @Test(
        "a double in a JSON tree is read back with every bit",
        arguments: [
            0, 0x8000_0000_0000_0000, 1, 0x3FF0_0000_0000_0000, 0x7FEF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000,
            0xFFF0_0000_0000_0000, 0x7FF8_0000_0000_0000, 0x7FF8_0000_0000_0001, 0xFFF8_0000_0000_0000,
            0x3FB9_9999_9999_999A,
        ] as [UInt64])
    func readsDoublesBack(bits: UInt64) throws {
        let bytes = JSONText.bytes(JSONNode(.double(Double(bitPattern: bits))))
        #expect(try JSONNode(bytes).content.double?.bitPattern == bits)
    }

    @Test(
        "only numbers in range and the strings for infinity and NaN are doubles in a JSON tree",
        arguments: ["\"12\"", "\"nan\"", "\"NaN:1\"", "\"NaN:+ff8000000000001\"", "true", "1e999"])
    func hasNoDouble(_ text: String) throws { #expect(try JSONNode(Array(text.utf8)).content.double == nil) }

    // MARK: JSON5

    private static let json5: [(String, String)] = [
        ("// a comment\n{a: 1, /* another\n*/ $b_2: [2,], 'c\\'s': \"d\",}", #"{"a":1,"$b_2":[2],"c's":"d"}"#),
        (
            "[+1, -.5, 5., .25e2, 0x1F, -0XfF, Infinity, -Infinity, +Infinity, NaN, -NaN, 1E+2]",
            "[1,-0.5,5.0,0.25e2,31,-255,Infinity,-Infinity,Infinity,NaN,NaN,1E+2]"
        ),
        ("['\\x41\\v\\0\\'\\\n\\\r\\\r\nz\"']", "[\"A\\u000b\\u0000'z\\\"\"]"),
        ("\u{FEFF}[\u{A0}1\u{2028},\u{2029}2\u{0B}\u{0C}]\u{FEFF}// end", "[1,2]"),
        ("{é: 1, ключ: 2, _: 3}", #"{"é":1,"ключ":2,"_":3}"#), ("[0xFFFFFFFFFFFFFFFF]", "[18446744073709551615]"),
        ("/*/ */1/***/", "1"), ("{}//", "{}"), ("[1/**/,/* */]", "[1]"), ("{\"a\":'é\"'}", #"{"a":"é\""}"#),
    ]

    @Test("JSON5 is read in chunks of any size and written as JSON, except infinity and NaN", arguments: json5)
    func readsJSON5(_ text: String, as expected: String) throws {
        #expect(try compact(text, acceptsJSON5: true) == expected)
        #expect(failure(text, acceptsJSON5: false) != nil)
        let whole = try tokens(Array(text.utf8), chunk: 1 << 20, syntax: .json5)
        for chunk in [1, 2, 3, 5] { #expect(try tokens(Array(text.utf8), chunk: chunk, syntax: .json5) == whole) }
    }

    @Test(
        "invalid JSON5 is refused with its position, in chunks of any size",
        arguments: [
            ("", "line 1, column 1: the text ends where a value is expected"),
            ("[,]", "line 1, column 2: a value is expected"), ("[1,,]", "line 1, column 4: a value is expected"),
            ("{,}", "line 1, column 2: a key or '}' is expected"),
            ("{1: 2}", "line 1, column 2: a key or '}' is expected"),
            ("{a-b: 1}", "line 1, column 3: ':' after a key is expected"),
            ("[/ 1]", "line 1, column 2: '/' starts neither a value nor a comment"),
            ("[1, /* no\nend", "line 1, column 5: the comment has no end"),
            ("['a\\\nb", "line 1, column 2: the string has no end"),
            ("{a: 1, 'b\\\nc': 2, 'b\\\nc': 3}", "line 2, column 8: the key 'bc' occurs twice in this object"),
            ("['a\\q']", "line 1, column 4: the escape is not valid in JSON"),
            ("['\\x4g']", "line 1, column 3: two hexadecimal digits are expected after '\\x'"),
            ("['a\nb']", "line 1, column 4: a control character in a string must be written as an escape"),
            ("[01]", "line 1, column 2: a number may not start with a zero"),
            ("[.]", "line 1, column 3: a digit is expected"),
            ("[+]", "line 1, column 3: a digit is expected"), ("[Inf]", "line 1, column 2: a digit is expected"),
            ("[5e]", "line 1, column 4: a digit is expected"),
            ("[0x]", "line 1, column 4: a hexadecimal digit is expected"),
            ("[0x11111111111111111]", "line 1, column 2: a hexadecimal number has at most 16 digits"),
            ("// a\n// б\n  x", "line 3, column 3: a value is expected"),
            ("1 2", "line 1, column 3: there is text after the end of the document"),
        ])
    func refusesJSON5(_ text: String, saying message: String) throws {
        for chunk in [1, 2, 3, 1 << 20] {
            let error = try #require(failure(Array(text.utf8), chunk: chunk, syntax: .json5))
            #expect(error.description == message)
        }
        #expect(failure(text, acceptsJSON5: true) == message)
    }

    @Test("invalid UTF-8 in JSON5 is refused at its position", arguments: ["//", "/*", "", "{", "{a", "'", "[\""])
    func invalidUTF8(_ before: String) throws {
        let bytes = Array(before.utf8) + [0xC3, 0x28, 0x2A, 0x2F]
        let error = try #require(failure(bytes, chunk: 1, syntax: .json5))
        #expect(error.position == TextPosition(line: 1, column: before.utf8.count + 1))
    }

    // MARK: Writing

    private static let sample = #"{"a":[],"b":{},"c":[1,{"d":"\n\"\\\u0001/é"}],"e":{"f":null,"g":[true]}}"#

    @Test("a JSON tree is written in each style")
    func writesStyles() throws {
        let node = try JSONNode(Array(Self.sample.utf8))
        func text(_ style: JSONText.Style) -> String {
            String(decoding: JSONText.bytes(node, style: style), as: UTF8.self)
        }
        #expect(text(.compact) == Self.sample)
        #expect(
            text(.pretty(blockDepth: 1)) == """
                {
                  "a": [],
                  "b": {},
                  "c": [1, { "d": "\\n\\"\\\\\\u0001/é" }],
                  "e": { "f": null, "g": [true] }
                }

                """)
        #expect(
            text(.pretty(blockDepth: 2)) == """
                {
                  "a": [],
                  "b": {},
                  "c": [
                    1,
                    { "d": "\\n\\"\\\\\\u0001/é" }
                  ],
                  "e": {
                    "f": null,
                    "g": [true]
                  }
                }

                """)
    }
}
