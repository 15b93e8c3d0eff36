#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostPostgreSQL

    // A writer process, or a process that follows the commands of a check.
    if let writers = WriterProcess(arguments: CommandLine.arguments.dropFirst()) { exit(writers.run()) }
    exit(ConformancePeer.main([PostgreSQLStoreType()]))
#endif
