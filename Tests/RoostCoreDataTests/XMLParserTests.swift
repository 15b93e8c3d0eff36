import Foundation
import RoostCore
import Testing

@testable import RoostAppleModels
@testable import RoostCoreData

@Suite("The XML parser")
struct XMLParserTests {
    func parse(_ text: String) throws -> XMLElement { try XMLElement.document(Array(text.utf8), file: "f") }

    @Test("the XML parser reads elements, attributes, text, comments and CDATA")
    func readsDocument() throws {
        let root = try parse(
            "<?xml version='1.0'?><!-- <x> --><a b='1' c=\"&quot;&#10;\"><d>t&amp;<![CDATA[<u>]]></d>\n<e/></a>\n")
        #expect(root.name == "a" && root["b"] == "1" && root["c"] == "\"\n")
        #expect(root.children.map(\.name) == ["d", "e"] && root.children.map(\.line) == [1, 2])
        #expect(root.children.first?.text == "t&<u>")
    }

    @Test("lines of XML are counted, whether they end with LF, CR LF or CR", arguments: ["\n", "\r\n", "\r"])
    func lineNumbers(lineEnd: String) throws {
        let text = "<!-- 1\n2 -->\n<a\nb='4\n5'><c/>\n<d/></a>".replacing("\n", with: lineEnd)
        #expect(try parse(text).children.map(\.line) == [5, 6])
    }

    @Test("each form of a line end in a CDATA section becomes LF")
    func linesOfCDATA() throws {
        #expect(try parse("<a><![CDATA[1\r\n2\r3\n\t4\r]]></a>").text == "1\n2\n3\n\t4\n")
    }

    @Test(
        "malformed XML is refused",
        arguments: [
            "<a><![CDATA[\u{1}]]></a>", "", "text", "<a>", "<a></b>", "<a/><b/>", "<a b='1' b='2'/>", "<a b=1/>",
            "<a b/>", "<a>&nbsp;</a>",
            "<a>& </a>",
            "<a b='<'/>", "<a>\u{1}</a>", "<a", "<a b='", "<a><!-- ", "<a>&#0;</a>", "<a>&#xD800;</a>", "</a>",
            "<a b='1'c='2'/>", "<1/>",
        ])
    func malformed(text: String) throws {
        #expect(try failure { try parse(text) }.code == .invalidModel)
    }

    @Test(
        "document types and entities of XML are refused in UTF-8 and UTF-16",
        arguments: [
            "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "<!DOCTYPE a><a/>",
            "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>",
            "<a><!ENTITY x 'y'></a>", "<a><!ELEMENT b ANY></a>",
            "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">]><l>&c;</l>",
        ])
    func declarations(text: String) throws {
        for bytes in [Array(text.utf8), Self.utf16(text, isBigEndian: true), Self.utf16(text, isBigEndian: false)] {
            let error = try failure { try XMLElement.document(bytes, file: "f") }
            #expect(error.code == .invalidModel && error.message.contains("refused"))
        }
    }

    @Test(
        "UTF-16 of either byte order is read with and without a byte order mark", arguments: [true, false],
        [true, false])
    func readsUTF16(isBigEndian: Bool, hasMark: Bool) throws {
        let root = try XMLElement.document(
            Self.utf16((hasMark ? "\u{FEFF}" : "") + "<a b='ä€😀'/>", isBigEndian: isBigEndian), file: "f")
        #expect(root["b"] == "ä€😀")
    }

    @Test("UTF-8 is read after a byte order mark")
    func readsMarkedUTF8() throws {
        let bytes: [UInt8] = [0xEF, 0xBB, 0xBF] + Array("<a b='ä€😀'/>".utf8)
        #expect(try XMLElement.document(bytes, file: "f")["b"] == "ä€😀")
    }

    @Test("an encoding other than UTF-8 and UTF-16 is refused, and the error names it")
    func otherEncodings() throws {
        #expect(
            try failure { try parse("<?xml version='1.0' encoding='ISO-8859-1'?><a/>") }.message.contains("ISO-8859-1"))
        #expect(
            try failure { try XMLElement.document([0, 0, 0, 0x3C, 0, 0, 0, 0x61], file: "f") }.message.contains(
                "UTF-32"))
    }

    @Test("malformed UTF-8 and UTF-16 are refused")
    func malformedEncodings() throws {
        #expect(
            try failure { try XMLElement.document(Array("<a b='".utf8) + [0xFF] + Array("'/>".utf8), file: "f") }.code
                == .invalidModel)
        #expect(try failure { try XMLElement.document([0xFE, 0xFF, 0, 0x3C, 0xD8], file: "f") }.code == .invalidModel)
    }

    @Test("the XML parser limits depth, attributes, elements and text")
    func enforcesLimits() throws {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(try failure { try parse(deep) }.code == .limitExceeded)
        let wide = "<a " + (0..<65).map { "a\($0)='1' " }.joined() + "/>"
        #expect(try failure { try parse(wide) }.code == .limitExceeded)
        #expect(try parse("<a " + (0..<64).map { "a\($0)='1' " }.joined() + "/>").attributes.count == 64)
        #expect(
            try failure { try parse("<r>" + String(repeating: "<a/>", count: 260_000) + "</r>") }.code == .limitExceeded
        )
        #expect(
            try failure { try parse("<a>" + String(repeating: "x", count: 5 << 20) + "</a>") }.code == .limitExceeded)
    }

    @Test("an XML element with 200 000 attributes is refused at the limit")
    func quadratic() throws {
        let many = "<a " + (0..<200_000).map { "a\($0)='' " }.joined() + "/>"
        #expect(try failure { try parse(many) }.code == .limitExceeded)
    }

    @Test("truncated or changed XML gives a model or an error with a known code")
    func mutations() throws {
        let text = Array(
            "<?xml version='1.0' encoding='UTF-8'?><model><entity name='E'><attribute name='a' attributeType='String' defaultValueString='&amp;x'/></entity></model>"
                .utf8)
        for position in text.indices {
            for byte in [0, 0x20, 0x22, 0x26, 0x2F, 0x3C, 0x3E, 0xC3, 0xFF] as [UInt8] {
                var changed = text
                changed[position] = byte
                do { _ = try CoreDataModelReader.read(xml: changed, file: "f") } catch let error {
                    #expect([.invalidModel, .limitExceeded].contains(error.code))
                }
            }
            do { _ = try CoreDataModelReader.read(xml: Array(text[..<position]), file: "f") } catch let error {
                #expect(error.code == .invalidModel)
            }
        }
    }

    static func utf16(_ text: String, isBigEndian: Bool) -> [UInt8] {
        text.utf16.flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isBigEndian ? [high, low] : [low, high]
        }
    }
}
