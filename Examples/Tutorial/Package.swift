// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Tutorial",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Roost", path: "../..")],
    targets: [
        .executableTarget(
            name: "Tutorial", dependencies: [.product(name: "Roost", package: "Roost")],
            plugins: [.plugin(name: "RoostModelPlugin", package: "Roost")])
    ]
)
