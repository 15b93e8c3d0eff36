import Foundation
import Roost
import RoostCore
import Testing

/// With `ROOST_WRITE_FIXTURES=1`, writes missing fixtures; existing files are never overwritten.
///
/// Run this in the change that adds a format version, before the merge, and commit the files.
@Suite("Kept files")
struct KeptFileWriter {
    @Test(
        "missing fixtures of the current format versions are written",
        .enabled(if: ProcessInfo.processInfo.environment["ROOST_WRITE_FIXTURES"] != nil))
    func write() throws {
        let model = try KeptContent.model()
        for type in fileTypes { try writeStores(of: type, with: model) }
        try put(try KeptContent.model().document(), in: "model-1", as: "model.roostmodel.json")
        try put(try KeptContent.nextModel().document(), in: "model-1", as: "next.roostmodel.json")
        try put(try KeptContent.mapping().document(), in: "mapping-1", as: "mapping.roostmapping.json")
    }

    private func writeStores(of type: String, with model: ManagedObjectModel) throws {
        let folder = try Folder()
        let kind = try StoreRegistry.standard.type(named: type)
        let commits = try KeptContent.commits(model)
        let location = StoreLocation(type: type, path: folder.file("unclosed"))
        var options = StoreOptions()
        options.storeUUID = KeptContent.storeUUID
        let created = try kind.create(location, model: model, options: options)
        let version = try created.metadata().formatVersion
        _ = try created.commit(commits[0])
        try created.close()
        let directory = "\(type)-\(version)"
        let store = try kind.open(location, options: StoreOptions())
        for changes in commits.dropFirst() { _ = try store.commit(changes) }
        let isNew = !KeptFiles.exists("\(directory)/store")
        // Keeps the files that would remain if the process ended now.
        for suffix in ["-wal", "-journal"] where try isNew && folder.names().contains("unclosed" + suffix) {
            try put(try folder.bytes("unclosed"), in: directory, as: "unclosed")
            try put(try folder.bytes("unclosed" + suffix), in: directory, as: "unclosed" + suffix)
        }
        try store.close()
        try put(try folder.bytes("unclosed"), in: directory, as: "store")

        let closed = try kind.open(location, options: StoreOptions(isReadOnly: true))
        try put(try dump(closed).text, in: "dump-1", as: "content.jsonl")
        try closed.close()
    }

    private func put(_ bytes: [UInt8], in directory: String, as name: String) throws {
        guard !KeptFiles.exists("\(directory)/\(name)") else { return }
        try FileManager.default.createDirectory(
            atPath: KeptFiles.path(directory), withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: KeptFiles.path("\(directory)/\(name)")))
    }
}
