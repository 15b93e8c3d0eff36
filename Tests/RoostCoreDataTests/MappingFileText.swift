import Foundation

/// The text of a mapping model file, as Xcode writes it.
struct MappingFileText {
    private var objects: [(identifier: String, text: String)] = []
    private var links: [String] = []
    private let modelAttributes: [(String, String)]

    init(_ modelAttributes: [(String, String)] = []) { self.modelAttributes = modelAttributes }

    mutating func property(_ kind: String, attributes: [(String, String)]) -> String {
        add("XDDEV\(kind)MAPPING", attributes: attributes, relationships: [])
    }

    mutating func attribute(_ name: String, attributes: [(String, String)] = []) -> String {
        property("ATTRIBUTE", attributes: [("name", name)] + attributes)
    }

    mutating func relationship(_ name: String, attributes: [(String, String)] = []) -> String {
        property("RELATIONSHIP", attributes: [("name", name), ("autogenerateexpression", "1")] + attributes)
    }

    /// Adds an entity mapping; the mapping model links to it unless `isOrphan` is set.
    mutating func entity(
        from source: String?, to destination: String?, number: Int, attributes: [(String, String)] = [],
        attributeMappings: [String] = [], relationshipMappings: [String] = [], isOrphan: Bool = false
    ) {
        let identifier = add(
            "XDDEVENTITYMAPPING",
            attributes: [
                ("mappingtypename", "Undefined"), ("mappingnumber", "\(number)"), ("autogenerateexpression", "1"),
            ]
                + (source.map { [("sourcename", $0)] } ?? []) + (destination.map { [("destinationname", $0)] } ?? [])
                + attributes,
            relationships: [
                ("attributemappings", attributeMappings.joined(separator: " ")),
                ("relationshipmappings", relationshipMappings.joined(separator: " ")),
            ])
        if !isOrphan { links.append(identifier) }
    }

    private mutating func add(
        _ type: String, attributes: [(String, String)], relationships: [(String, String)]
    ) -> String {
        let identifier = "z\(102 + objects.count)"
        objects.append(
            (
                identifier,
                Self.object(type, identifier: identifier, attributes: attributes, relationships: relationships)
            ))
        return identifier
    }

    private static func object(
        _ type: String, identifier: String, attributes: [(String, String)], relationships: [(String, String)]
    ) -> String {
        var text = "    <object type=\"\(type)\" id=\"\(identifier)\">\n"
        for (name, value) in attributes {
            let kind = name.hasSuffix("data") ? "binary" : "string"
            text += "        <attribute name=\"\(name)\" type=\"\(kind)\">\(value)</attribute>\n"
        }
        for (name, references) in relationships {
            text += "        <relationship name=\"\(name)\" type=\"0/0\" idrefs=\"\(references)\"></relationship>\n"
        }
        return text + "    </object>\n"
    }

    var text: String {
        """
        <?xml version="1.0" standalone="yes"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

        <database>
            <databaseInfo><version>134481920</version></databaseInfo>
        \(objects.map(\.text).joined())\
        \(Self.object("XDDEVMAPPINGMODEL", identifier: "z101", attributes: modelAttributes, relationships: [("entitymappings", links.joined(separator: " "))]))\
        </database>

        """
    }

    var bytes: [UInt8] { Array(text.utf8) }
}

/// A writer of archived expressions in Foundation's format.
struct ExpressionArchive {
    var writer = ArchiveWriter()

    mutating func variable(_ name: String) -> TestPlist {
        writer.object(
            "NSVariableExpression", fields: [("NSVariable", writer.string(name)), ("NSExpressionType", .int(2))])
    }

    mutating func constant(_ value: TestPlist) -> TestPlist {
        writer.object(
            "NSConstantValueExpression",
            fields: [("NSConstantValue", writer.add(value)), ("NSExpressionType", .int(0))])
    }

    /// Adds a constant whose value is already an object of the archive.
    mutating func constant(object: TestPlist) -> TestPlist {
        writer.object(
            "NSConstantValueExpression", fields: [("NSConstantValue", object), ("NSExpressionType", .int(0))])
    }

    mutating func keyPath(_ path: String, of operand: TestPlist) -> TestPlist {
        let specifier = writer.object(
            "NSKeyPathSpecifierExpression",
            fields: [("NSKeyPath", writer.string(path)), ("NSExpressionType", .int(10))])
        return writer.object(
            "NSKeyPathExpression",
            fields: [
                ("NSOperand", operand), ("NSSelectorName", writer.string("valueForKeyPath:")),
                ("NSArguments", writer.list([specifier], className: "NSMutableArray")), ("NSExpressionType", .int(4)),
            ])
    }

    mutating func function(_ name: String, of operand: TestPlist, arguments: [TestPlist]) -> TestPlist {
        writer.object(
            "NSFunctionExpression",
            fields: [
                ("NSOperand", operand), ("NSSelectorName", writer.string(name)),
                ("NSArguments", writer.list(arguments)), ("NSExpressionType", .int(4)),
            ])
    }

    /// Adds a call of a predicate function, whose operand is the class `className`.
    mutating func function(_ name: String, arguments: [TestPlist], of className: String = "_NSPredicateUtilities")
        -> TestPlist
    {
        let operand = writer.object(
            "NSConstantValueExpression",
            fields: [("NSConstantValueClassName", writer.string(className)), ("NSExpressionType", .int(0))])
        return function(name, of: operand, arguments: arguments)
    }

    /// Adds a comparison whose operator has the number `type`.
    ///
    /// `options` is the key and the value of the operator's options in the archive.
    mutating func comparison(
        _ left: TestPlist, type: Int64, to right: TestPlist, modifier: Int64 = 0, options: (String, Int64)? = nil
    ) -> TestPlist {
        var fields: [(String, TestPlist)] = [("NSOperatorType", .int(type)), ("NSModifier", .int(modifier))]
        if let options { fields.append((options.0, .int(options.1))) }
        let operation = writer.object("NSComparisonPredicateOperator", fields: fields)
        return writer.object(
            "NSComparisonPredicate",
            fields: [("NSLeftExpression", left), ("NSRightExpression", right), ("NSPredicateOperator", operation)])
    }

    mutating func compound(_ type: Int64, members: [TestPlist]) -> TestPlist {
        writer.object(
            "NSCompoundPredicate",
            fields: [("NSCompoundPredicateType", .int(type)), ("NSSubpredicates", writer.list(members))])
    }

    mutating func subquery(of collection: TestPlist, variable: TestPlist, predicate: TestPlist) -> TestPlist {
        writer.object(
            "NSSubqueryExpression",
            fields: [
                ("NSExpression", collection), ("NSVariable", variable), ("NSSubpredicate", predicate),
                ("NSExpressionType", .int(13)),
            ])
    }

    mutating func ternary(_ predicate: TestPlist, whenTrue: TestPlist, whenFalse: TestPlist) -> TestPlist {
        writer.object(
            "NSTernaryExpression",
            fields: [
                ("NSPredicate", predicate), ("NSTrueExpression", whenTrue), ("NSFalseExpression", whenFalse),
                ("NSExpressionType", .int(20)),
            ])
    }

    func data(_ root: TestPlist) -> String { Data(writer.archive(root)).base64EncodedString() }

    static func data(_ make: (inout ExpressionArchive) -> TestPlist) -> String {
        var archive = ExpressionArchive()
        let root = make(&archive)
        return archive.data(root)
    }
}
