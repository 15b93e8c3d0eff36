import Foundation
import RoostAppleModels
import RoostCore
import RoostCoreData
import Testing

func readModel(_ body: String, root: String = "") throws -> (model: ManagedObjectModel, warnings: [ModelImportWarning])
{
    let text = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22222" \
        systemVersion="23A1" minimumToolsVersion="Automatic" sourceLanguage="Swift"\(root)>
        \(body)
        </model>
        """
    return try CoreDataModelReader.read(xml: Array(text.utf8), file: "contents")
}

@Suite("XML models")
struct XMLModelTests {
    func attribute(_ text: String) throws -> (attribute: AttributeDescription, warnings: [ModelImportWarning]) {
        let read = try readModel("<entity name=\"E\"><attribute name=\"a\" \(text)</entity>")
        return (try #require(read.model.entityDescriptions.first?.attributes.first), read.warnings)
    }

    func relationship(_ text: String) throws -> (relationship: RelationshipDescription, warnings: [ModelImportWarning])
    {
        let read = try readModel("<entity name=\"E\"><relationship name=\"r\" destinationEntity=\"E\" \(text)</entity>")
        return (try #require(read.model.entityDescriptions.first?.relationships.first), read.warnings)
    }

    // MARK: Limits

    /// Returns the processor time that this thread spends in `body`.
    private func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
        var (start, end) = (timespec(), timespec())
        #expect(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start) == 0)
        try body()
        #expect(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end) == 0)
        return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
    }

    @Test("a long chain of entities with relationships is read without a search for each relationship")
    func deepInheritance() throws {
        func seconds(count: Int) throws -> Double {
            let entities = (0..<count).map { number in
                let parent = number == 0 ? "" : " parentEntity=\"E\(number - 1)\""
                return """
                    <entity name="E\(number)"\(parent)><relationship name="r\(number)" optional="YES" maxCount="1" \
                    destinationEntity="E\(count - 1)" inverseName="r\(number)" inverseEntity="E\(count - 1)"/></entity>
                    """
            }
            return try processorSeconds { _ = try readModel(entities.joined(separator: "\n")) }
        }
        let time = try seconds(count: 100)
        // Searching the chain for each relationship would take about 200 times as long.
        #expect(try seconds(count: 600) < 80 * time)
    }

    @Test("relationships that lose their inverses one after another do not slow down reading a model")
    func successiveInverses() throws {
        /// Reads a model of two chains of entities.
        ///
        /// The inverse of each relationship is in the other chain and refers to a subentity. The
        /// last relationship has no inverse.
        func seconds(count: Int) -> Double {
            let entities = (0..<count).map { number in
                let (name, other) = number.isMultiple(of: 2) ? ("a", "b") : ("b", "a")
                let parent = number < 2 ? "" : " parentEntity=\"E\(number - 2)\""
                let next = min(number + 1, count - 1)
                let inverse = number == count - 1 ? "" : " inverseName=\"\(other)\" inverseEntity=\"E\(next)\""
                return """
                    <entity name="E\(number)"\(parent)><relationship name="\(name)" optional="YES" maxCount="1" \
                    destinationEntity="E\(next)"\(inverse)/></entity>
                    """
            }
            return processorSeconds {
                // Subentities redeclare the relationships, which no model may do.
                let refused = #expect(throws: StoreError.self) {
                    _ = try readModel(entities.joined(separator: "\n"))
                }
                #expect(refused?.code == .invalidModel)
            }
        }
        let time = seconds(count: 60)
        // Comparing all relationships after each one that loses its inverse would take over 200 times as long.
        #expect(seconds(count: 360) < 80 * time)
    }

    // MARK: Attributes

    @Test(
        "an attribute of each type is read from an XML model",
        arguments: [
            ("Integer 16", AttributeType.integer16), ("Integer 32", .integer32), ("Integer 64", .integer64),
            ("Decimal", .decimal), ("Double", .double), ("Float", .float), ("String", .string), ("Boolean", .boolean),
            ("Date", .date), ("Binary", .binaryData), ("UUID", .uuid), ("URI", .uri), ("Transformable", .transformable),
        ])
    func types(name: String, type: AttributeType) throws {
        let read = try attribute("attributeType=\"\(name)\"/>")
        #expect(read.attribute.type == type)
        #expect(read.attribute.isOptional == false)
        #expect(read.warnings.isEmpty)
    }

    @Test("an XML attribute without a type is transient and undefined")
    func undefined() throws {
        let read = try attribute("transient=\"YES\" optional=\"YES\"/>")
        #expect(read.attribute.type == .undefined && read.attribute.isTransient && read.attribute.isOptional)
    }

    @Test("an unknown attribute type is refused with its line")
    func unknownType() throws {
        let error = try failure { try attribute("attributeType=\"Quaternion\"/>") }
        #expect(
            error.code == .invalidModel && error.message.contains("contents:3") && error.message.contains("Quaternion"))
    }

    @Test(
        "an attribute's default value is read by its type",
        arguments: [
            ("Integer 16", "-7", Value.int(-7)), ("Integer 64", "9223372036854775807", .int(.max)),
            ("Integer 32", "5.0", .int(5)),
            ("Double", "0.5", .double(0.5)), ("Float", "0.0", .double(0)), ("Boolean", "YES", .bool(true)),
            ("Boolean", "NO", .bool(false)), ("String", "", .string("")),
            ("String", "a &lt; b&#x41;", .string("a < bA")),
            ("URI", "https://example.org/", .uri("https://example.org/")), ("Integer 16", "", .null),
        ])
    func defaults(type: String, text: String, value: Value) throws {
        let read = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
        #expect(read.attribute.defaultValue == value)
        #expect(read.warnings.isEmpty)
    }

    @Test("a decimal default is read exactly")
    func decimalDefault() throws {
        let decimal = try attribute("attributeType=\"Decimal\" defaultValueString=\"12.340\"/>").attribute.defaultValue
        #expect(decimal == .decimal(try #require(Decimal(string: "12.34"))))
    }

    @Test("a UUID default is read")
    func uuidDefault() throws {
        let uuid = try #require(UUID(uuidString: "3F2504E0-4F89-41D3-9A0C-0305E82C3301"))
        #expect(
            try attribute("attributeType=\"UUID\" defaultValueString=\"\(uuid)\"/>").attribute.defaultValue
                == .uuid(uuid))
    }

    @Test("a date default is read as seconds since 2001")
    func dateDefault() throws {
        let date = try attribute("attributeType=\"Date\" defaultDateTimeInterval=\"-3600\"/>").attribute.defaultValue
        #expect(date == .date(Date(timeIntervalSinceReferenceDate: -3600)))
    }

    @Test(
        "a default that its attribute's type cannot hold is ignored with a warning",
        arguments: [
            ("Integer 16", "70000"), ("Integer 32", "-2147483649"), ("UUID", "1"), ("Binary", "AA"), ("Date", "NO"),
        ])
    func badDefaults(type: String, text: String) throws {
        let read = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
        #expect(read.attribute.defaultValue == .null)
        #expect(read.warnings.count == 1)
        #expect(read.warnings.first?.line == 3)
        // A message never contains a value.
        #expect(read.warnings.first?.message.contains(text) == false || text == "1" || text == "NO")
    }

    @Test(
        "a default of another type is read as NSString reads it, with a warning",
        arguments: [
            ("Integer 32", "NO", Value.int(0)), ("Integer 64", "NO", .int(0)), ("Integer 16", "YES", .int(0)),
            ("Integer 32", "x", .int(0)), ("Integer 32", " 12 apples", .int(12)), ("Integer 64", "-7.5", .int(-7)),
            ("Integer 64", "+3e2", .int(3)), ("Integer 64", "9223372036854775808", .int(.max)),
            ("Integer 64", "-9223372036854775809", .int(.min)), ("Integer 16", "0x10", .int(0)),
            ("Integer 64", "--1", .int(0)), ("Integer 64", " ", .int(0)), ("Boolean", "maybe", .bool(false)),
            ("Boolean", "Yep", .bool(true)), ("Boolean", "truly", .bool(true)), ("Boolean", "7 of 9", .bool(true)),
            ("Boolean", " 00009x", .bool(true)), ("Boolean", "nay", .bool(false)), ("Boolean", "0x1", .bool(false)),
            ("Double", "a", .double(0)), ("Double", "NO", .double(0)), ("Double", " -1.5e1 m", .double(-15)),
            ("Float", "2.5f", .double(2.5)), ("Double", ".e1", .double(0)), ("Double", "3e", .double(3)),
        ])
    func defaultsOfOtherTypes(type: String, text: String, value: Value) throws {
        let read = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
        #expect(read.attribute.defaultValue == value)
        #expect(read.warnings.map(\.line) == [3])
        #expect(read.warnings.first?.message.contains("as in Core Data") == true)
    }

    @Test(
        "a default number in another form is read without a warning",
        arguments: [
            ("Boolean", "0.0", Value.bool(false)), ("Boolean", "1.0", .bool(true)), ("Boolean", "0", .bool(false)),
            ("Boolean", "-0", .bool(false)), ("Boolean", "true", .bool(true)), ("Integer 64", "0.0", .int(0)),
            ("Integer 16", "+5", .int(5)), ("Integer 32", "7.", .int(7)), ("Integer 64", "-12.000", .int(-12)),
            ("Integer 64", "-9223372036854775808", .int(.min)), ("Double", "1e3", .double(1000)),
        ])
    func defaultsInOtherForms(type: String, text: String, value: Value) throws {
        let read = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
        #expect(read.attribute.defaultValue == value)
        #expect(read.warnings.map(\.message) == [])
    }

    @Test(
        "a decimal default of another type is the number at its beginning, with a warning",
        arguments: [("NO", "0"), ("12.50 EUR", "12.5"), ("-3x", "-3")])
    func decimalsOfOtherTypes(text: String, number: String) throws {
        let read = try attribute("attributeType=\"Decimal\" defaultValueString=\"\(text)\"/>")
        #expect(read.attribute.defaultValue == .decimal(try #require(Decimal(string: number))))
        #expect(read.warnings.count == 1)
    }

    @Test("a leftover date default does not hide the default of another type")
    func dateIntervalOfOtherTypes() throws {
        let read = try attribute(
            "attributeType=\"Integer 32\" defaultDateTimeInterval=\"-3600\" defaultValueString=\"5\"/>")
        #expect(read.attribute.defaultValue == .int(5))
        #expect(read.warnings.count == 1)
    }

    @Test("the limits of a number are read from an XML model")
    func numberLimits() throws {
        let number = try attribute("attributeType=\"Integer 32\" minValueString=\"-1\" maxValueString=\"45\"/>")
        #expect(number.attribute.validation == AttributeValidation(minimum: .int(-1), maximum: .int(45)))
        #expect(number.warnings.isEmpty)
    }

    @Test("the lengths and the regular expression of a string are read from an XML model")
    func stringLimits() throws {
        let text = try attribute(
            "attributeType=\"String\" minValueString=\"3\" maxValueString=\"9\" regularExpressionString=\"[a-z]+\"/>")
        #expect(
            text.attribute.validation
                == AttributeValidation(minimumLength: 3, maximumLength: 9, regularExpression: "[a-z]+"))
        #expect(text.warnings.isEmpty)
    }

    @Test("date limits are read from seconds since 2001, even beside a limit in text form")
    func dateLimits() throws {
        let date = try attribute(
            "attributeType=\"Date\" minDateTimeInterval=\"407847600\" minValueString=\"12/4/2013\" maxDateTimeInterval=\"439470000\"/>"
        )
        #expect(date.attribute.validation.minimum == .date(Date(timeIntervalSinceReferenceDate: 407_847_600)))
        #expect(date.attribute.validation.maximum == .date(Date(timeIntervalSinceReferenceDate: 439_470_000)))
        #expect(date.warnings.isEmpty)
    }

    @Test("a date limit in the old form is midnight UTC, with a warning")
    func legacyDates() throws {
        let read = try attribute("attributeType=\"Date\" minValueString=\"12/4/2013\"/>")
        // 2013-12-04 00:00:00 UTC is 1386115200 seconds after 1970.
        #expect(read.attribute.validation.minimum == .date(Date(timeIntervalSince1970: 1_386_115_200)))
        #expect(read.warnings.count == 1)
    }

    @Test("a date limit that is not a date is ignored with a warning")
    func wrongDates() throws {
        let bad = try attribute("attributeType=\"Date\" maxValueString=\"31/31/2013\"/>")
        #expect(bad.attribute.validation.maximum == .null && bad.warnings.count == 1)
    }

    @Test("an attribute's flags, names and user info are read from an XML model")
    func attributeFlags() throws {
        let read = try attribute(
            """
            optional="YES" attributeType="Transformable" valueTransformerName="T" customClassName="[Int64]" \
            allowsExternalBinaryDataStorage="YES" preserveAfterDeletion="YES" spotlightIndexingEnabled="YES" \
            allowsCloudEncryption="YES" versionHashModifier="2" elementID="b" usesScalarValueType="YES" syncable="YES">
            <userInfo><entry key="k" value="v"/></userInfo></attribute>
            """)
        let attribute = read.attribute
        #expect(
            attribute.isOptional && attribute.valueTransformerName == "T"
                && attribute.attributeValueClassName == "[Int64]")
        #expect(attribute.allowsExternalBinaryDataStorage && attribute.preservesValueInHistoryOnDeletion)
        #expect(attribute.isIndexedBySpotlight && attribute.allowsCloudEncryption)
        #expect(
            attribute.versionHashModifier == "2" && attribute.renamingIdentifier == "b"
                && attribute.userInfo == ["k": "v"])
        #expect(read.warnings.isEmpty)
    }

    @Test("a derived attribute keeps a supported expression, or becomes ordinary with a warning")
    func derived() throws {
        let read = try readModel(
            """
            <entity name="E">
            <attribute name="n" attributeType="Integer 64" derived="YES" derivationExpression="rs.@count" optional="YES"/>
            <attribute name="m" attributeType="Integer 64" derived="YES" derivationExpression="SUBQUERY(rs, $x, 1).@count" optional="YES"/>
            <relationship name="rs" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="E"/>
            </entity>
            """)
        let entity = try #require(read.model.entityDescriptions.first)
        #expect(entity.attributes.map(\.derivationExpression) == [nil, "rs.@count"])
        #expect(read.warnings.map(\.element) == ["property 'E.m'"])
        #expect(read.warnings.first?.line == 5)
    }

    @Test("a composite attribute has the elements of the type that it names")
    func composite() throws {
        let read = try readModel(
            """
            <entity name="E"><attribute name="home" optional="YES" attributeType="Composite" compositeName="Address"/></entity>
            <compositeAttribute name="Address">
            <attribute name="city" optional="YES" attributeType="String"/>
            <attribute name="zip" optional="YES" attributeType="Integer 32"/>
            </compositeAttribute>
            """)
        let attribute = try #require(read.model.entityDescriptions.first?.attributes.first)
        #expect(attribute.type == .composite && attribute.elements.map(\.name) == ["city", "zip"])
        #expect(read.warnings.isEmpty)
    }

    @Test("a composite type that contains itself is refused")
    func endlessComposite() throws {
        let error = try failure {
            try readModel(
                """
                <entity name="E"><attribute name="a" attributeType="Composite" compositeName="C"/></entity>
                <compositeAttribute name="C"><attribute name="c" attributeType="Composite" compositeName="C"/></compositeAttribute>
                """)
        }
        #expect(error.code == .invalidModel)
    }

    // MARK: Relationships

    @Test("a to-one relationship is read from an XML model")
    func toOne() throws {
        let one = try relationship(
            "maxCount=\"1\" minCount=\"1\" optional=\"YES\" deletionRule=\"Cascade\" elementID=\"old\"/>"
        ).relationship
        #expect(
            !one.isToMany && one.minCount == 1 && one.isOptional && one.deleteRule == .cascade
                && one.renamingIdentifier == "old")
        #expect(try relationship("maxCount=\"1\"/>").relationship.deleteRule == .nullify)
        #expect(
            try relationship("maxCount=\"1\" transient=\"YES\" deletionRule=\"Nullify\"/>").relationship.isTransient)
    }

    @Test("a to-many relationship is read from an XML model with its counts, order and rule")
    func toMany() throws {
        let many = try relationship(
            "toMany=\"YES\" minCount=\"3\" maxCount=\"10\" ordered=\"YES\" deletionRule=\"Deny\" versionHashModifier=\"m\"/>"
        ).relationship
        #expect(
            many.isToMany && many.minCount == 3 && many.maxCount == 10 && many.isOrdered && many.deleteRule == .deny)
        #expect(many.versionHashModifier == "m" && !many.isOptional)
        let unlimited = try relationship("toMany=\"YES\" deletionRule=\"No Action\" spotlightIndexingEnabled=\"YES\"/>")
            .relationship
        #expect(unlimited.maxCount == nil && unlimited.deleteRule == .noAction && unlimited.isIndexedBySpotlight)
    }

    @Test("an inverse that does not refer back is ignored with a warning")
    func oneSidedInverse() throws {
        let read = try readModel(
            """
            <entity name="Artist"><relationship name="thumb" maxCount="1" destinationEntity="Image" inverseName="owner" inverseEntity="Image"/></entity>
            <entity name="Image">
            <relationship name="other" maxCount="1" destinationEntity="Artist" inverseName="thumb" inverseEntity="Artist"/>
            <relationship name="owner" maxCount="1" destinationEntity="Artist" inverseName="thumb" inverseEntity="Artist"/>
            <relationship name="lost" maxCount="1" destinationEntity="Artist" inverseName="nowhere" inverseEntity="Artist"/>
            </entity>
            """)
        let image = try read.model.requireEntity("Image")
        #expect(image.relationship("owner")?.declaration.inverseName == "thumb")
        #expect(image.relationship("other")?.declaration.inverseName == nil)
        #expect(image.relationship("lost")?.declaration.inverseName == nil)
        #expect(Set(read.warnings.map(\.element)) == ["property 'Image.other'", "property 'Image.lost'"])
    }

    // MARK: Entities and the model

    @Test("an entity's names, indexes, constraints and templates are read from an XML model")
    func readsEntity() throws {
        let read = try readModel(
            """
            <entity name="Base" isAbstract="YES" representedClassName="NSManagedObject"/>
            <entity name="Song" parentEntity="Base" representedClassName="Track" syncable="YES" codeGenerationType="class" \
            elementID="Tune" versionHashModifier="3" coreSpotlightDisplayNameExpression="title">
            <attribute name="title" optional="YES" attributeType="String" indexed="YES"/>
            <attribute name="year" optional="YES" attributeType="Integer 16"/>
            <fetchedProperty name="same" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" entity="Song" \
            predicateString="title == $FETCH_SOURCE.title"/></fetchedProperty>
            <fetchIndex name="byYear" partialIndexPredicate="year &gt; 0"><fetchIndexElement property="year" type="Binary" order="descending"/></fetchIndex>
            <compoundIndexes><compoundIndex><index value="year"/><index value="title"/></compoundIndex></compoundIndexes>
            <uniquenessConstraints><uniquenessConstraint><constraint value="title"/><constraint value="year"/></uniquenessConstraint></uniquenessConstraints>
            <userInfo><entry key="a" value="1"/></userInfo>
            </entity>
            <configuration name="Local" usedWithCloudKit="YES"><memberEntity name="Song"/></configuration>
            <fetchRequest name="All" entity="Song" predicateString="year == $Y" fetchLimit="5"/>
            <elements><element name="Song" positionX="0" positionY="0" width="1" height="1"/></elements>
            """, root: " userDefinedModelVersionIdentifier=\"v2\"")
        #expect(read.warnings.isEmpty)
        let song = try read.model.requireEntity("Song").declaration
        #expect(try read.model.requireEntity("Base").isAbstract)
        #expect(try read.model.requireEntity("Base").declaration.managedObjectClassName == nil)
        #expect(
            song.superentityName == "Base" && song.managedObjectClassName == "Track"
                && song.renamingIdentifier == "Tune")
        #expect(
            song.versionHashModifier == "3" && song.coreSpotlightDisplayNameExpression == "title"
                && song.userInfo == ["a": "1"])
        #expect(song.uniquenessConstraints == [["title", "year"]])
        #expect(
            song.fetchedProperties == [
                FetchedPropertyDescription("same", entity: "Song", predicateFormat: "title == $FETCH_SOURCE.title")
            ])
        #expect(
            song.fetchIndexes == [
                FetchIndexDescription(
                    "byYear", elements: [.init("year", isAscending: false)], partialIndexPredicateFormat: "year > 0"),
                FetchIndexDescription("title", on: "title"), FetchIndexDescription("year_title", on: "year", "title"),
            ])
        #expect(read.model.configurations == ["Local": ["Song"]] && read.model.versionIdentifiers == ["v2"])
        #expect(
            read.model.fetchRequestTemplates == [
                FetchRequestTemplate("All", entity: "Song", predicateFormat: "year == $Y", options: ["fetchLimit": "5"])
            ])
    }

    @Test(
        "an unknown item of an XML model is a warning with its line",
        arguments: [
            ("<entity name=\"E\" tint=\"red\"/>", "tint"), ("<entity name=\"E\"><widget/></entity>", "widget"),
            ("<entity name=\"E\"/><gadget/>", "gadget"),
            ("<entity name=\"E\"><attribute name=\"a\" attributeType=\"String\" zip=\"1\"/></entity>", "zip"),
            (
                "<entity name=\"E\"><relationship name=\"r\" destinationEntity=\"E\" maxCount=\"1\" zap=\"1\"/></entity>",
                "zap"
            ),
            (
                "<entity name=\"E\"><fetchIndex name=\"i\"><fetchIndexElement property=\"nothing\"/></fetchIndex></entity>",
                "nothing"
            ),
        ])
    func warnsOfUnknownItems(body: String, word: String) throws {
        let read = try readModel(body)
        #expect(read.warnings.count == 1)
        #expect(read.warnings.first?.line == 3)
        #expect(read.warnings.first?.description.contains(word) == true)
    }

    @Test("fetch indexes with one name get different names, and a repeated one is left out")
    func indexNames() throws {
        func index(_ property: String) -> String {
            "<fetchIndex name=\"a\"><fetchIndexElement property=\"\(property)\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"
        }
        let read = try readModel(
            """
            <entity name="E"><attribute name="x" attributeType="String"/><attribute name="y" attributeType="String"/>
            \(index("x"))\(index("y"))\(index("y"))\(index("x"))</entity>
            """)
        #expect(
            try read.model.requireEntity("E").declaration.fetchIndexes == [
                FetchIndexDescription("a", on: "x"), FetchIndexDescription("a_2", on: "y"),
            ])
        #expect(read.warnings.count == 1)
    }

    @Test("warnings about members of configurations are in the order of the configurations' names")
    func configurationOrder() throws {
        let names = (0..<12).map { "C\(100 + $0)" }
        let configurations = names.reversed().map {
            "<configuration name=\"\($0)\"><memberEntity name=\"Missing\"/></configuration>"
        }
        let read = try readModel("<entity name=\"E\"/>" + configurations.joined())
        let removals = read.warnings.map { String($0.message.prefix { $0 != ":" }) }
        #expect(removals == names.map { "member 'Missing' of configuration '\($0)' is left out" })
    }

    @Test("an entity whose parent does not exist is refused")
    func missingParent() throws {
        #expect(try failure { try readModel("<entity name=\"E\" parentEntity=\"Missing\"/>") }.code == .invalidModel)
    }
}
