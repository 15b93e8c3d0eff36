#if Interactive
    internal import Foundation
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostSystem

    /// The value of an attribute, on a page of its own.
    struct PropertyView {
        private static let textLimit = 4 << 20

        let viewed: ViewedStore
        let id: ObjectID
        let attribute: AttributeDescription

        private func value(_ snapshot: any StoreSnapshot) throws -> (value: Value, record: Record) {
            let entity = try viewed.entity(id.entity.text)
            let record = try viewed.record(id, entity: entity, snapshot: snapshot)
            return (try record.value(attribute.name), record)
        }

        func answer() throws -> JSONNode {
            try viewed.read { snapshot in
                let (value, record) = try value(snapshot)
                var titles = ObjectTitles(viewed.model)
                if case .objectID(let id) = value { try titles.read([id], from: snapshot) }
                try titles.read([id], from: snapshot)
                let bytes = Self.bytes(value)
                var dump: String?
                if case .data = value { dump = bytes.map { PropertyForms.dump($0) } }
                let writer = CellWriter(textLimit: Self.textLimit, byteLimit: 256, titles: titles)
                return JSONNode([
                    "owner": titles.node(record.id),
                    "property": JSONNode([
                        "name": JSONNode(attribute.name), "kind": JSONNode("attribute"),
                        "type": JSONNode(attribute.type.name),
                        "isOptional": JSONNode(attribute.isOptional),
                        "value": writer.node(value, type: attribute.type, elements: attribute.elements),
                    ]), "formatted": JSONNode(bytes.flatMap { PropertyForms.formatted($0) }), "hexdump": JSONNode(dump),
                ])
            }
        }

        /// Returns the bytes of the value, as an image or as a file to save.
        ///
        /// Only images that cannot contain scripts are sent as images. All other data, including
        /// SVG and HTML, are files to save.
        func file() throws -> HTTPResponse {
            let bytes = try viewed.read { snapshot in Self.bytes(try value(snapshot).value) }
            guard let bytes else { throw ViewerError(.notFound, message: "'\(attribute.name)' of \(id) has no bytes.") }
            let image = DataKind(bytes.prefix(16))?.imageType
            let name = "\(id.entity)-\(id.key)-\(attribute.name)"
            let disposition = image == nil ? "attachment" : "inline"
            return HTTPResponse(
                type: image ?? "application/octet-stream", body: bytes,
                headers: [
                    ("Content-Disposition", "\(disposition); filename*=UTF-8''\(Hexadecimal.percentEncoded(name))"),
                    ("Content-Security-Policy", PageFiles.valuePolicy),
                ])
        }

        private static func bytes(_ value: Value) -> [UInt8]? {
            switch value {
            case .data(let data): Array(data)
            case .string(let text), .uri(let text): Array(text.utf8)
            default: nil
            }
        }
    }
#endif
