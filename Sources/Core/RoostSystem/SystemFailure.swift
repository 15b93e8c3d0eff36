/// A failed system call, for modules that do not depend on RoostCore.
///
/// RoostCore converts this error to a `StoreError` with the code of the same name.
package struct SystemFailure: Error, Hashable, Sendable {
    package enum Code: Sendable {
        /// The disk, or a quota, is full.
        case noSpace
        /// The system reported an input or output error.
        case ioFailure
        /// The system is out of threads, memory or handles.
        case outOfResources
    }

    package let code: Code
    /// The problem and its remedy, for people.
    package let message: String

    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }
}
