public import RoostCore

/// Something in a model file that Roost does not take over, or not as it stands.
public struct ModelImportWarning: Hashable, Sendable, CustomStringConvertible {
    /// The file, as far as one was read.
    public let file: String
    /// The line in an XML file; nil in a compiled model.
    public let line: Int?
    /// The element or the property concerned, for example `entity 'Song', attribute 'title'`.
    public let element: String
    /// What was found and what became of it.
    public let message: String

    /// Makes a warning; of a very long name or message the beginning and the end are kept.
    public init(file: String, line: Int?, element: String, message: String) {
        self.file = file
        self.line = line
        self.element = MessageText.bounded(element)
        self.message = MessageText.bounded(message)
    }

    /// The place, the element and the message: `file:line: element: message`.
    public var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(element): \(message)" }
}

/// Reads Apple's model files: `.xcdatamodeld` bundles, single `.xcdatamodel` versions and compiled `.mom` models.
///
/// Everything that describes stored data is taken over (reference §1.10). What only the editor needs is left out silently, from
/// a fixed list; everything else that is unknown becomes a warning. Nothing outside the bundle is read, no symbolic link inside
/// it is followed, and nothing is expanded.
public enum CoreDataModelReader {
    /// The versions in the bundle at `path`, without `.xcdatamodel`, oldest first as far as names tell; the one version of a single model.
    ///
    /// In natural order, "Model 2" before "Model 10". A model may have been renamed on the way: versions whose names begin with another
    /// word than the current one's come before all that begin like it.
    ///
    /// - Throws: `notFound`, `permissionDenied`, `invalidModel`.
    public static func versions(at path: String) throws(StoreError) -> [String] {
        guard let bundle = try BundleDirectory.open(at: path) else { return [lastComponent(path)] }
        if try isSingleModel(bundle) { return [versionName(lastComponent(path))] }
        let names = try versionNames(in: bundle)
        let word: Substring
        do throws(StoreError) {
            word = firstWord(try currentVersion(in: bundle))
        } catch {
            guard error.code == .invalidModel else { throw error }
            return names
        }
        return names.filter { firstWord($0) != word } + names.filter { firstWord($0) == word }
    }

    /// The version that the bundle at `path` names as current, or its only one.
    ///
    /// - Throws: `invalidModel` when the bundle has several versions and does not say which is current.
    public static func currentVersion(at path: String) throws(StoreError) -> String {
        guard let bundle = try BundleDirectory.open(at: path) else { return lastComponent(path) }
        if try isSingleModel(bundle) { return versionName(lastComponent(path)) }
        return try currentVersion(in: bundle)
    }

    /// Reads one version of a model.
    ///
    /// - Parameters:
    ///   - path: A `.xcdatamodeld` bundle, a `.xcdatamodel` version or a compiled `.mom` file.
    ///   - version: The version of a bundle, with or without `.xcdatamodel`; nil for the current one.
    /// - Returns: The model, and what was not taken over as it stands.
    /// - Throws: `notFound`, `permissionDenied`, `invalidModel` (with file and line), `limitExceeded`; `unsupported` for the
    ///   binary files that were written before Xcode 4.
    public static func read(
        at path: String, version: String? = nil
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        guard let bundle = try BundleDirectory.open(at: path) else {
            let bytes = try BundleDirectory.readFile(at: path, limit: ModelCacheReader.Limit.archiveByteCount)
            if bytes.starts(with: Array("bplist".utf8)) {
                let read = try ModelCacheReader.read(archive: bytes, file: path)
                return (read.model, read.warnings)
            }
            return try read(xml: bytes, file: path)
        }
        if try isSingleModel(bundle) {
            if let version, versionName(version) != versionName(lastComponent(path)) {
                throw StoreError(
                    .notFound, "'\(path)' is a single model version and has no version '\(versionName(version))'.")
            }
            return try read(versionIn: bundle)
        }
        let name: String
        if let version { name = versionName(version) } else { name = try currentVersion(in: bundle) }
        guard let directory = try bundle.directory(name + versionSuffix) else {
            let known = try versionNames(in: bundle)
            let hint =
                nearestName(to: name, among: known).map { "did you mean '\($0)'?" }
                ?? "it has: \(known.joined(separator: ", "))."
            throw StoreError(.notFound, "Model bundle '\(path)' has no version '\(name)'; \(hint)")
        }
        return try read(versionIn: directory)
    }

