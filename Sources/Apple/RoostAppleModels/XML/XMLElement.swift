package import RoostCore

/// One element of an XML document.
package struct XMLElement {
    package let name: String
    package let attributes: [XMLAttribute]
    package let line: Int
    package var children: [XMLElement] = []
    /// The element's own text, without the text of its children.
    package var text = ""

    package subscript(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

    package func children(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    /// Reads a document that ``XMLPullParser`` accepts.
    package static func document(
        _ bytes: [UInt8], file: String, allowsPlainDoctype: Bool = false
    ) throws(StoreError) -> XMLElement {
        var parser = try XMLPullParser(bytes, file: file, allowsPlainDoctype: allowsPlainDoctype)
        // The open elements, outermost first. The parser limits their number.
        var open: [XMLElement] = []
        var root: XMLElement?
        while let event = try parser.next() {
            switch event {
            case .start(let name, let attributes, let line):
                open.append(XMLElement(name: name, attributes: attributes, line: line))
            case .text(let text):
                if let last = open.indices.last { open[last].text += text }
            case .end:
                guard let element = open.popLast() else { continue }
                if let parent = open.indices.last { open[parent].children.append(element) } else { root = element }
            }
        }
        guard let root else { throw StoreError(.invalidModel, "\(file):1: the document has no element.") }
        return root
    }
}
