import Foundation
import Roost

/// The container of the program and its two contexts.
@MainActor
struct Stack {
    let container: PersistentContainer
    /// The context of the user interface.
    var view: ManagedObjectContext { container.viewContext }
    /// A context with a thread of its own.
    let background: BackgroundContext

    /// Opens the store that `ROOST_STORE` names, or an SQLite store in the directory.
    init(directory: String) throws {
        var environment = ProcessInfo.processInfo.environment
        environment["ROOST_STORE"] = environment["ROOST_STORE"] ?? "sqlite:company.sqlite"
        let configuration = try RoostConfiguration(workingDirectory: directory, environment: environment)
        container = try PersistentContainer(
            configuration: configuration, model: CompanyModel.model, types: CompanyModel.types)
        background = container.makeBackgroundContext("background")
    }

    /// Closes the container and removes the store with all of its files.
    func destroy() throws {
        let location = container.stores[0].location
        // A reset context releases its objects and its snapshot of the store.
        view.reset()
        try container.close()
        try StoreRegistry.standard.type(named: location.type).destroy(location)
        do {
            _ = try Store.open(location, ifMissing: .fail)
        } catch  where error.code == .notFound {
            return
        }
        throw TutorialError("The store still exists.")
    }
}
