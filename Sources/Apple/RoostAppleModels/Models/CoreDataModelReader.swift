package import RoostCore

/// A warning about a part of a model file that was left out or changed.
package struct ModelImportWarning: Hashable, Sendable, CustomStringConvertible {
    /// The file's path; empty if no file was read.
    package let file: String
    /// The line in an XML file; nil in a compiled model.
    package let line: Int?
    /// The affected element or property, for example `entity 'Song', attribute 'title'`.
    package let element: String
    /// The problem and how the reader handled it.
    package let message: String

    /// Creates a warning, and shortens very long texts in the middle.
    package init(file: String, line: Int?, element: String, message: String) {
        self.file = file
        self.line = line
        self.element = MessageText.bounded(element)
        self.message = MessageText.bounded(message)
    }

    package var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(element): \(message)" }
}

/// A reader of Apple's models: `.xcdatamodeld` and `.momd` bundles, and single `.xcdatamodel` and
/// `.mom` versions.
///
/// Only a fixed list of items for the editor is ignored. Every unknown item causes a warning.
/// Nothing outside the bundle is read.
package enum CoreDataModelReader {
    /// A function that reads a compiled model from a keyed archive.
    ///
    /// RoostCoreData provides the function, because this module does not read keyed archives.
    package typealias CompiledModelReader = (_ archive: [UInt8], _ file: String) throws(StoreError) -> (
        model: ManagedObjectModel, warnings: [ModelImportWarning]
    )

    /// The maximum size of a compiled model, in bytes.
    package static let maximumArchiveByteCount = 64 << 20

    /// Returns the names of the versions in the bundle at `path`, in the order that
    /// ``VersionOrder`` derives.
    ///
    /// If the model is a single file, its only version has the whole file name. Other names have no
    /// extension.
    package static func versions(at path: String) throws(StoreError) -> [String] {
        let (names, current) = try versionNames(at: path)
        return VersionOrder(names, current: current).sorted
    }

    /// Returns the versions in the bundle at `path` in natural order, and the current version if
    /// known.
    package static func versionNames(at path: String) throws(StoreError) -> (names: [String], current: String?) {
        guard let bundle = try BundleDirectory.open(at: path) else { return ([lastComponent(path)], nil) }
        if try isSingleModel(bundle) { return ([versionName(lastComponent(path))], nil) }
        let names = try versionNames(in: bundle)
        do throws(StoreError) {
            return (names, try currentVersion(in: bundle))
        } catch {
            guard error.code == .invalidModel else { throw error }
            return (names, nil)
        }
    }

    /// Returns the version that the bundle at `path` names as current, or its only version.
    ///
    /// Throws `invalidModel` if the bundle names a version that it does not contain, or names none
    /// of several versions.
    package static func currentVersion(at path: String) throws(StoreError) -> String {
        guard let bundle = try BundleDirectory.open(at: path) else { return lastComponent(path) }
        if try isSingleModel(bundle) { return versionName(lastComponent(path)) }
        return try currentVersion(in: bundle)
    }

    /// Reads one version of a model; a nil `version` means the current one.
    ///
    /// `version` may include the file extension.
    package static func read(
        at path: String, version: String?, compiled: CompiledModelReader
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        let contents = try contents(at: path, version: version)
        guard contents.isSingleFile else { return try read(xml: contents.bytes, file: contents.file) }
        return try read(file: contents.bytes, at: contents.file, compiled: compiled)
    }

    /// Returns the entities with 'Codegen' set to 'Class Definition' or 'Category/Extension', in
    /// the order of the file.
    ///
    /// A compiled model does not contain this setting, so the result is empty.
    package static func entitiesWithXcodeClasses(at path: String, version: String? = nil) throws(StoreError) -> [String]
    {
        let contents = try contents(at: path, version: version)
        guard !isArchive(contents.bytes) else { return [] }
        let root = try XMLElement.document(contents.bytes, file: contents.file)
        return root.children("entity").filter { $0["codeGenerationType"]?.isEmpty == false }.compactMap { $0["name"] }
    }

    private struct Contents {
        let bytes: [UInt8]
        let file: String
        /// Whether the bytes are not from a `contents` file, and so may be a compiled model.
        let isSingleFile: Bool
    }

    private static func contents(at path: String, version: String?) throws(StoreError) -> Contents {
        guard let bundle = try BundleDirectory.open(at: path) else {
            let bytes = try BundleDirectory.readFile(at: path, limit: maximumArchiveByteCount)
            return Contents(bytes: bytes, file: path, isSingleFile: true)
        }
        if try isSingleModel(bundle) {
            if let version, versionName(version) != versionName(lastComponent(path)) {
                throw StoreError(
                    .notFound,
                    "'\(path)' is a single model version, not '\(versionName(version))'. Leave the version out, or give the path of the model bundle."
                )
            }
            return try contents(versionIn: bundle)
        }
        let name: String
        if let version { name = versionName(version) } else { name = try currentVersion(in: bundle) }
        let known = try versionNames(in: bundle)
        if try isCompiled(bundle), known.contains(name),
            let bytes = try bundle.read(name + compiledSuffix, limit: maximumArchiveByteCount)
        {
            return Contents(bytes: bytes, file: "\(bundle.path)/\(name)\(compiledSuffix)", isSingleFile: true)
        }
        guard let directory = try bundle.directory(name + versionSuffix) else {
            let hint =
                nearestName(to: name, among: known).map { "did you mean '\($0)'?" }
                ?? "it has: \(known.joined(separator: ", "))."
            throw StoreError(.notFound, "Model bundle '\(path)' has no version '\(name)'; \(hint)")
        }
        return try contents(versionIn: directory)
    }

    /// Reads the XML of a model's `contents` file.
    package static func read(
        xml bytes: [UInt8], file: String
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        var document = XMLModelDocument(file: file)
        try document.read(try XMLElement.document(bytes, file: file))
        let model = try document.draft.build(warnings: &document.warnings, file: file)
        return (model, document.warnings)
    }

    private static func read(
        file bytes: [UInt8], at path: String, compiled: CompiledModelReader
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        guard isArchive(bytes) else { return try read(xml: bytes, file: path) }
        return try compiled(bytes, path)
    }

    /// Returns Apple's version hashes by version and entity; empty unless the bundle is compiled.
    package static func appleVersionHashes(at path: String) throws(StoreError) -> [String: [String: [UInt8]]] {
        guard let bundle = try BundleDirectory.open(at: path), try isCompiled(bundle) else { return [:] }
        let versions = try versionInfo(in: bundle)?["NSManagedObjectModel_VersionHashes"]?.dictionary ?? [:]
        return versions.mapValues { version in
            (version.dictionary ?? [:]).compactMapValues { if case .data(let bytes) = $0 { bytes } else { nil } }
        }
    }

    // MARK: Bundles

    private static let versionSuffix = ".xcdatamodel"
    private static let compiledSuffix = ".mom"
    private static let versionInfoName = "VersionInfo.plist"

    private static func isCompiled(_ bundle: BundleDirectory) throws(StoreError) -> Bool {
        let names = try bundle.names()
        return !names.contains { $0.hasSuffix(versionSuffix) } && names.contains { $0.hasSuffix(compiledSuffix) }
    }

    private static func versionInfo(in bundle: BundleDirectory) throws(StoreError) -> [String: PropertyListValue]? {
        guard let bytes = try bundle.read(versionInfoName, limit: 16 << 20) else { return nil }
        return try PropertyListValue.read(bytes, file: "\(bundle.path)/\(versionInfoName)").dictionary
    }

    private static func isArchive(_ bytes: [UInt8]) -> Bool { bytes.starts(with: Array("bplist".utf8)) }

    private static func contents(versionIn directory: BundleDirectory) throws(StoreError) -> Contents {
        if let bytes = try directory.read("contents", limit: XMLPullParser.Limit.byteCount) {
            return Contents(bytes: bytes, file: "\(directory.path)/contents", isSingleFile: false)
        }
        if try directory.names().contains("elements") {
            throw StoreError(
                .unsupported,
                "'\(directory.path)' is a binary model from before Xcode 4, which is not read; open and save it once with a newer Xcode."
            )
        }
        throw StoreError(.notFound, "Cannot read a model in '\(directory.path)': its file 'contents' is missing.")
    }

    private static func isSingleModel(_ bundle: BundleDirectory) throws(StoreError) -> Bool {
        let names = try bundle.names()
        return names.contains("contents") || names.contains("elements") || bundle.path.hasSuffix(versionSuffix)
            || bundle.path.hasSuffix(versionSuffix + "/")
    }

    private static func versionNames(in bundle: BundleDirectory) throws(StoreError) -> [String] {
        let suffix = try isCompiled(bundle) ? compiledSuffix : versionSuffix
        let names = try bundle.names().filter { $0.hasSuffix(suffix) }.map(versionName)
        guard !names.isEmpty else {
            throw StoreError(
                .notFound,
                "'\(bundle.path)' contains no model version (*\(versionSuffix) or *\(compiledSuffix)); give the path of a model bundle."
            )
        }
        return names.sorted(by: precedesNaturally)
    }

    private static func currentVersion(in bundle: BundleDirectory) throws(StoreError) -> String {
        let names = try versionNames(in: bundle)
        let file: String
        let current: String?
        if try isCompiled(bundle) {
            file = versionInfoName
            current = try versionInfo(in: bundle)?["NSManagedObjectModel_CurrentVersionName"]?.string
        } else {
            file = ".xccurrentversion"
            let bytes = try bundle.read(file, limit: 64 * 1024)
            let list = try bytes.map { (bytes) throws(StoreError) in
                try PropertyListValue.read(bytes, file: "\(bundle.path)/\(file)")
            }
            // Xcode writes an empty dictionary if there is only one version.
            current = list?.dictionary?["_XCCurrentVersionName"]?.string
        }
        if let current {
            // Only the name of a version in the bundle is accepted, so no other file can be read.
            guard names.contains(versionName(current)) else {
                throw StoreError(
                    .invalidModel,
                    "'\(bundle.path)/\(file)' names version '\(current)', which is not in the bundle; it has: \(names.joined(separator: ", "))."
                )
            }
            return versionName(current)
        }
        guard names.count == 1 else {
            throw StoreError(
                .invalidModel,
                "Model bundle '\(bundle.path)' does not say which version is current; name one of: \(names.joined(separator: ", "))."
            )
        }
        return names[0]
    }

    private static func lastComponent(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    private static func versionName(_ name: String) -> String {
        for suffix in [versionSuffix, compiledSuffix] where name.hasSuffix(suffix) {
            return String(name.dropLast(suffix.count))
        }
        return name
    }

    /// Returns whether a name precedes another in natural order: "Model", "Model 2", "Model 10".
    static func precedesNaturally(_ left: String, _ right: String) -> Bool {
        let (leftParts, rightParts) = (parts(left), parts(right))
        for (a, b) in zip(leftParts, rightParts) where a != b {
            if let x = a.number, let y = b.number, x != y { return x < y }
            if a.text != b.text { return a.text < b.text }
        }
        return leftParts.count == rightParts.count ? left < right : leftParts.count < rightParts.count
    }

    /// Splits a name into runs of digits and runs of other characters.
    static func parts(_ name: String) -> [(text: String, number: Int?)] {
        var parts: [(text: String, number: Int?)] = []
        var rest = name[...]
        while let first = rest.first {
            let isDigit = first.isASCII && first.isNumber
            let part = rest.prefix { ($0.isASCII && $0.isNumber) == isDigit }
            parts.append((String(part), isDigit ? Int(part) : nil))
            rest = rest[part.endIndex...]
        }
        return parts
    }
}
