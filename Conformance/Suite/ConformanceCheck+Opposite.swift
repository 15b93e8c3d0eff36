internal import Foundation
internal import RoostCore

extension ConformanceCheck {
    /// Checks a store without a capability: for example, calls that need it fail and change
    /// nothing.
    static func runOpposite(of capability: StoreCapability, on bench: Workbench) throws {
        switch capability {
        case .writing: try checkRefusedWriting(on: bench)
        case .persistence: try checkMissingPersistence(on: bench)
        case .file:
            _ = try bench.create()
            try expectEqual(try bench.files(), [], "no files")
            let path = try bench.write(Array("anything".utf8), as: "other")
            try expect(!bench.type.recognizes(fileAt: path), "a type without files recognizes none")
        case .digest:
            let store = try bench.create()
            try store.view { try expect(try $0.recordedTally() == nil, "no tally is recorded") }
        case .uniquenessConstraints:
            try expectError(.unsupported, in: "creating a store whose model has uniqueness constraints") {
                _ = try bench.create(try ConformanceModel.standard.get())
            }
            try expectEqual(try bench.files(), [], "no file was created")
        case .history:
            let store = try bench.create()
            try store.view { snapshot in
                _ = try expectError(.unsupported, in: "the token of a store without a history") {
                    _ = try snapshot.historyToken()
                }
            }
            try expectError(.unsupported, in: "removing the history of a store without one") {
                try store.removeHistory(.everything)
            }
        case .totalOrder:
            let store = try bench.create()
            let first = try store.change { $0.userMetadata["a"] = .int(1) }.generation
            let second = try store.change { $0.userMetadata["a"] = .int(2) }.generation
            try expect(first != second, "two commits have two generations")
            try expectEqual(
                bench.fixture.capabilities.isEarlier(first, than: second), nil, "the order of two generations")
        case .multipleProcesses: try checkSingleProcess(on: bench)
        default:
            throw Mismatch(expected: "a capability that the suite knows", actual: "'\(capability)'")
        }
    }

    /// Checks that a type that cannot write refuses to create, destroy and replace stores.
    private static func checkRefusedWriting(on bench: Workbench) throws {
        try expectError(.unsupported, in: "creating a store of a type that cannot write") { _ = try bench.create() }
        try expectError(.unsupported, in: "destroying a store of a type that cannot write") {
            try bench.type.destroy(bench.location())
        }
        try expectError(.unsupported, in: "replacing a store of a type that cannot write") {
            try bench.type.replace(bench.location("a"), with: bench.location("b"), overwriting: true)
        }
        try expectEqual(try bench.files(), [], "no file was created")
    }

    /// Checks that opening a closed store shows its whole content or throws `notFound` or
    /// `unsupported`, and that the store has no files.
    private static func checkMissingPersistence(on bench: Workbench) throws {
        let store = try bench.create()
        try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
        let before = try store.contents()
        try store.close()
        do {
            try expectEqual(try bench.open().contents(), before, "a reopened store has its whole content")
        } catch let error as StoreError {
            try expect(
                [.notFound, .unsupported].contains(error.code), "a refusal to reopen is notFound or unsupported",
                otherwise: "\(error)")
        }
        try expectEqual(try bench.files(), [], "no files")
    }

    /// Checks that opening an open store again throws `busy` or `unsupported`, or shows the same
    /// store.
    private static func checkSingleProcess(on bench: Workbench) throws {
        let store = try bench.create()
        do {
            let second = try bench.open { $0.timeoutSeconds = 0.1 }
            try store.change { try $0.insert(ObjectID("Tag", key: 1), values: [:]) }
            try expectEqual(try second.contents(), try store.contents(), "the content of the second opening")
            try second.close()
            try expectEqual(
                try store.view { try $0.count(FetchRequest("Tag")) }, 1, "the count after the second was closed")
        } catch let error as StoreError {
            try expect(
                [.busy, .unsupported].contains(error.code), "opening a second time is refused with busy",
                otherwise: "\(error)")
        }
    }
}
