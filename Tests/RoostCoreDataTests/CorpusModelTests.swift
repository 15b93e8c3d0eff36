import Foundation
import RoostAppleModels
import RoostCore
import RoostCoreData
import Testing

@Suite("Models of the corpus", .enabled(if: Corpus.isPresent, "the corpus is absent; set ROOST_CORPUS"))
struct CorpusModelTests {
    @Test("a model version of the corpus loads without unknown items", arguments: Corpus.models)
    func loads(path: String) throws {
        let read = try CoreDataModelReader.read(at: Corpus.path + "/" + path)
        for warning in read.warnings { print("WARNING \(path): \(warning.element): \(warning.message)") }
        #expect(!read.model.entities.isEmpty)
        // Public models must not contain unknown items; they may contain problems that Core Data tolerates.
        #expect(!read.warnings.contains { $0.message.contains("is unknown") })
    }

    @Test(
        "a bundle of the corpus lists its versions and knows its current one", arguments: Corpus.bundles)
    func versions(path: String) throws {
        let path = Corpus.path + "/" + path
        let inside = try FileManager.default.contentsOfDirectory(atPath: path)
        let count = inside.filter { $0.hasSuffix(".xcdatamodel") }.count
        guard count > 0 else {
            #expect(try failure { try CoreDataModelReader.versions(at: path) }.code == .notFound)
            return
        }
        #expect(try CoreDataModelReader.versions(at: path).count == count)
        let current = FileManager.default.contents(atPath: path + "/.xccurrentversion").map {
            String(decoding: $0, as: UTF8.self)
        }
        if count > 1, current?.contains("_XCCurrentVersionName") != true {
            #expect(try failure { try CoreDataModelReader.currentVersion(at: path) }.code == .invalidModel)
        } else {
            let current = try CoreDataModelReader.currentVersion(at: path)
            #expect(
                try CoreDataModelReader.read(at: path).model
                    == CoreDataModelReader.read(at: path, version: current).model)
        }
    }
}
