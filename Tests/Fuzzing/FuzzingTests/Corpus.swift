import Foundation
import FuzzProperties

/// The inputs that are kept: those that libFuzzer has found to reach different code, and those that once found a
/// bug. `Scripts/fuzz` begins with them.
enum Corpus {
  static func inputs(of property: FuzzProperty) throws -> [(name: String, bytes: [UInt8])] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(components: "Corpus", property.name)
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
      .map { (name: $0.lastPathComponent, bytes: [UInt8](try Data(contentsOf: $0))) }
  }
}
