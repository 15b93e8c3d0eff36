#if Interactive
    internal import Foundation
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostSystem

    /// A writer of values as JSON for the page.
    ///
    /// - Integers beyond ±2^53 and decimals are strings, so that no reader rounds them. NaN and
    ///   infinities are strings, because JSON does not support them.
    /// - Dates are strings in ISO 8601. A date that `DateText` cannot write exactly is the number
    ///   of seconds since 2001-01-01.
    /// - Long texts are truncated. Binary data become their length, ``DataKind`` and first bytes.
    struct CellWriter {
        /// The maximum number of characters of a text.
        var textLimit = 200
        /// The maximum number of bytes that are shown in hexadecimal.
        var byteLimit = 16
        var titles: ObjectTitles

        func node(_ value: Value, type: AttributeType? = nil, elements: [AttributeDescription] = []) -> JSONNode {
            switch value {
            case .null: .null
            case .bool(let flag): JSONNode(flag)
            case .int(let number): JSONNode(number)
            case .double(let number): Self.number(number, isFloat: type == .float)
            case .decimal(let number): JSONNode(number.isNaN ? "NaN" : number.description)
            case .string(let text), .uri(let text): self.text(text)
            case .data(let data): bytes(data)
            case .date(let date): Self.date(date)
            case .uuid(let uuid): JSONNode(uuid.uuidString)
            case .objectID(let id): titles.node(id)
            case .composite(let values):
                JSONNode([
                    "composite": JSONNode(
                        .object(
                            values.filter { !$0.value.isNull }.sorted { $0.key < $1.key }.map { name, value in
                                let element = elements.first { $0.name == name }
                                return JSONMember(
                                    name, node(value, type: element?.type, elements: element?.elements ?? []))
                            }))
                ])
            }
        }

        private static func number(_ number: Double, isFloat: Bool) -> JSONNode {
            guard number.isFinite else {
                return JSONNode(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
            }
            // As a double, the float 0.1 would be written as 0.10000000149011612.
            let text = isFloat ? Float(number).description : number.description
            return JSONNode(.number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text))
        }

        static func date(_ date: Date) -> JSONNode {
            let seconds = date.timeIntervalSinceReferenceDate
            return DateText.text(seconds).map { JSONNode($0) } ?? number(seconds, isFloat: false)
        }

        private func text(_ text: String) -> JSONNode {
            // Counting characters is slow. A text of at most `textLimit` bytes needs no count.
            guard text.utf8.count > textLimit,
                let end = text.index(
                    text.startIndex, offsetBy: textLimit, limitedBy: text.endIndex), end < text.endIndex
            else { return JSONNode(text) }
            return JSONNode(["text": JSONNode(String(text[..<end])), "length": JSONNode(text.count)])
        }

        private func bytes(_ data: Data) -> JSONNode {
            JSONNode([
                "bytes": JSONNode(data.count), "kind": JSONNode(DataKind(data.prefix(16))?.rawValue),
                "hex": JSONNode(Hexadecimal.text(data.prefix(byteLimit))),
            ])
        }
    }

    /// The likely kind of data, recognized by the first bytes.
    enum DataKind: String {
        case png, jpeg, gif, webp, pdf, plist, json, zip

        init?(_ start: some Collection<UInt8>) {
            func begins(_ bytes: [UInt8]) -> Bool { start.starts(with: bytes) }
            if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                self = .png
            } else if begins([0xFF, 0xD8, 0xFF]) {
                self = .jpeg
            } else if begins(Array("GIF87a".utf8)) || begins(Array("GIF89a".utf8)) {
                self = .gif
            } else if begins(Array("RIFF".utf8)), start.dropFirst(8).starts(with: Array("WEBP".utf8)) {
                self = .webp
            } else if begins(Array("%PDF-".utf8)) {
                self = .pdf
            } else if begins(Array("bplist".utf8)) {
                self = .plist
            } else if begins([0x50, 0x4B, 0x03, 0x04]) {
                self = .zip
            } else if let first = start.first(where: { !" \t\r\n".utf8.contains($0) }), "{[".utf8.contains(first) {
                self = .json
            } else {
                return nil
            }
        }

        /// The MIME type of an image that cannot contain scripts, or nil for all other data,
        /// including SVG.
        var imageType: String? {
            switch self {
            case .png: "image/png"
            case .jpeg: "image/jpeg"
            case .gif: "image/gif"
            case .webp: "image/webp"
            case .pdf, .plist, .json, .zip: nil
            }
        }
    }
#endif
