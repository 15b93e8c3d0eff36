#if Macros
    internal import RoostExpansion

    /// The program that the compiler runs to expand the macros of `RoostModels`.
    @main
    enum RoostMacros {
        static func main() {
            var conversation = PluginConversation()
            // The compiler closes the pipe after its last request.
            while let request = PluginPipe.read() {
                guard PluginPipe.write(conversation.reply(to: request)) else { return }
            }
        }
    }
#else
    /// A program that does nothing, for builds without the trait `Macros`.
    @main
    enum RoostMacros {
        static func main() {}
    }
#endif
