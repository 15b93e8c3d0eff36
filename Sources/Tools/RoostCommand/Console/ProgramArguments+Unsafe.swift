/// The command line as the system gives it.
enum ProgramArguments {
    /// Returns the arguments of the program, without its name.
    ///
    /// Swift's own list replaces bytes that are not UTF-8, and the replacement would be looked for,
    /// or stored.
    static func read() throws(UsageError) -> [String] {
        var arguments: [String] = []
        // SAFETY: the system gives `argc` pointers, which stay as long as the process.
        for (number, bytes) in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
            .enumerated()
        where number > 0 {
            guard let bytes, let argument = String(validatingCString: bytes) else {
                throw UsageError("argument \(number) is not UTF-8; write it in that encoding")
            }
            arguments.append(argument)
        }
        return arguments
    }
}
