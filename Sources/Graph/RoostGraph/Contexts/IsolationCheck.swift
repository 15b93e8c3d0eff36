internal import Foundation
internal import RoostSystem

/// A check that stops a program if it uses a context outside of its isolation.
///
/// For clients in language mode 6, the compiler proves the isolation. This check finds mistakes in
/// other clients, and in wrappers that disable the compiler's check. It is active in debug builds
/// of Roost, and in release builds with the environment variable `ROOST_CHECK_ISOLATION=1`.
///
/// The check covers fetches, inserts, deletes, saves, merges, the first change of an object and
/// reads of faults, but no other access to properties.
struct IsolationCheck {
    static let isActive: Bool = {
        #if DEBUG
            true
        #else
            ProcessInfo.processInfo.environment["ROOST_CHECK_ISOLATION"] == "1"
        #endif
    }()

    private enum Owner {
        /// The main actor, whose jobs on some platforms do not run on the main thread.
        case mainActor
        /// A thread, and its description for the error message.
        case thread(pthread_t, name: String)
    }

    private let owner: Owner

    private init(owner: Owner) { self.owner = owner }

    static var mainActor: IsolationCheck { IsolationCheck(owner: .mainActor) }

    static func currentThread(_ name: String) -> IsolationCheck {
        IsolationCheck(owner: .thread(pthread_self(), name: name))
    }

    /// Stops the program if the caller runs outside of the context's isolation.
    func check(_ context: String?) {
        switch owner {
        case .mainActor:
            MainActor.preconditionIsolated(Self.message(context, owner: "the main actor"))
        case .thread(let thread, let name):
            guard pthread_equal(pthread_self(), thread) == 0 else { return }
            let message = Self.message(context, owner: name)
            // An optimized build does not print the message of a failed precondition.
            FileHandle.standardError.write(Data("\(message)\n".utf8))
            preconditionFailure(message)
        }
    }

    private static func message(_ context: String?, owner: String) -> String {
        """
        The context '\(context ?? "without a name")' belongs to \(owner), and was used outside of it. \
        Pass an object's ID to another context, and fetch the object there. In language mode 6, the compiler \
        reports the place.
        """
    }
}
