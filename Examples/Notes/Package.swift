// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Notes",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Roost", path: "../..")],
    targets: [
        .target(
            name: "NotesModel", dependencies: [.product(name: "Roost", package: "Roost")],
            plugins: [.plugin(name: "RoostModelPlugin", package: "Roost")]),
        .executableTarget(name: "notes", dependencies: ["NotesModel", .product(name: "Roost", package: "Roost")]),
        .testTarget(
            name: "NotesTests", dependencies: ["NotesModel", .product(name: "Roost", package: "Roost")]),
    ]
)
