import Foundation
import PackagePlugin

/// A build plugin that generates classes from each model among the sources of a target.
///
/// A model is a model document (`*.roostmodel.json`) or a Core Data bundle (`*.xcdatamodeld`).
/// `Music.roostmodel.json` becomes `Music+Classes.swift`, which is compiled into the target.
///
/// The plugin generates one file for each model, not for each entity, because SwiftPM needs the
/// names of the outputs before the model compiler runs. `roost model generate` writes one file for
/// each entity.
@main
struct RoostModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let compiler = try context.tool(named: "roost-model-compiler").url
        return try ModelBuild(
            compiler: compiler, output: context.pluginWorkDirectoryURL, targetName: target.name, isForXcode: false
        ).commands(for: target.sourceFiles.map(\.url))
    }
}

/// The build commands of a target's models.
struct ModelBuild {
    let compiler: URL
    let output: URL
    let targetName: String
    /// Whether Xcode's own model compiler also compiles the bundles.
    let isForXcode: Bool

    /// A problem with the models of a target.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    func commands(for files: [URL]) throws -> [Command] {
        var outputs: [String: String] = [:]
        return try models(files).map { model in
            let name = Self.stem(of: model) + "+Classes.swift"
            if let other = outputs.updateValue(model.lastPathComponent, forKey: name.lowercased()) {
                throw Problem(
                    description:
                        "Target '\(targetName)' has two models, '\(other)' and '\(model.lastPathComponent)', which would both become '\(name)'. Rename one of them."
                )
            }
            return .buildCommand(
                displayName: "Generate classes from \(model.lastPathComponent)", executable: compiler,
                arguments: [model.path, "--output", output.path, "--single-file", "--quiet"]
                    + (isForXcode ? ["--xcode"] : []),
                inputFiles: Self.inputs(of: model), outputFiles: [output.appending(path: name)])
        }
    }

    /// Returns the models among the given files.
    ///
    /// Includes a bundle even if `files` contains only files inside it, not the bundle itself.
    private func models(_ files: [URL]) -> [URL] {
        var paths: Set<String> = []
        for file in files {
            if file.lastPathComponent.hasSuffix(Self.documentSuffix) {
                paths.insert(file.path)
                continue
            }
            let components = file.pathComponents
            guard let bundle = components.firstIndex(where: { $0.hasSuffix(Self.bundleSuffix) }) else { continue }
            paths.insert(NSString.path(withComponents: Array(components[...bundle])))
        }
        return paths.sorted().map { URL(fileURLWithPath: $0) }
    }

    private static let documentSuffix = ".roostmodel.json"
    private static let bundleSuffix = ".xcdatamodeld"

    private static func stem(of model: URL) -> String {
        let name = model.lastPathComponent
        for suffix in [documentSuffix, bundleSuffix] where name.hasSuffix(suffix) {
            return String(name.dropLast(suffix.count))
        }
        return name
    }

    /// Returns the files of a model, so that a change of any of them runs the compiler again.
    ///
    /// Includes the bundle itself, because SwiftPM warns of unused files in a target.
    private static func inputs(of model: URL) -> [URL] {
        guard let files = FileManager.default.enumerator(atPath: model.path) else { return [model] }
        let names = files.compactMap { $0 as? String }.filter { name in
            let last = (name as NSString).lastPathComponent
            return last == "contents" || last == ".xccurrentversion"
        }
        return [model] + names.sorted().map { model.appending(path: $0) }
    }
}

#if canImport(XcodeProjectPlugin)
    import XcodeProjectPlugin

    extension RoostModelPlugin: XcodeBuildToolPlugin {
        func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
            let compiler = try context.tool(named: "roost-model-compiler").url
            // Xcode itself generates the classes of entities whose 'Codegen' is not 'Manual/None'. The compiler
            // refuses a model with such an entity.
            return try ModelBuild(
                compiler: compiler, output: context.pluginWorkDirectoryURL, targetName: target.displayName,
                isForXcode: true
            ).commands(for: target.inputFiles.map(\.url))
        }
    }
#endif
