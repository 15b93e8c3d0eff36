import Foundation

/// The text of a mapping model file, as Xcode writes it.
struct MappingFileText {
    private var objects: [(identifier: String, text: String)] = []
    private var links: [String] = []
    private let modelAttributes: [(String, String)]

    init(_ modelAttributes: [(String, String)] = []) { self.modelAttributes = modelAttributes }

    /// Adds a property mapping and returns its identifier.
    mutating func property(_ kind: String, _ attributes: [(String, String)]) -> String {
        add("XDDEV\(kind)MAPPING", attributes, [])
    }

    mutating func attribute(_ name: String, _ attributes: [(String, String)] = []) -> String {
        property("ATTRIBUTE", [("name", name)] + attributes)
    }

    mutating func relationship(_ name: String, _ attributes: [(String, String)] = []) -> String {
        property("RELATIONSHIP", [("name", name), ("autogenerateexpression", "1")] + attributes)
    }

    /// Adds an entity mapping, to which the mapping model links unless it `isOrphan`.
    mutating func entity(
        _ source: String?, _ destination: String?, number: Int, _ attributes: [(String, String)] = [],
        attributeMappings: [String] = [], relationshipMappings: [String] = [], isOrphan: Bool = false
    ) {
        let identifier = add(
            "XDDEVENTITYMAPPING",
            [("mappingtypename", "Undefined"), ("mappingnumber", "\(number)"), ("autogenerateexpression", "1")]
                + (source.map { [("sourcename", $0)] } ?? []) + (destination.map { [("destinationname", $0)] } ?? [])
                + attributes,
            [
                ("attributemappings", attributeMappings.joined(separator: " ")),
                ("relationshipmappings", relationshipMappings.joined(separator: " ")),
            ])
        if !isOrphan { links.append(identifier) }
    }

    private mutating func add(
        _ type: String, _ attributes: [(String, String)], _ relationships: [(String, String)]
    ) -> String {
        let identifier = "z\(102 + objects.count)"
        objects.append((identifier, Self.object(type, identifier, attributes, relationships)))
        return identifier
    }

    private static func object(
        _ type: String, _ identifier: String, _ attributes: [(String, String)], _ relationships: [(String, String)]
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
        \(Self.object("XDDEVMAPPINGMODEL", "z101", modelAttributes, [("entitymappings", links.joined(separator: " "))]))\
        </database>

        """
    }

    var bytes: [UInt8] { Array(text.utf8) }
}

/// Archives of expressions, as Foundation writes them.
struct ExpressionArchive {
    var writer = ArchiveWriter()

    mutating func variable(_ name: String) -> TestPlist {
        writer.object("NSVariableExpression", [("NSVariable", writer.string(name)), ("NSExpressionType", .int(2))])
    }

    mutating func constant(_ value: TestPlist) -> TestPlist {
        writer.object(
            "NSConstantValueExpression", [("NSConstantValue", writer.add(value)), ("NSExpressionType", .int(0))])
    }

    /// Adds a constant that is already an object of the archive.
    mutating func constant(object: TestPlist) -> TestPlist {
        writer.object("NSConstantValueExpression", [("NSConstantValue", object), ("NSExpressionType", .int(0))])
    }

    mutating func keyPath(_ path: String, of operand: TestPlist) -> TestPlist {
        let specifier = writer.object(
            "NSKeyPathSpecifierExpression", [("NSKeyPath", writer.string(path)), ("NSExpressionType", .int(10))])
        return writer.object(
            "NSKeyPathExpression",
            [
                ("NSOperand", operand), ("NSSelectorName", writer.string("valueForKeyPath:")),
                ("NSArguments", writer.list([specifier], "NSMutableArray")), ("NSExpressionType", .int(4)),
            ])
    }

    mutating func function(_ name: String, of operand: TestPlist, _ arguments: [TestPlist]) -> TestPlist {
        writer.object(
            "NSFunctionExpression",
            [
                ("NSOperand", operand), ("NSSelectorName", writer.string(name)),
                ("NSArguments", writer.list(arguments)), ("NSExpressionType", .int(4)),
            ])
    }

    /// Adds a function of the language itself, whose operand is a class.
    mutating func function(_ name: String, _ arguments: [TestPlist], of className: String = "_NSPredicateUtilities")
        -> TestPlist
    {
        let operand = writer.object(
            "NSConstantValueExpression",
            [("NSConstantValueClassName", writer.string(className)), ("NSExpressionType", .int(0))])
        return function(name, of: operand, arguments)
    }

    /// Adds a comparison, an `NSPredicateOperator` with its number, modifier and options.
    mutating func comparison(
        _ left: TestPlist, _ type: Int64, _ right: TestPlist, modifier: Int64 = 0, options: (String, Int64)? = nil
    ) -> TestPlist {
        var fields: [(String, TestPlist)] = [("NSOperatorType", .int(type)), ("NSModifier", .int(modifier))]
        if let options { fields.append((options.0, .int(options.1))) }
        let operation = writer.object("NSComparisonPredicateOperator", fields)
        return writer.object(
            "NSComparisonPredicate",
            [("NSLeftExpression", left), ("NSRightExpression", right), ("NSPredicateOperator", operation)])
    }

    mutating func compound(_ type: Int64, _ members: [TestPlist]) -> TestPlist {
        writer.object(
            "NSCompoundPredicate",
            [("NSCompoundPredicateType", .int(type)), ("NSSubpredicates", writer.list(members))])
    }

    mutating func subquery(_ collection: TestPlist, _ variable: TestPlist, _ predicate: TestPlist) -> TestPlist {
        writer.object(
            "NSSubqueryExpression",
            [
                ("NSExpression", collection), ("NSVariable", variable), ("NSSubpredicate", predicate),
                ("NSExpressionType", .int(13)),
            ])
    }

    mutating func ternary(_ predicate: TestPlist, _ whenTrue: TestPlist, _ whenFalse: TestPlist) -> TestPlist {
        writer.object(
            "NSTernaryExpression",
            [
                ("NSPredicate", predicate), ("NSTrueExpression", whenTrue), ("NSFalseExpression", whenFalse),
                ("NSExpressionType", .int(20)),
            ])
    }

    /// Returns the archive of an expression, as base64 text.
    func data(_ root: TestPlist) -> String { Data(writer.archive(root)).base64EncodedString() }

    static func data(_ make: (inout ExpressionArchive) -> TestPlist) -> String {
        var archive = ExpressionArchive()
        let root = make(&archive)
        return archive.data(root)
    }
}
