import Foundation

/// The program `seeds DIRECTORY`, which writes the fuzzer's initial inputs into a directory.
@main
enum ModelFileSeeds {
    static func main() throws {
        let directory = URL(fileURLWithPath: CommandLine.arguments[1])
        for (name, bytes) in [
            ("sample.mom", sampleArchive()), ("small.mom", small()), ("expression", expression()),
            ("model.xml", Array(model.utf8)), ("mapping.xml", mapping()), ("model.json", Array(document.utf8)),
        ] {
            try Data(bytes).write(to: directory.appendingPathComponent(name))
        }
    }

    private static func decimal(_ a: inout ArchiveWriter) -> TestPlist {
        a.object(
            "NSDecimalNumberPlaceholder",
            fields: [
                ("NS.mantissa", .data([10] + [UInt8](repeating: 0, count: 15))), ("NS.mantissa.bo", .int(1)),
                ("NS.exponent", .int(3)), ("NS.length", .int(1)), ("NS.negative", .bool(false)),
            ])
    }

    /// Returns the archive of a model with one attribute, whose default value is a decimal.
    private static func small() -> [UInt8] {
        var a = ArchiveWriter()
        let value = decimal(&a)
        let attribute = a.object(
            "NSAttributeDescription",
            fields: [
                ("NSPropertyName", a.string("a")), ("NSAttributeType", .int(400)), ("NSIsOptional", .bool(true)),
                ("NSDefaultValue", value),
            ])
        let properties = a.dictionary([("a", attribute)])
        let entity = a.object(
            "NSEntityDescription", fields: [("NSEntityName", a.string("E")), ("NSProperties", properties)])
        let entities = a.dictionary([("E", entity)])
        let root = a.object("NSManagedObjectModel", fields: [("NSEntities", entities)])
        return a.archive(root)
    }

    /// Returns an archived function call with a list of constants and a key path as arguments.
    private static func expression() -> [UInt8] {
        var a = ExpressionArchive()
        let number = decimal(&a.writer)
        let constants = [a.constant(object: number), a.constant(.string("text")), a.constant(.date(1.5))]
        let list = a.writer.list(constants)
        let aggregate = a.writer.object("NSAggregateExpression", fields: [("NSCollection", list)])
        let source = a.variable("source")
        let path = a.keyPath("country.name", of: source)
        let root = a.function(
            "destinationInstancesForSourceRelationshipNamed:", of: source, arguments: [aggregate, path])
        return a.writer.archive(root)
    }

    private static let model = """
        <?xml version="1.0"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="1">
          <entity name="A" elementID="B" isAbstract="YES">
            <attribute name="d" optional="YES" attributeType="Decimal" defaultValueString="1e127" minValueString="-5"/>
            <attribute name="t" attributeType="Date" defaultDateTimeInterval="1.5" maxValueString="12/31/2013"/>
            <attribute name="s" attributeType="String" minValueString="1" regularExpressionString="a*"/>
            <relationship name="r" toMany="YES" minCount="1" maxCount="9" ordered="YES" destinationEntity="C" inverseName="a"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="s"/></uniquenessConstraint></uniquenessConstraints>
          </entity>
          <entity name="C" parentEntity="A"><relationship name="a" destinationEntity="A" inverseName="r"/></entity>
        </model>
        """

    private static func mapping() -> [UInt8] {
        var file = MappingFileText()
        let data = Data(expression()).base64EncodedString()
        let attribute = file.attribute("a", attributes: [("valueexpressiondata", data)])
        file.entity(from: "E", to: "E", number: 1, attributeMappings: [attribute])
        return file.bytes
    }

    private static let document = """
        {"formatVersion": 1, "entities": {"A": {"attributes": {"d": {"type": "decimal", "defaultValue": "1e127"},
          "i": {"type": "integer16", "defaultValue": 5, "minimum": -1}}, "relationships":
          {"r": {"destination": "A", "inverse": "r", "minCount": 1, "maxCount": 3}}}}}
        """
}
