#if Macros
    // A program that has its models in Swift imports this module alone.
    @_exported public import Roost
#endif