    /// Reads the XML of a model's `contents` file.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - file: The name that warnings and errors give.
    /// - Returns: The model, and what was not taken over as it stands.
    /// - Throws: `invalidModel` (with file and line), `limitExceeded`.
    public static func read(
        xml bytes: [UInt8], file: String
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        var document = XMLModelDocument(file: file)
        try document.read(try XMLElement.document(bytes, file: file))
        let model = try document.draft.build(warnings: &document.warnings, file: file)
        return (model, document.warnings)
    }

    // MARK: Bundles

    private static let versionSuffix = ".xcdatamodel"

    private static func read(
        versionIn directory: BundleDirectory
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        if let bytes = try directory.read("contents", limit: XMLPullParser.Limit.byteCount) {
            return try read(xml: bytes, file: "\(directory.path)/contents")
        }
        if try directory.names().contains("elements") {
            throw StoreError(
                .unsupported,
                "'\(directory.path)' is a binary model from before Xcode 4, which is not read; open and save it once with a newer Xcode."
            )
        }
        throw StoreError(.notFound, "'\(directory.path)' holds no model: there is no file 'contents' in it.")
    }

    private static func isSingleModel(_ bundle: BundleDirectory) throws(StoreError) -> Bool {
        let names = try bundle.names()
        return names.contains("contents") || names.contains("elements") || bundle.path.hasSuffix(versionSuffix)
            || bundle.path.hasSuffix(versionSuffix + "/")
    }

    private static func versionNames(in bundle: BundleDirectory) throws(StoreError) -> [String] {
        let names = try bundle.names().filter { $0.hasSuffix(versionSuffix) }.map(versionName)
        guard !names.isEmpty else {
            throw StoreError(
                .notFound,
                "'\(bundle.path)' holds no model version (*\(versionSuffix)); give the path of a model bundle.")
        }
        return names.sorted(by: precedesNaturally)
    }

    private static func currentVersion(in bundle: BundleDirectory) throws(StoreError) -> String {
        let names = try versionNames(in: bundle)
        let file = ".xccurrentversion"
        if let bytes = try bundle.read(file, limit: 64 * 1024) {
            let list = try PropertyListValue.read(bytes, file: "\(bundle.path)/\(file)")
            // An empty dictionary is what Xcode writes while there is one version.
            if let name = list.dictionary?["_XCCurrentVersionName"]?.string {
                // What is not one of the names in the directory is refused here, whatever path it spells.
                guard names.contains(versionName(name)) else {
                    throw StoreError(
                        .invalidModel,
                        "'\(bundle.path)/\(file)' names version '\(name)', which is not in the bundle; it has: \(names.joined(separator: ", "))."
                    )
                }
                return versionName(name)
            }
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
        name.hasSuffix(versionSuffix) ? String(name.dropLast(versionSuffix.count)) : name
    }

    /// The letters that a name begins with: `ArtsyFolio` of "ArtsyFolio v1.4".
    private static func firstWord(_ name: String) -> Substring { name.prefix(while: \.isLetter) }

    /// Orders names so that "Model 2" comes before "Model 10", and "Model" before both.
    static func precedesNaturally(_ left: String, _ right: String) -> Bool {
        let (leftParts, rightParts) = (parts(left), parts(right))
        for (a, b) in zip(leftParts, rightParts) where a != b {
            if let x = a.number, let y = b.number, x != y { return x < y }
            if a.text != b.text { return a.text < b.text }
        }
        return leftParts.count == rightParts.count ? left < right : leftParts.count < rightParts.count
    }

    private static func parts(_ name: String) -> [(text: String, number: Int?)] {
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
