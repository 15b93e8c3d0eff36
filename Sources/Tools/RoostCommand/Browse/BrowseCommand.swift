internal import Foundation
internal import Roost
internal import RoostCore
internal import RoostStores
internal import RoostViewer

extension Subcommand {
    static let browse = Subcommand(
        name: "browse", summary: "Show stores in a browser.", usage: "STORE [STORE ...]", argumentCount: 1...16,
        discussion: """
            Serves a page at 127.0.0.1 and opens it: entities with counts, tables that page through any number of objects, predicates
            with completion, single objects with their relationships in both directions, the model as a diagram, the check, the history,
            and the difference of two stores. Nothing is loaded from elsewhere. Ctrl-C ends the command.

            The first line printed is the address. Its token works once: the browser that opens it gets a cookie. On another machine,
            forward the port: ssh -L 8080:127.0.0.1:PORT HOST, then open the address with localhost:8080 instead of 127.0.0.1:PORT.

            Stores are only read, unless --write is given. Then objects can be edited, inserted and deleted by the rules of the model. Each
            change is saved at once and can be undone. Changes of others are shown, and never overwritten.

            Every view has an address of its own, and the same address with .json has its data for programs. A program sends the
            cookie, or the header 'Authorization: Bearer TOKEN'. TOKEN is the value of ROOST_BROWSE_TOKEN when the command starts, at least
            \(StoreViewer.programTokenLength) characters.
            """,
        options: [
            CommandOption("port", letter: "p", value: "N", help: "The port (default: a free one)."),
            CommandOption("write", help: "Let the page change objects."),
            CommandOption("no-open", help: "Print the address without opening a browser."),
        ] + StoreArguments.openingOptions,
        examples: ["roost browse music.sqlite", "roost browse music.sqlite copy.lmdb --port=8080 --no-open"],
        run: runBrowse)

    @Sendable private static func runBrowse(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        var options = StoreViewer.Options()
        let port = try arguments.integer("port", minimum: 0) ?? 0
        guard let port = UInt16(exactly: port) else {
            throw UsageError("option '--port' needs a number from 1 to 65535, or 0 for a free port")
        }
        options.port = port
        options.allowsChanges = arguments.has("write")
        let token = ProcessInfo.processInfo.environment["ROOST_BROWSE_TOKEN"] ?? ""
        if !token.isEmpty { options.programToken = token }
        return try withStores(arguments.positions[...], arguments: arguments, stores: []) { stores in
            let sources = try stores.map {
                StoreViewer.Source(try Store($0, registry: .standard), title: title(of: $0))
            }
            let viewer = try UsageError.requesting {
                try StoreViewer(sources, version: roostVersion, options: options)
            }
            defer { viewer.stop() }
            try console.print(viewer.startURL)
            let file = arguments.has("no-open") ? nil : StartFile(viewer.startURL)
            defer { file?.remove() }
            if let file, !file.openInBrowser() {
                console.printError("no browser could be started; open the address above")
            }
            while !Interruption.shared.isReadingCancelled { Thread.sleep(forTimeInterval: 0.1) }
            return .success
        }
    }

    /// Opens the stores in nested calls, so that each store is closed even after an error.
    private static func withStores(
        _ names: ArraySlice<String>, arguments: ParsedArguments, stores: [any PersistentStore],
        _ body: ([any PersistentStore]) throws -> ExitCode
    ) throws -> ExitCode {
        guard let name = names.first else { return try body(stores) }
        return try StoreArguments.withStore(name, arguments: arguments, forWriting: arguments.has("write")) { store in
            try withStores(names.dropFirst(), arguments: arguments, stores: stores + [store], body)
        }
    }

    private static func title(of store: any PersistentStore) -> String {
        guard store.type.capabilities.contains(.file) else { return store.location.description }
        return store.location.path.split(separator: "/").last.map(String.init) ?? store.location.path
    }
}
