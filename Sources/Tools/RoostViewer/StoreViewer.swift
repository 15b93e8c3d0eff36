package import RoostCore
internal import RoostJSONText
package import RoostStores

/// The server of `roost browse`, which shows one or more open stores in a browser.
///
/// - The server listens only at 127.0.0.1. The start address contains a token that works once.
/// - Each view has an address. The same address with `.json` returns the data of the view. See
///   docs/browsing.md.
/// - Nothing is changed unless the options allow it.
package final class StoreViewer {
    package struct Source {
        let store: Store
        let title: String

        package init(_ store: Store, title: String) { (self.store, self.title) = (store, title) }
    }

    package struct Options {
        /// The port, or 0 for any free port.
        package var port: UInt16 = 0
        /// Whether objects can be changed, in stores that are writable.
        package var allowsChanges = false
        /// The token that programs can send instead of a cookie, or nil.
        package var programToken: String?

        package init() {}
    }

    /// The minimum number of characters of a token for programs.
    package static let programTokenLength = 16

    #if Interactive
        private let server: HTTPServer
        private let pages: PageServer
    #endif

    /// The address that shows the stores, which works once.
    package let startURL: String

    /// Starts to show stores, which must stay open until ``stop()``.
    ///
    /// - Throws: `busy`, `permissionDenied` or `ioFailure` if the port cannot be used;
    ///   `invalidRequest` for a token that is too short; `unsupported` without the trait
    ///   `Interactive`; errors of opening a store for changes.
    package init(_ sources: [Source], version: String, options: Options) throws(StoreError) {
        if let token = options.programToken, token.count < Self.programTokenLength {
            throw StoreError(
                .invalidRequest, "The token for programs needs at least \(Self.programTokenLength) characters.")
        }
        #if Interactive
            var stores: [ViewedStore] = []
            for source in sources {
                let name = Self.name(source.title, besides: stores.map(\.name))
                stores.append(
                    try ViewedStore(
                        source.store, name: name, title: source.title, allowsChanges: options.allowsChanges))
            }
            let pages = PageServer(stores, version: version, allowsChanges: options.allowsChanges)
            server = try HTTPServer(port: options.port) { pages.answer($0) }
            let access = AccessGuard(port: server.port, programToken: options.programToken)
            pages.begin(access)
            self.pages = pages
            startURL = "http://127.0.0.1:\(server.port)\(access.startAddress)"
        #else
            throw StoreError(
                .unsupported,
                "This program was built without the page: build it with the trait Interactive, which needs libmicrohttpd."
            )
        #endif
    }

    /// Ends the server and cancels its work.
    package func stop() {
        #if Interactive
            pages.cancelAll()
            server.stop()
        #endif
    }

    /// Returns a unique name of a store for addresses, from the title before its first period.
    static func name(_ title: String, besides others: [String]) -> String {
        let base = title.split(separator: ".").first.map(String.init) ?? "store"
        let plain = base.filter { $0.isLetter || $0.isNumber || $0 == "_" }
        let stem = plain.isEmpty ? "store" : plain
        var (name, number) = (stem, 1)
        while others.contains(name) {
            number += 1
            name = "\(stem)-\(number)"
        }
        return name
    }
}
