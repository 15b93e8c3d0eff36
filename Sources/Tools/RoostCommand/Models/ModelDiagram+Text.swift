extension ModelDiagram {
    // MARK: Mermaid

    /// The diagram in Mermaid: <https://mermaid.js.org/syntax/classDiagram.html>.
    var mermaid: String {
        var lines = ["classDiagram"]
        for (position, box) in boxes.enumerated() {
            lines.append("    class e\(position)[\"\(Self.mermaid(box.name))\"] {")
            if box.isAbstract { lines.append("        <<abstract>>") }
            for row in box.rows {
                let mark = row.change.map { ", \($0.rawValue)" } ?? ""
                lines.append("        \(Self.mermaid(row.text))\(mark)")
            }
            lines.append("    }")
            if let color = box.change?.color { lines.append("    style e\(position) fill:\(color)") }
        }
        for line in inheritances {
            let mark = line.change.map { " : \($0.rawValue)" } ?? ""
            lines.append("    e\(line.superentity) <|-- e\(line.entity)\(mark)")
        }
        for line in connections {
            let source = line.sourceCount.map { " \"\($0)\"" } ?? ""
            let labels = line.labels.map(Self.mermaid).joined(separator: " / ")
            let mark = line.change.map { ", \($0.rawValue)" } ?? ""
            lines.append(
                "    e\(line.source)\(source) \(line.sourceCount == nil ? "-->" : "--") \"\(line.destinationCount)\" e\(line.destination) : \(labels)\(mark)"
            )
        }
        return lines.joined(separator: "\n")
    }

    private static func mermaid(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            let isPlain = !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            // The colon between a property's name and its type needs no escape.
            return isPlain || " _,.?:".unicodeScalars.contains(scalar) ? String(scalar) : "#\(scalar.value);"
        }.joined()
    }

    // MARK: DOT

    /// The diagram for Graphviz: <https://graphviz.org/doc/info/lang.html>.
    var dot: String {
        var lines = [
            "digraph model {", "    graph [rankdir=LR];", "    node [shape=plain, fontname=\"Helvetica\"];",
            "    edge [fontname=\"Helvetica\", fontsize=10];",
        ]
        for (position, box) in boxes.enumerated() {
            let name = Self.html(box.name)
            let title = box.isAbstract ? "<i>\(name)</i>" : "<b>\(name)</b>"
            let color = box.change.map { " bgcolor=\"\($0.color)\"" } ?? ""
            var table = "<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"4\">"
            table += "<tr><td\(color)>\(title)</td></tr>"
            for row in box.rows {
                let color = row.change.map { " bgcolor=\"\($0.color)\"" } ?? ""
                table += "<tr><td align=\"left\"\(color)>\(Self.html(row.text))</td></tr>"
            }
            lines.append("    e\(position) [label=<\(table)</table>>];")
        }
        for line in inheritances {
            let color = line.change.map { ", color=\"\($0.lineColor)\"" } ?? ""
            lines.append("    e\(line.entity) -> e\(line.superentity) [arrowhead=empty\(color)];")
        }
        for line in connections {
            let color = line.change.map { ", color=\"\($0.lineColor)\", fontcolor=\"\($0.lineColor)\"" } ?? ""
            let source = line.sourceCount.map { "dir=none, taillabel=\"\($0)\", " } ?? ""
            let label = line.labels.map(Self.quoted).joined(separator: "\\n")
            lines.append(
                "    e\(line.source) -> e\(line.destination) [\(source)headlabel=\"\(line.destinationCount)\", label=\"\(label)\"\(color)];"
            )
        }
        lines.append("}")
        return lines.joined(separator: "\n")
    }

    private static func html(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    /// Escapes a text for a quoted string of Graphviz.
    private static func quoted(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}

extension ModelDiagram.Change {
    /// The background color of a box or row.
    var color: String {
        switch self {
        case .added: "#c8f0c8"
        case .removed: "#f6caca"
        case .changed: "#fbe9b0"
        }
    }

    var lineColor: String {
        switch self {
        case .added: "#1a7f1a"
        case .removed: "#b02020"
        case .changed: "#9a6a00"
        }
    }
}
